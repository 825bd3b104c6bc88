"""Signals that end a command: the first unwinds it, a second one ends it at once.

Either way no temporary file stays behind.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is unknown to Windows


class EndedBySignal(KeyboardInterrupt):
    """A signal ends the command; its text, if it has one, says how far that got."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def status_of(interruption: KeyboardInterrupt) -> int:
    """The exit status: 128 and the number of the signal, as shells count."""
    return 128 + getattr(interruption, "number", int(signal.SIGINT))


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within, SIGINT, SIGTERM and SIGHUP raise, and a second one ends the process.

    A signal that is ignored, as SIGHUP under `nohup`, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    handler = _Handler()
    for number in numbers:
        if before[number] in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, handler)
    try:
        yield
    finally:
        remove_left()
        for number, old in before.items():
            signal.signal(number, old)


def remove_left() -> None:
    """Take away temporary files that were not taken away yet."""
    if "mt.files" in sys.modules:
        from mt.files import remove_temporaries

        remove_temporaries()


class _Handler:
    def __init__(self) -> None:
        self._is_first = True

    def __call__(self, number: int, frame: FrameType | None) -> NoReturn:
        if self._is_first:
            self._is_first = False
            raise EndedBySignal(number)
        remove_left()
        os._exit(128 + number)
