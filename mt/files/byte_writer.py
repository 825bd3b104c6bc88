"""Bytes to a file descriptor, every one of them accounted for.

`os.write` may write less than it was given: to a disk that is nearly full, to a pipe, to a
descriptor that must not block. A raw stream of Python's passes that on as a number that most
callers never look at.
"""

from __future__ import annotations

import errno
import io
import os
import select
import time
from typing import Any

_MOST = 1 << 20  # bytes handed to the system at once
_PAUSE = 0.01  # seconds


class ByteWriter(io.RawIOBase):
    """Writes all of what it is given, or raises an OSError that names its target.

    After a failure or an interruption nobody knows how much of the last block was written. So from
    then on it writes nothing: no byte goes out twice when buffers are flushed in the end.
    """

    def __init__(self, descriptor: int, name: str, *, closes: bool = True) -> None:
        """Write to `descriptor`; errors name `name`. `closes`: whether `close` closes it too."""
        self._descriptor = descriptor
        self._closes = closes
        self._is_broken = False
        self.name = name
        self.num_written = 0

    def writable(self) -> bool:
        """It is for writing."""
        return True

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person sees it."""
        return not self.closed and os.isatty(self._descriptor)

    def write(self, data: Any, /) -> int:
        """Write all of `data`."""
        view = memoryview(data).cast("B")
        done = 0
        try:
            while done < len(view) and not self._is_broken:
                done += self._write_some(view[done : done + _MOST])
        except OSError as error:
            self._is_broken = True
            raise self.failure(error) from error
        except BaseException:
            self._is_broken = True
            raise
        self.num_written += done
        return len(view)

    def close(self) -> None:
        """Close; where the system tells only now that something was not written, raise that."""
        if self.closed:
            return
        super().close()
        if self._closes:
            try:
                os.close(self._descriptor)
            except OSError as error:
                raise self.failure(error) from error

    def failure(self, error: OSError) -> Exception:
        """What is raised for an error of the system."""
        number = error.errno or errno.EIO
        return OSError(number, os.strerror(number), self.name)

    def _write_some(self, view: memoryview) -> int:
        try:
            count = os.write(self._descriptor, view)
        except BlockingIOError:
            if os.name == "nt":  # where only sockets can be waited for
                time.sleep(_PAUSE)
            else:
                select.select([], [self._descriptor], [])
            return 0
        if count == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return count
