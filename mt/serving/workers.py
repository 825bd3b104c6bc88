"""Threads that translate what waits, and the bounded queue before them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence

from mt.serving.metrics import Metrics
from mt.serving.waiting import Lane, Ticket, WaitingLine, WaitingLines
from mt.translation.translation import Translation

_LONGEST_WAIT = 60  # seconds that a client is told to wait at most
_FIRST_GUESS = 2000.0  # characters a second, before anything was translated
_WEIGHT_OF_LAST = 0.2


class QueueFullError(Exception):
    """No more lines may wait; `retry_after` is in how many seconds there will be room."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class Workers:
    """Translates lines in the background; nothing of what it is given is kept or logged."""

    def __init__(
        self,
        num_workers: int,
        *,
        most_waiting: int,
        metrics: Metrics,
        report: Callable[[BaseException], None],
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        """Start so many threads, each of which first calls `prepare`.

        `report` hears of an error that no line should cause.
        """
        self._waiting = WaitingLines(most_characters=most_waiting)
        self._changed = threading.Condition()
        self._is_closed = False
        self._characters_a_second = _FIRST_GUESS
        self._metrics = metrics
        self._report = report
        self._prepare = prepare
        metrics.watch_queue(lambda: len(self._waiting), lambda: self._waiting.num_characters)
        self._threads = [
            threading.Thread(target=self._work, name=f"translate-{number}", daemon=True)
            for number in range(num_workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def has_room(self) -> bool:
        """Whether a word more could wait."""
        with self._changed:
            return not self._is_closed and self._waiting.has_room([""])

    def submit(
        self,
        lane: Lane,
        lines: Sequence[str],
        done: Callable[[Sequence[Translation | None]], None],
    ) -> Ticket:
        """Let lines be translated; a worker calls `done` with all of them, None for a failure.

        Raises QueueFullError where too much waits.
        """
        ticket = Ticket(len(lines), done)
        with self._changed:
            if self._is_closed or not self._waiting.has_room(lines):
                raise QueueFullError(self._wait())
            self._waiting.add(lane, lines, ticket)
            self._changed.notify(len(lines))
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Forget what still waits of a request that nobody asks for any more."""
        with self._changed:
            self._metrics.dropped(self._waiting.drop(ticket))

    def close(self, seconds: float) -> bool:
        """Take no more, and wait so long for what is being translated; gives whether it is done."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads)

    def _wait(self) -> int:
        """Seconds until what waits is done, as fast as it went lately."""
        seconds = self._waiting.num_characters / self._characters_a_second
        return max(1, min(math.ceil(seconds), _LONGEST_WAIT))

    def _work(self) -> None:
        self._prepare()
        while batch := self._next():
            began = time.monotonic()
            results = self._translated(batch)
            seconds = max(time.monotonic() - began, 1e-6)
            self._metrics.translated(len(batch), seconds)
            rate = len(self._threads) * sum(len(each.text) for each in batch) / seconds
            with self._changed:
                self._characters_a_second += _WEIGHT_OF_LAST * (rate - self._characters_a_second)
                calls = [
                    each.ticket.put(each.index, result)
                    for each, result in zip(batch, results, strict=True)
                ]
            for call in calls:
                if call is not None:
                    call()

    def _next(self) -> list[WaitingLine]:
        """The next batch, when there is one; empty when there will be none."""
        with self._changed:
            while not self._is_closed and not len(self._waiting):
                self._changed.wait()
            return self._waiting.take()

    def _translated(self, batch: Sequence[WaitingLine]) -> list[Translation | None]:
        """Translate a batch; where that fails, each line by itself: one spoils no other."""
        lane = batch[0].lane
        try:
            return [*lane.translate([each.text for each in batch])]
        except BaseException as error:
            if len(batch) > 1:
                return [result for each in batch for result in self._translated([each])]
            self._metrics.failed()
            self._report(error)
            return [None]
