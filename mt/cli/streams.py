"""The standard streams of a command, whatever they are: closed, full, unbuffered, or a pipe.

Every byte of standard output is written, or the command ends with status 1 and a line that says so.
Standard error never fails: where a message cannot go, nobody could be told of that either.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from mt.files.byte_writer import ByteWriter
from mt.files.odd_names import READABLE

_CLOSED = -1  # no descriptor


class ReaderGoneError(Exception):
    """Standard output was closed by whoever read it."""


class _StandardOutput(ByteWriter):
    def failure(self, error: OSError) -> Exception:
        """A reader that has had enough is no error of the system."""
        if error.errno == errno.EPIPE:
            return ReaderGoneError()
        if self.fileno() == _CLOSED:
            return OSError(errno.EBADF, "it is closed", self.name)
        return super().failure(error)


class _StandardError(ByteWriter):
    def write(self, data: Any, /) -> int:
        """Write as much as can be written."""
        with suppress(OSError):
            super().write(data)
        return len(memoryview(data).cast("B"))


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within, standard output and standard error are UTF-8 streams of ours.

    Streams that others have put in their place are only set to UTF-8.
    """
    streams = sys.stdout, sys.stderr
    _hold_descriptors()
    if sys.stdout is None or (sys.stdout is sys.__stdout__ and not _is_console(sys.stdout)):
        sys.stdout = _stream(sys.stdout, _StandardOutput, 1, "standard output")
    if sys.stderr is None or (sys.stderr is sys.__stderr__ and not _is_console(sys.stderr)):
        sys.stderr = _stream(sys.stderr, _StandardError, 2, "standard error")
    for stream in (sys.stdout, sys.stderr):
        # Whatever the locale says: we write UTF-8, and a message never dies of its own text.
        stream.reconfigure(encoding="utf-8", errors=READABLE)  # type: ignore[union-attr]
    try:
        yield
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        sys.stdout, sys.stderr = streams


def _is_console(stream: TextIO | None) -> bool:
    """Whether it is a console of Windows, which takes characters from Python and no UTF-8."""
    return os.name == "nt" and stream is not None and stream.isatty()


def _stream(
    stream: TextIO | None, writer: type[ByteWriter], descriptor: int, name: str
) -> io.TextIOWrapper:
    """A text stream in the place of one of Python's, or of one that was closed from the first."""
    is_open = stream is not None
    raw = writer(descriptor if is_open else _CLOSED, name, closes=False)
    buffered = io.BufferedWriter(raw)
    by_line = is_open and (raw.isatty() or getattr(stream, "write_through", False))
    return io.TextIOWrapper(buffered, line_buffering=by_line or writer is _StandardError)


def _hold_descriptors() -> None:
    """Take the numbers of standard streams that are closed, so that no file gets them.

    What stands in for input and output is a folder, which can be neither read nor written.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            is_error = descriptor == 2  # which libraries may write to
            path = os.devnull if is_error or os.name == "nt" else os.sep
            with suppress(OSError):
                held = os.open(path, os.O_RDWR if is_error else os.O_RDONLY)
                if held != descriptor:
                    os.dup2(held, descriptor)
                    os.close(held)
