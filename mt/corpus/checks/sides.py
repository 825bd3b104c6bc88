"""What can be wrong with the text of one side, by itself."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache

_SEPARATOR = re.compile("[\u2028\u2029\x85\x0b\x0c\x1c-\x1e]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
# UTF-8 that was read as Windows-1252 or Latin-1, and written as UTF-8 again.
_MOJIBAKE = re.compile(
    "[ÂÃ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€|ï»¿|[ÐÑ][\x80-\xbf‚„…†‡‰‹‘’“”•–—™›]"
)
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,200}>|&(?:[a-z]{2,8}|#\d{2,6}|#x[0-9a-f]{2,6});")
_SERIAL = re.compile(r"\s*\(?\d{1,8}\s?[-–.):\]\t]+\s*\S")

Check = tuple[str, Callable[[str], object]]
"""The id of a kind, and the test of a text."""

ODD_CHARACTERS: tuple[Check, ...] = (
    ("nul", lambda text: "\0" in text),
    ("separator", _SEPARATOR.search),
    ("carriage_return", lambda text: "\r" in text),
    ("control", _CONTROL.search),
    ("bom", lambda text: "\ufeff" in text),
    ("replacement", lambda text: "\ufffd" in text),
    ("not_nfc", lambda text: not unicodedata.is_normalized("NFC", text)),
    ("mojibake", _MOJIBAKE.search),
)
"""Tests that no printable ASCII text can meet."""

ANY_TEXT: tuple[Check, ...] = (("markup", _MARKUP.search),)

TEXT_CHECKS = (*ODD_CHARACTERS, *ANY_TEXT)
"""Every test of the text of one side."""


def has_serial_number(text: str) -> bool:
    """Whether a line begins with a number and a mark after it, as in a list."""
    return _SERIAL.match(text) is not None


@cache
def script_of(character: str) -> str:
    """The script of a letter by the first word of its Unicode name; empty for anything else.

    Chinese characters and the Japanese syllabaries count as one.
    """
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "").split(" ")[0].split("-")[0]
    return "CJK" if name in ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "FULLWIDTH") else name


def main_script(text: str) -> str:
    """The script of most letters of `text`; empty when there are fewer than five."""
    if text.isascii():
        return "LATIN" if sum(map(str.isalpha, text)) >= _LEAST_LETTERS else ""
    counts = Counter(script for script in map(script_of, text) if script)
    return counts.most_common(1)[0][0] if counts.total() >= _LEAST_LETTERS else ""


_LEAST_LETTERS = 5
