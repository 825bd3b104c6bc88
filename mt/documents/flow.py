"""A translation shared out again over the units that its sentence went on through."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mt.documents.words import Span, word_spans

_AFTER_MARK = 0.85  # of its distance counts for a place behind a comma and the like
_MARKS = frozenset(",;:.!?…、，。；：！？،؛؟")


def share_out(
    text: str, sizes: Sequence[int], *, unbroken: Sequence[Span] = ()
) -> list[Span] | None:
    """Where the shares of a text stand, in proportion to `sizes`, from word to word.

    White space between shares is in none. `unbroken` stretches stay in one share. None where a
    share would be empty.
    """
    if len(sizes) == 1:
        return [(0, len(text))]
    words = [
        (start, end)
        for start, end in word_spans(text)
        if not any(first < start < last for first, last in unbroken)
    ]
    # A share begins at a word that the sign before it does not belong to.
    places = [start for (_, end), (start, _) in pairwise(words) if _may_begin(text, end, start)]
    if len(places) < len(sizes) - 1:
        return None
    starts = [0]
    total = sum(sizes) or 1
    passed = first = 0
    for number, size in enumerate(sizes[:-1], start=1):
        passed += size
        ideal = passed / total * len(text)
        last = len(places) - (len(sizes) - 1 - number)
        best = min(range(first, last), key=lambda i: _distance(text, places[i], ideal))
        starts.append(places[best])
        first = best + 1
    ends = [*starts[1:], len(text)]
    return [
        (start, start + len(text[start:end].rstrip()))
        for start, end in zip(starts, ends, strict=True)
    ]


def _may_begin(text: str, end: int, start: int) -> bool:
    """Whether a share may begin at `start`, the word before it ending at `end`."""
    if start > end:
        return True
    before, behind = text[end - 1], text[start]
    return behind.isalnum() and not (before.isascii() and behind.isascii())


def _distance(text: str, place: int, ideal: float) -> float:
    is_behind_mark = text[:place].rstrip()[-1:] in _MARKS
    return abs(place - ideal) * (_AFTER_MARK if is_behind_mark else 1.0)
