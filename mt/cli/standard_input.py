"""Lines of standard input, handed on as soon as the input pauses.

A file or a full pipe gives large groups; a person, or a program that waits for its answer, gives
a line and gets its translation before the next.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator

_PATIENCE = 0.05  # seconds that the first line of a group waits for company
_AHEAD = 10_000  # lines that are read ahead at most


def line_groups(source: Iterable[bytes], *, sizes: Iterator[int]) -> Iterator[list[bytes]]:
    """Lines in groups as they come, none larger than the next of `sizes`.

    A thread reads ahead, a bounded number of lines. Raises what reading raises.
    """
    lines: queue.Queue[bytes | Exception | None] = queue.Queue(maxsize=_AHEAD)

    def read() -> None:
        try:
            for line in source:
                lines.put(line)
            lines.put(None)
        except Exception as error:  # raised where the lines are taken
            lines.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        group: list[bytes] = []
        max_lines = next(sizes)
        deadline = time.monotonic() + _PATIENCE
        while len(group) < max_lines:
            try:
                wait = max(deadline - time.monotonic(), 0.0) if group else None
                line = lines.get(timeout=wait)
            except queue.Empty:
                break
            if line is None:
                if group:
                    yield group
                return
            if isinstance(line, Exception):
                if group:
                    lines.put(line)
                    break
                raise line
            if not group:
                deadline = time.monotonic() + _PATIENCE
            group.append(line)
        yield group
