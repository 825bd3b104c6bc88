"""Signals that end a command: the first unwinds it, a second one ends it at once.

Either way no temporary file stays behind.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_PATIENCE = 0.2  # seconds in which the main thread hears of a signal by itself
_END = b"\0"  # no signal has this number
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
        with _heard_at_once(handler):
            yield
    finally:
        remove_left()
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def _heard_at_once(handler: _Handler) -> Iterator[None]:
    """Within, a thread sees to it that the main one hears of a signal.

    Python runs a handler between two steps of the main thread. A signal that comes just before that
    thread begins to wait, for a pipe that nobody writes to for example, would be heard when the
    wait is over. A signal of another kind, which does nothing, ends the wait.
    """
    if not hasattr(signal, "pthread_kill"):  # Windows
        yield
        return
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    main = threading.get_ident()

    def listen() -> None:
        while os.read(ours, 1) != _END:
            time.sleep(_PATIENCE)
            if handler.is_first:
                signal.pthread_kill(main, signal.SIGURG)

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    before = signal.signal(signal.SIGURG, lambda number, frame: None)
    descriptor = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        os.write(theirs, _END)
        thread.join()
        signal.signal(signal.SIGURG, before)
        os.close(ours)
        os.close(theirs)


def remove_left() -> None:
    """Take away temporary files that were not taken away yet."""
    if "mt.files.temporaries" in sys.modules:
        from mt.files.temporaries import remove_temporaries

        remove_temporaries()


class _Handler:
    def __init__(self) -> None:
        self.is_first = True

    def __call__(self, number: int, frame: FrameType | None) -> NoReturn:
        if self.is_first:
            self.is_first = False
            raise EndedBySignal(number)
        remove_left()
        os._exit(128 + number)
