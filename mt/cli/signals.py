"""Ctrl-C, SIGTERM and SIGHUP as a request to finish."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
_STDERR = 2


class StopSignal:
    """Turns the first such signal into a request, and lets a second one through."""

    def __init__(self, acknowledgement: str = "") -> None:
        """The first signal writes the line `acknowledgement` at once."""
        self.received: int | None = None
        self._acknowledgement = acknowledgement
        self._before: dict[int, Any] = {}

    @contextmanager
    def installed(self, *, is_silent: bool = False) -> Iterator[None]:
        """Listen within; `is_silent` where another process of the run acknowledges."""
        if is_silent:
            self._acknowledgement = ""
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        for number in numbers:
            before = signal.getsignal(number)
            if number != signal.SIGINT and before == signal.SIG_IGN:
                continue  # nohup: the run is to outlive its terminal
            self._before[number] = signal.signal(number, self._receive)
        try:
            yield
        finally:
            self._restore()

    def _restore(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        self._restore()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._acknowledgement:  # a buffered stream may be in the middle of a write
            os.write(_STDERR, f"{self._acknowledgement}\n".encode())
