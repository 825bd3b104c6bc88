"""Words as codes see them: what no code may stand inside.

A word is a run of letters, digits and the marks on them, with an apostrophe between letters and a
point between digits; any other character is one by itself, and so is each of a script without
spaces. White space is in none. Normalising a text does not change how many words it has.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from mt.text.boundaries import is_of_word
from mt.text.invisible import is_invisible
from mt.text.normalise import is_separator

Span = tuple[int, int]
"""Where something begins and ends in a text, in characters."""

_BETWEEN_LETTERS = "'’"
_BETWEEN_DIGITS = ".,:"
_JOINER = "\u200d"


# What most text in Latin, Greek and Cyrillic letters consists of, and its words: 20 times as fast.
_PLAIN = re.compile(
    "[\t\n\x20-\x7e\xa0-\xac\xae-\xb1\xb4-\xb8\xba\xbb\xbf-\u024f"
    "\u0384-\u0482\u048a-\u052f\u2010-\u2015\u2018-\u201f\u2026\u20ac]*"
)
_WORD = re.compile(r"\w+(?:(?:(?<=[^\W\d_])['’](?=[^\W\d_])|(?<=\d)[.,:](?=\d))\w+)*|[^\w\s]")


@lru_cache(maxsize=1 << 13)
def word_spans(text: str) -> tuple[Span, ...]:
    """Where the words of a text stand, in order."""
    if _PLAIN.fullmatch(text):
        return tuple(match.span() for match in _WORD.finditer(text))
    return tuple(_any_word_spans(text))


def _any_word_spans(text: str) -> list[Span]:
    """`word_spans` of any script."""
    spans: list[Span] = []
    start = -1  # of the word that may go on
    for offset, character in enumerate(text):
        if is_separator(character):
            start = _closed(spans, start, offset)
        elif start < 0:
            start = -1 if is_invisible(character) else offset
        elif not _goes_on(text, offset):
            _closed(spans, start, offset)
            start = offset
    _closed(spans, start, len(text))
    return spans


def is_content(text: str) -> bool:
    """Whether a word says something: it holds a letter or a digit."""
    return any(character.isalnum() for character in text)


def has_letters(text: str) -> bool:
    """Whether there is anything to translate."""
    return any(character.isalpha() for character in text)


def _closed(spans: list[Span], start: int, end: int) -> int:
    if start >= 0:
        spans.append((start, end))
    return -1


def _goes_on(text: str, offset: int) -> bool:
    """Whether the character at `offset` belongs to the word of the one before it."""
    before, character = text[offset - 1], text[offset]
    if unicodedata.category(character)[0] == "M" or is_invisible(character) or before == _JOINER:
        return True
    behind = text[offset + 1 : offset + 2]
    if character in _BETWEEN_LETTERS or character in _BETWEEN_DIGITS:
        return _binds(before, character, behind)
    if before in _BETWEEN_LETTERS or before in _BETWEEN_DIGITS:
        return offset > 1 and _binds(text[offset - 2], before, character)
    last = offset - 1
    while last > 0 and is_invisible(text[last]):
        last -= 1
    before = text[last]
    return is_of_word(before) and is_of_word(character)


def _binds(before: str, sign: str, behind: str) -> bool:
    """Whether a sign stands inside a word: an apostrophe between letters, a point in a number."""
    if not behind:
        return False
    if sign in _BETWEEN_LETTERS:
        return before.isalpha() and behind.isalpha() and is_of_word(before) and is_of_word(behind)
    return before.isdecimal() and behind.isdecimal()
