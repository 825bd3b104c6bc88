"""One process at a time writes in a model folder: a lock that ends with the process that holds it.

The system keeps the lock, not the file: what a killed process leaves behind locks nothing. On
POSIX it is a record lock, since those of `flock` would live on in worker processes that were
forked meanwhile; the processes that run side by side each have their own.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mt.errors import ModelFolderError

NAME = ".lock"
_FAR = 1 << 30  # Windows locks bytes against reading, too: one beyond the text
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def folder_lock(folder: Path, *, make: bool = False) -> Iterator[None]:
    """Within, no other process holds the lock of `folder`, which must be there.

    With `make` it is made where it is not, and in the end removed again if it is empty.

    Raises ModelFolderError, naming folder and process, when one does. On a file system without
    locks there are none.
    """
    path = folder / NAME
    is_new = make and not folder.exists()
    descriptor = _locked(folder, make=make)
    try:
        with suppress(OSError):  # on a full disk the lock holds, but does not say whose it is
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        if sys.platform == "win32":  # what is open cannot be removed there
            os.close(descriptor)
            with suppress(OSError):
                path.unlink()
        else:  # removed while it is locked: whoever waits finds another file or none
            with suppress(OSError):
                path.unlink()
            os.close(descriptor)
        if is_new:
            with suppress(OSError):  # what is not empty stays
                folder.rmdir()


def _locked(folder: Path, *, make: bool) -> int:
    """A descriptor of the lock file that is in `folder` now, locked."""
    path = folder / NAME
    while True:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            if make:  # another process has just removed the folder
                continue
            raise
        try:
            if not _lock(descriptor):
                raise ModelFolderError(
                    f"{folder} is in use by {_holder(descriptor)}",
                    hint="Wait until it ends, or end it first",
                )
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the holder has just removed it


def _lock(descriptor: int) -> bool:
    """Take the lock; False if another process has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _BUSY
    return True


def _holder(descriptor: int) -> str:
    """The process that holds the lock, by what it wrote."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    number = os.read(descriptor, 32).decode("ascii", "replace").strip()
    return f"process {number}" if number.isdecimal() else "another process"


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)
