"""Invisible marks: which of them a script needs, by the characters around them.

docs/data.md has the table. Marks that order or break lines on a screen say nothing of what a text
means, yet to a model they are tokens that it hardly knows: a soft hyphen in a word, or a mark of
direction before a line, gave another translation. Others are letters in all but ink: without its
joiners a word of Persian, Malayalam or Sinhala is another one.
"""

from __future__ import annotations

import re
import unicodedata

from mt.scripts import SPACED_BY_PHRASE

_NO_MEANING = (
    "\u00ad"  # soft hyphen
    "\u034f"  # combining grapheme joiner
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction
    "\u17b4\u17b5"  # vowels of Khmer that are inherent, and deprecated
    "\u2060-\u2065\ufeff"  # word joiner, invisible operators, byte-order mark
    "\ufff9-\ufffb"  # interlinear annotation
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand, music
    "\U000e0000-\U000e001f\U000e0080-\U000e01ef"  # language tags, variants of Han
)
_TAGS = "\U000e0020-\U000e007f"
_ANY = re.compile(f"[{_NO_MEANING}{_TAGS}\u180b-\u180f\u200b-\u200d\ufe00-\ufe0f]")
_MEANINGLESS = re.compile(f"[{_NO_MEANING}]+")
# Tags spell the flag of a part of a country behind a black flag.
_STRAY_TAGS = re.compile(f"(?<![\U0001f3f4{_TAGS}])[{_TAGS}]+")
_SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f]+")
_ZERO_WIDTH = re.compile("[\u200b-\u200d]+")

# Scripts whose letters join (Arabic and its kin) or form conjuncts (those from Brahmi).
_JOINING = re.compile(
    "[\u0600-\u07ff\u0840-\u0dff\u0f00-\u109f\u1780-\u18af\u1900-\u1cff\ua840-\ua8ff\ua980-\uaa7f"
    "\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010ac0-\U00010aff\U00010b80-\U00010baf"
    "\U00010d00-\U00010d3f\U00010f30-\U00010f6f\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
# Scripts without spaces, whose words a zero-width space may part.
_UNSPACED = re.compile(f"[{SPACED_BY_PHRASE}\uaa00-\uaa5f]")  # the last is Cham
_MONGOLIAN = re.compile("[\u1820-\u18aa\U00011660-\U0001167f]")
_HEH = "\u0647"  # with a joiner it abbreviates "Hijri"
_KEYCAP = "\u20e3"
_EMOJI_MARKS = "\u203c\u2049\u3030\u303d"  # what is shown as a picture, and is no symbol


def without_invisible(text: str) -> str:
    """`text` without the invisible marks that say nothing, in NFC where there were any."""
    if not _ANY.search(text):
        return text
    text = unicodedata.normalize("NFC", _STRAY_TAGS.sub("", _MEANINGLESS.sub("", text)))
    return _ZERO_WIDTH.sub(_zero_width, _SELECTORS.sub(_selectors, text))


def is_invisible(character: str) -> bool:
    """Whether a character may go, or is seen only in its neighbours."""
    return _ANY.fullmatch(character) is not None


def _selectors(match: re.Match[str]) -> str:
    """What stays of selectors of a variant: one, where the character before it has variants."""
    before, behind = _around(match)
    first = match[0][0]
    if first <= "\u180f":
        return first if _MONGOLIAN.match(before) else ""
    if first not in "\ufe0e\ufe0f":  # other variants mean the same
        return ""
    return first if _is_symbol(before) or behind == _KEYCAP else ""


def _zero_width(match: re.Match[str]) -> str:
    """What stays of zero-width spaces and joiners: one, where a script needs it."""
    before, behind = _around(match)
    if "\u200b" in match[0]:
        needed = _UNSPACED.match(before) and _UNSPACED.match(behind)
        return "\u200b" if needed else ""
    first = match[0][0]
    if unicodedata.combining(before or " ") == 9:  # a virama: half forms, and old chillus
        return first
    if first == "\u200d" and (before == _HEH or (_is_symbol(before) and _is_symbol(behind))):
        return first
    joins = _JOINING.match(before) or _JOINING.match(behind)
    return first if joins and _is_of_word(before) and _is_of_word(behind) else ""


def _around(match: re.Match[str]) -> tuple[str, str]:
    """The characters before and behind, or nothing at an end."""
    text, (start, end) = match.string, match.span()
    return text[max(start - 1, 0) : start], text[end : end + 1]


def _is_symbol(character: str) -> bool:
    """Whether it may be part of an emoji; the selector of one among them."""
    if not character:
        return False
    is_picture = unicodedata.category(character) in ("So", "Sk", "Sm")
    return is_picture or character == "\ufe0f" or character in _EMOJI_MARKS


def _is_of_word(character: str) -> bool:
    """Whether it is a letter, a mark on one, or a digit."""
    return bool(character) and unicodedata.category(character)[0] in "LMN"
