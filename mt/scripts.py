"""Scripts that put no spaces between words, as ranges of characters for a class of `re`.

A script is here whatever its language; what a language does is in `mt.languages`.
"""

from __future__ import annotations

import re

CHINESE_AND_JAPANESE = (
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00016fe2-\U00016ff6\U00020000-\U00033fff"  # Han
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357"
    "\uff66-\uff6f\uff71-\uff9d\U0001aff0-\U0001b16f\U0001f200"  # kana
    "\u02ea\u02eb\u3105-\u312f\u31a0-\u31bf\ua000-\ua4cf"  # Bopomofo, Yi
)
"""Not even sentences have spaces between them."""

SPACED_BY_PHRASE = (
    "\u0e00-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese; Khmer
    "\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f"  # Tai Le, New Tai Lue, Tai Tham, Balinese
    "\ua980-\ua9ff\uaa60-\uaa7f\U000116d0-\U000116e3"  # Javanese, more Burmese
)
"""Spaces part phrases, and a zero-width space may part words."""

WITHOUT_SPACES = CHINESE_AND_JAPANESE + SPACED_BY_PHRASE

_WITHOUT_SPACES = re.compile(f"[{WITHOUT_SPACES}]")


def is_written_without_spaces(character: str) -> bool:
    """Whether a character is of a script that puts no spaces between words."""
    return _WITHOUT_SPACES.fullmatch(character) is not None
