"""What is usual in a corpus, and what is not: in script, in language, in proportion."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

LEAST_RATIO_LENGTH = 40  # characters of the longer side, below which no proportion is far
L = TypeVar("L")
"""How a location is given: in words, or by a row."""

_SAMPLE = 500  # texts or pairs by which the usual is settled
_LEAST_SHARE = 0.6  # of them, for a label to be usual


class Usual(Generic[L]):
    """Settles the usual label of a side by its first texts, then finds the texts that differ."""

    def __init__(self, label: Callable[[str], str]) -> None:
        """`label` names the script or language of a text, or gives "" where it does not know."""
        self._label = label
        self._waiting: list[tuple[str, L, str]] = []
        self._is_settled = False
        self.usual = ""
        """The label of most of the first texts; empty before `settle` and where none is usual."""

    def add(self, location: L, text: str) -> Iterator[tuple[L, str]]:
        """Take a text; gives the locations and texts now known to differ."""
        label = self._label(text)
        if not label:
            return
        if not self._is_settled:
            self._waiting.append((label, location, text))
            if len(self._waiting) == _SAMPLE:
                yield from self.settle()
        elif self.usual and label != self.usual:
            yield location, text

    def settle(self) -> Iterator[tuple[L, str]]:
        """Settle what is usual by what came so far; gives what differs from it."""
        self._is_settled = True
        counts = Counter(label for label, _, _ in self._waiting)
        if counts:
            label, count = counts.most_common(1)[0]
            self.usual = label if count >= _LEAST_SHARE * counts.total() else ""
        for label, location, text in self._waiting:
            if self.usual and label != self.usual:
                yield location, text
        self._waiting = []


class UsualProportion(Generic[L]):
    """Settles how long targets are beside their sources, then finds the pairs that are far off.

    Japanese has a third of the characters of English, so that no fixed bound fits all languages.
    """

    def __init__(self, *, factor: float, least_length: int) -> None:
        """Far off is `factor` times the usual proportion, with a side of `least_length` or more."""
        self._far = math.log(factor)
        self._least_length = least_length
        self._waiting: list[tuple[L, str, str]] = []
        self._usual: float | None = None

    def add(self, location: L, source: str, target: str) -> Iterator[tuple[L, str]]:
        """Take a pair; gives the locations and texts of pairs now known to be far off."""
        if self._usual is None:
            self._waiting.append((location, source, target))
            if len(self._waiting) == _SAMPLE:
                yield from self.settle()
        elif self._is_far(source, target, self._usual):
            yield location, f"{source} | {target}"

    def settle(self) -> Iterator[tuple[L, str]]:
        """Settle the usual proportion by what came so far; gives what is far from it."""
        if self._waiting:
            self._usual = statistics.median(_log_ratio(s, t) for _, s, t in self._waiting)
            for location, source, target in self._waiting:
                if self._is_far(source, target, self._usual):
                    yield location, f"{source} | {target}"
        self._waiting = []

    def _is_far(self, source: str, target: str, usual: float) -> bool:
        if max(len(source), len(target)) < self._least_length:
            return False
        return abs(_log_ratio(source, target) - usual) > self._far


def _log_ratio(source: str, target: str) -> float:
    return math.log((len(target) + 1) / (len(source) + 1))
