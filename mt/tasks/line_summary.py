"""What is worth knowing of translated lines, summed up in a line for each kind."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mt.errors import DataError, ModelFolderError
from mt.events import (
    Event,
    LineRecased,
    LineSplit,
    LineTooLong,
    Listener,
    Notice,
    UnknownSymbols,
)
from mt.numerals import numbers_differ
from mt.text.normalise import is_blank
from mt.translation.translation import Translation

_EMPTY = "empty, of text that is not"
_IMPOSSIBLE = "that the model holds for impossible"
_NUMBERS = "with other numbers than in the source"
_NUM_TERMS_SHOWN = 5


class LineSummary:
    """Listens while lines are read, counts, and reports the counts at the end.

    Notices are passed on at once.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._splits: list[LineSplit] = []
        self._recased: list[int] = []
        self._unknown: list[UnknownSymbols] = []
        self._too_long: list[LineTooLong] = []

    @property
    def num_unknown(self) -> int:
        """Symbols that the model does not know."""
        return sum(len(event.symbols) for event in self._unknown)

    def __call__(self, event: Event) -> None:
        """Count one event."""
        match event:
            case LineSplit():
                self._splits.append(event)
            case LineRecased():
                self._recased.append(event.line)
            case LineTooLong():
                self._too_long.append(event)
            case UnknownSymbols():
                self._unknown.append(event)
            case Notice():
                self._listener(event)

    def report(self) -> None:
        """Report how many lines were split, read in usual case, and held unknown symbols."""
        if self._splits:
            first = self._splits[0]
            num_parts = sum(split.num_parts for split in self._splits)
            self._warn(
                f"{_counted(len(self._splits), 'line was', 'lines were')} longer than the "
                f"{first.max_tokens} tokens that the model is good for, and translated in "
                f"{num_parts} parts (the first: line {first.line})"
            )
        if self._recased:
            text = (
                f"{_counted(len(self._recased), 'line', 'lines')} in capitals or without any read "
                f"in usual case (the first: line {self._recased[0]}); --keep-case reads them as "
                "they are"
            )
            self._listener(Notice(text=text))
        if self._unknown:
            event = self._unknown[0]
            self._warn(
                f"{_counted(self.num_unknown, 'symbol is', 'symbols are')} unknown to the model, "
                f"in {_counted(len(self._unknown), 'line', 'lines')} "
                f"(the first: {event.symbols[0]!r}, line {event.line})"
            )

    def require_all_done(self) -> None:
        """Raise DataError, after all lines are done, if there were some that could not be."""
        if self._too_long:
            first = self._too_long[0]
            more = f", and {len(self._too_long) - 1} more" if len(self._too_long) > 1 else ""
            raise DataError(
                f"line {first.line}{more}: {first.num_tokens:,} tokens are more than the "
                f"{first.max_tokens:,} that can be computed together; it has no result, all other "
                "lines have theirs",
                hint="Split it into sentences",
            )

    def _warn(self, text: str) -> None:
        self._listener(Notice(text=text, is_warning=True))


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
                continue  # which is reported by itself
            best = each.hypotheses[0]
            self.add_pair(each.source, best.text, score=best.score)

    def add_pair(self, source: str, text: str, *, score: float = 0.0) -> None:
        """Count the next line and its translation."""
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

    def report(self, listener: Listener) -> None:
        """Warn, in a line for each kind, how many there were and where the first."""
        for kind in (_IMPOSSIBLE, _EMPTY, _NUMBERS):
            count, first = self._counts.get(kind, (0, 0))
            if count:
                what = _counted(count, "translation", "translations")
                text = f"{what} {kind} (the first: line {first})"
                listener(Notice(text=text, is_warning=True))

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


class TermCounts:
    """Counts the terms that best translations honour."""

    def __init__(self) -> None:
        self._num_lines = 0
        self._num_asked = 0
        self._missed: list[tuple[int, str]] = []

    def add(self, translations: Iterable[Translation]) -> None:
        """Count those of the next lines."""
        for number, each in enumerate(translations, start=self._num_lines + 1):
            self._num_asked += len(each.terms or ())
            best = each.hypotheses[0].terms_missed if each.hypotheses else each.terms or ()
            self._missed += [(number, term.source) for term in best]
            self._num_lines = number

    def __str__(self) -> str:
        """One line: how many of how many are honoured, and where not."""
        asked, num_missed = self._num_asked, len(self._missed)
        if not asked:
            return "terms: no line holds any"
        honoured = asked - num_missed
        text = f"terms: {honoured} of {asked} honoured ({100 * honoured / asked:.1f} %)"
        if not num_missed:
            return text
        shown = ", ".join(f'line {line} "{term}"' for line, term in self._missed[:_NUM_TERMS_SHOWN])
        hidden = num_missed - _NUM_TERMS_SHOWN
        more = f" and {hidden} more" if hidden > 0 else ""
        return f"{text}, {num_missed} not: {shown}{more}"


def _counted(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number} {many}"
