"""Signs that a translation may be wrong, only by its text: hints to look, and no verdicts.

Bounds were chosen on references of public test sets, few of which are to be flagged
(docs/translating.md has the counts).
"""

from __future__ import annotations

import math
import operator
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal
from unicodedata import category

from mt.numerals import numbers_differ
from mt.text.normalise import is_blank, normalise

Flag = Literal[
    "empty", "repetition", "copied_source", "unusual_length", "numbers_differ", "truncated"
]

_LONGEST_LOOP = 8  # words that come again and again together
_LEAST_REPEATS = 4  # of one word; a longer loop needs one less
_LONGEST_CHARACTER_LOOP = 20
_LEAST_CHARACTERS = 24  # that a loop of characters covers
_LEAST_COPIED_WORDS = 4  # fewer may be a name
_LEAST_COPIED_LETTERS = 10  # of a text without spaces
_LEAST_COPIED_SHARE = 0.8
_LENGTH_FACTOR = 2.5  # times the usual proportion
_LENGTH_OFFSET = 10  # characters added to both sides, so that short texts may differ
_WORD = re.compile(r"[^\W\d_]{2,}")


def flags_of(
    source: str, text: str, *, hit_limit: bool = False, usual: float = 0.0
) -> tuple[Flag, ...]:
    """What is conspicuous about `text` as a translation of `source`.

    `hit_limit`: search ended it at the length bound. `usual` is the `log_proportion` of most pairs.
    A blank text is empty and of unusual length at most, that of a blank source only the latter.
    """
    source, text = normalise(source), normalise(text)
    found: list[Flag] = []
    if is_empty(source, text):
        found.append("empty")
    if is_repetitive(source, text):
        found.append("repetition")
    if is_copy(source, text):
        found.append("copied_source")
    if abs(log_proportion(source, text) - usual) > math.log(_LENGTH_FACTOR):
        found.append("unusual_length")
    if text and numbers_differ(source, text):
        found.append("numbers_differ")
    if hit_limit:
        found.append("truncated")
    return tuple(found)


def is_empty(source: str, text: str) -> bool:
    """Whether nothing can be seen of the translation of a source with text."""
    return is_blank(text) and not is_blank(source)


def usual_proportion(pairs: Iterable[tuple[str, str]]) -> float:
    """The median `log_proportion` of pairs with text on both sides; 0 where there are none."""
    sides = ((normalise(source), normalise(target)) for source, target in pairs)
    found = [log_proportion(source, target) for source, target in sides if source and target]
    return statistics.median(found) if found else 0.0


def log_proportion(source: str, text: str) -> float:
    """log((t + 10) / (s + 10)) for s characters of the source and t of the translation."""
    return math.log((len(text) + _LENGTH_OFFSET) / (len(source) + _LENGTH_OFFSET))


def is_repetitive(source: str, text: str) -> bool:
    """Whether words or characters of `text` come again and again, and not so in `source`.

    A loop is a word four times in a row, two to eight words together three times, or up to twenty
    characters together three times and over 24 characters. Punctuation between words is passed
    over.
    """
    return _has_loop(text) and not _has_loop(source)


def is_copy(source: str, text: str) -> bool:
    """Whether four letters of `text` in five are in words of `source`, case aside.

    Words are two letters and more. With fewer than four of them a text may be names: then it counts
    as a copy only where it is the source, of ten letters or more without a space.
    """
    theirs, ours = (Counter(_WORD.findall(side.casefold())) for side in (source, text))
    letters = sum(character.isalpha() for character in text)
    if ours.total() < _LEAST_COPIED_WORDS:
        is_long = " " not in text and letters >= _LEAST_COPIED_LETTERS
        return is_long and source.casefold() == text.casefold()
    copied = sum(len(word) * count for word, count in (ours & theirs).items())
    return copied >= _LEAST_COPIED_SHARE * letters


def _has_loop(text: str) -> bool:
    words = "".join(" " if category(c).startswith("P") else c for c in text.casefold()).split()
    for period in range(1, min(_LONGEST_LOOP, len(words) // 3) + 1):
        repeats = _LEAST_REPEATS if period == 1 else _LEAST_REPEATS - 1
        if _longest_match(words, period) >= (repeats - 1) * period:
            return True
    for period in range(1, min(_LONGEST_CHARACTER_LOOP, len(text) // 3) + 1):
        covered = max(_LEAST_CHARACTERS, 3 * period)
        if _longest_match(text, period) + period >= covered:
            return True
    return False


def _longest_match(items: Sequence[str], period: int) -> int:
    """The most items in a row that equal the item `period` positions before them."""
    is_same = bytes(map(operator.eq, items, items[period:]))  # a byte of 0 or 1 each
    return max(map(len, is_same.split(b"\0")))
