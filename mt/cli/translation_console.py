"""What the console says while lines are translated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mt.errors import DataError

if TYPE_CHECKING:
    from mt.events import Event, LineRecased, LineSplit, LineTooLong, UnknownSymbols


class TranslationConsole:
    """Says what happens while lines are translated; of lines that are split, one warning in all."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._splits: list[LineSplit] = []
        self._first_recased: LineRecased | None = None
        self._num_recased = 0
        self._first_unknown: UnknownSymbols | None = None
        self._too_long: list[LineTooLong] = []
        self.num_unknown = 0
        self._num_lines_unknown = 0

    def __call__(self, event: Event) -> None:
        """Listen."""
        from mt.events import LineRecased, LineSplit, LineTooLong, Notice, UnknownSymbols

        if isinstance(event, LineSplit):
            self._splits.append(event)
        elif isinstance(event, LineRecased):
            self._num_recased += 1
            self._first_recased = self._first_recased or event
        elif isinstance(event, LineTooLong):
            self._too_long.append(event)
        elif isinstance(event, UnknownSymbols):
            self._first_unknown = self._first_unknown or event
            self.num_unknown += len(event.symbols)
            self._num_lines_unknown += 1
        elif isinstance(event, Notice):
            self._say(f"mt: warning: {event.text}" if event.is_warning else event.text)

    def tell_splits(self) -> None:
        """Warn of the lines that were split, if any was."""
        if not self._splits:
            return
        first = self._splits[0]
        lines = "1 line was" if len(self._splits) == 1 else f"{len(self._splits)} lines were"
        num_parts = sum(split.num_parts for split in self._splits)
        self._say(
            f"mt: warning: {lines} longer than the {first.max_tokens} tokens that the model is "
            f"good for, and translated in {num_parts} parts (the first: line {first.line})"
        )

    def refuse_too_long(self) -> None:
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

    def tell_recased(self) -> None:
        """Say how many lines were read in usual case, if any was."""
        if self._first_recased is not None:
            lines = "1 line" if self._num_recased == 1 else f"{self._num_recased} lines"
            self._say(
                f"mt: {lines} in capitals or without any read in usual case (the first: line "
                f"{self._first_recased.line}); --keep-case reads them as they are"
            )

    def tell_unknown(self) -> None:
        """Warn of symbols that the model does not know, if there were any."""
        first = self._first_unknown
        if first is not None:
            symbols = "1 symbol is" if self.num_unknown == 1 else f"{self.num_unknown} symbols are"
            lines = "1 line" if self._num_lines_unknown == 1 else f"{self._num_lines_unknown} lines"
            self._say(
                f"mt: warning: {symbols} unknown to the model, in {lines} "
                f"(the first: {first.symbols[0]!r}, line {first.line})"
            )
