"""Lines that wait for a worker: which go next, together, and when there is no more room.

There is no timer. A worker that is free takes what waits: the line that is due first, and with it
lines of the same lane of about its length. The longer a request, the later its lines are due, up to
some seconds, so that a word does not wait for a book, and the book is not forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mt.translation.translation import Translation

_SHORT = 300  # characters of a request that somebody waits for
_LONG = 3000  # characters of one that waits longest
_PATIENCE = 5.0  # seconds that others may overtake it
_FEW = 8  # lines that take about as long together as one
_PADDING = 8  # characters by which every line counts as longer: no line is free


class Lane(Protocol):
    """What translates lines together; lines of different lanes never meet."""

    @property
    def most_lines(self) -> int:
        """Lines of a batch."""
        ...

    @property
    def most_characters(self) -> int:
        """Characters of a batch, each line as long as the longest."""
        ...

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines, one for one."""
        ...


class Ticket:
    """The lines of one request, and what came of them."""

    def __init__(
        self, num_lines: int, done: Callable[[Sequence[Translation | None]], None]
    ) -> None:
        """`done` is called by a worker with all translations; None: it could not be made."""
        self._results: list[Translation | None] = [None] * num_lines
        self._num_missing = num_lines
        self._done = done

    def put(self, index: int, result: Translation | None) -> Callable[[], None] | None:
        """Keep a result; with the last one, gives what is to be called."""
        self._results[index] = result
        self._num_missing -= 1
        return None if self._num_missing else lambda: self._done(self._results)


@dataclass(frozen=True, kw_only=True, eq=False)
class WaitingLine:
    """One line of a request."""

    text: str
    lane: Lane
    ticket: Ticket
    index: int
    """Of the line in its request."""
    is_short: bool
    due: float
    number: int
    """In the order of arrival."""


@dataclass
class WaitingLines:
    """All lines that wait; whoever uses it from several threads holds a lock."""

    most_characters: int
    num_characters: int = 0
    _lines: dict[int, WaitingLine] = field(default_factory=dict)
    _count: int = 0

    def __len__(self) -> int:
        return len(self._lines)

    def has_room(self, texts: Sequence[str]) -> bool:
        """Whether texts may wait, too; where nothing waits, any may."""
        wanted = sum(map(len, texts)) + _PADDING * len(texts)
        return not self._lines or self.num_characters + wanted <= self.most_characters

    def add(
        self, lane: Lane, texts: Sequence[str], ticket: Ticket, *, now: float | None = None
    ) -> None:
        """Let the lines of a request wait."""
        size = sum(map(len, texts))
        due = time.monotonic() if now is None else now
        due += _PATIENCE * min(size / _LONG, 1.0)
        for index, text in enumerate(texts):
            self._count += 1
            self.num_characters += len(text) + _PADDING
            self._lines[self._count] = WaitingLine(
                text=text,
                lane=lane,
                ticket=ticket,
                index=index,
                is_short=size <= _SHORT,
                due=due,
                number=self._count,
            )

    def drop(self, ticket: Ticket) -> int:
        """Forget the lines of a request that still wait; gives their number."""
        numbers = [number for number, each in self._lines.items() if each.ticket is ticket]
        for number in numbers:
            self._remove(number)
        return len(numbers)

    def take(self) -> list[WaitingLine]:
        """The next batch, which waits no more; empty where nothing waits."""
        if not self._lines:
            return []
        first = min(self._lines.values(), key=lambda each: (each.due, each.number))
        alike = [each for each in self._lines.values() if each.lane is first.lane]
        most = first.lane.most_lines
        if first.is_short:
            short = [each for each in alike if each.is_short]
            if len(short) >= _FEW:
                alike = short
            else:
                most = min(most, _FEW)
        batch = _around(first, alike, most)
        for each in batch:
            self._remove(each.number)
        return batch

    def _remove(self, number: int) -> None:
        self.num_characters -= len(self._lines.pop(number).text) + _PADDING


def _around(first: WaitingLine, lines: Sequence[WaitingLine], most_lines: int) -> list[WaitingLine]:
    """The lines next to `first` by length, as many as the bounds of its lane allow.

    None is more than twice as long as another: it would take its own time.
    """
    by_length = sorted(lines, key=lambda each: (len(each.text), each.number))
    begin = by_length.index(first)
    end = begin + 1
    while end - begin < most_lines and (begin or end < len(by_length)):
        shorter = begin and (
            end == len(by_length)
            or len(first.text) - len(by_length[begin - 1].text)
            <= len(by_length[end].text) - len(first.text)
        )
        low, high = (begin - 1, end) if shorter else (begin, end + 1)
        shortest, longest = (len(by_length[i].text) + _PADDING for i in (low, high - 1))
        is_too_much = (high - low) * longest > first.lane.most_characters
        if is_too_much or longest > 2 * shortest:
            break
        begin, end = low, high
    return by_length[begin:end]
