"""Ctrl-C and SIGTERM as a request to finish."""

from __future__ import annotations

import signal
from types import FrameType


class StopSignal:
    """Turns the first SIGINT or SIGTERM into a request, and lets a second one through."""

    def __init__(self) -> None:
        self.received: int | None = None

    def install(self) -> None:
        """Begin to listen."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
