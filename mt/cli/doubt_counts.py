"""What is said on standard error of translations that cannot be right, by their text alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mt.errors import ModelFolderError

if TYPE_CHECKING:
    from mt.translation.translation import Translation

_EMPTY = "empty, of text that is not"
_IMPOSSIBLE = "that the model holds for impossible"
_NUMBERS = "with other numbers than in the source"


class DoubtCounts:
    """Counts empty and impossible translations, and those whose numbers differ."""

    def __init__(self, *, of_symbols: bool = False, are_given: bool = False) -> None:
        """Of symbols, numbers are not looked at; of texts that `are_given`, nothing else is."""
        self._of_symbols = of_symbols
        self._are_given = are_given
        self._counts: dict[str, tuple[int, int]] = {}  # how many, and the first line
        self._num_lines = 0
        self._num_with_text = 0

    def add(self, translations: Iterable[Translation]) -> None:
        """Count those of the next lines, by the best translation of each."""
        for each in translations:
            if each.error is not None:
                continue  # which is told by itself
            best = each.hypotheses[0]
            self.add_pair(each.source, best.text, score=best.score)

    def add_pair(self, source: str, text: str, *, score: float = 0.0) -> None:
        """Count the next line and its translation."""
        from mt.numerals import numbers_differ
        from mt.text.normalise import is_blank

        self._num_lines += 1
        if is_blank(source):
            return
        self._num_with_text += 1
        if is_blank(text):
            if not self._are_given:
                self._count(_EMPTY)
        elif not self._of_symbols and numbers_differ(source, text):
            self._count(_NUMBERS)
        if score == -math.inf:
            self._count(_IMPOSSIBLE)

    def tell(self, say: Callable[[str], None]) -> None:
        """Say, in a line for each kind, how many there were and where the first."""
        for kind in (_IMPOSSIBLE, _EMPTY, _NUMBERS):
            count, first = self._counts.get(kind, (0, 0))
            if count:
                what = "1 translation" if count == 1 else f"{count} translations"
                say(f"mt: warning: {what} {kind} (the first: line {first})")

    def require_any_text(self, model: object) -> None:
        """Raise ModelFolderError where every line with text has an empty translation."""
        num_empty, _ = self._counts.get(_EMPTY, (0, 0))
        if num_empty and num_empty == self._num_with_text:
            lines = "the only line" if num_empty == 1 else f"all {num_empty} lines"
            raise ModelFolderError(
                f"{model} translates {lines} with text by nothing",
                hint="Its training went wrong or has hardly begun, or its files are damaged",
            )

    def _count(self, kind: str) -> None:
        count, first = self._counts.get(kind, (0, self._num_lines))
        self._counts[kind] = count + 1, first
