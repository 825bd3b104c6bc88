"""What the path of a file that is to be written leads to.

A regular file, or none yet, is replaced as a whole. A device, a pipe, a socket or an open file
descriptor (`/dev/stdout`, `/dev/fd/63`, what a shell makes of `>(gzip > out.gz)`) is written into:
renaming a file over it would take it away from those who read it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MOST_LINKS = 40  # as Linux
_UMASK = os.umask(0)  # it can only be read by setting it
os.umask(_UMASK)


@dataclass(frozen=True, kw_only=True)
class FileTarget:
    """Where the bytes of a file go."""

    name: Path
    """The path that was given, for messages."""
    path: Path
    """The path behind all symbolic links of the last component, which stay as they are."""
    status: os.stat_result | None
    """Of what stands there, None if nothing does."""
    descriptor: int | None
    """An open descriptor of this process that the path means."""

    @classmethod
    def of(cls, name: Path) -> FileTarget:
        """Follow `name`.

        Raises OSError, naming it, for a folder, a loop of links, a file that may not be written
        and a folder that does not exist.
        """
        try:
            path, descriptor = _followed(name)
            status = None
            with suppress(FileNotFoundError):
                status = path.stat() if descriptor is None else os.fstat(descriptor)
            if status is not None and stat.S_ISDIR(status.st_mode):
                raise _error(errno.EISDIR)
            if status is not None and descriptor is None and not os.access(path, os.W_OK):
                raise _error(errno.EACCES)
            if status is None and not path.parent.is_dir():
                raise _error(errno.ENOENT)
            if status is None and not os.access(path.parent, os.W_OK):
                raise _error(errno.EACCES)
        except OSError as error:
            error.filename = str(name)
            raise
        return cls(name=name, path=path, status=status, descriptor=descriptor)

    @property
    def is_replaced(self) -> bool:
        """Whether a new file takes its place; otherwise bytes are written into what is there."""
        if self.status is None:
            return True
        is_open = self.descriptor is not None or _is_of_descriptors(self.path.parent)
        return stat.S_ISREG(self.status.st_mode) and not is_open

    def opened(self) -> int:
        """A new descriptor to write into what is there; a regular file loses its content."""
        try:
            if self.descriptor is not None:
                return os.dup(self.descriptor)
            binary = getattr(os, "O_BINARY", 0)
            return os.open(self.path, os.O_WRONLY | os.O_TRUNC | binary)
        except OSError as error:
            error.filename = str(self.name)
            raise

    def give_mode(self, path: Path) -> None:
        """Give `path` the owner and the mode of what is there, or those of a new file.

        The owner stays where the system permits it; where not, no right stays that would be one of
        the new owner's.
        """
        if self.status is None:
            path.chmod(new_file_mode())
            return
        mode = stat.S_IMODE(self.status.st_mode)
        if hasattr(os, "chown"):
            now = path.stat()
            owner = self.status.st_uid, self.status.st_gid
            if owner != (now.st_uid, now.st_gid):
                try:
                    os.chown(path, *owner)
                except PermissionError:
                    mode &= 0o777
        path.chmod(mode)


def new_file_mode() -> int:
    """The mode of any new file."""
    return 0o666 & ~_UMASK


def folder_mode(path: Path) -> int:
    """The mode of the folder `path`, or that of any new one."""
    return stat.S_IMODE(path.stat().st_mode) if path.is_dir() else 0o777 & ~_UMASK


def _followed(path: Path) -> tuple[Path, int | None]:
    """The path behind symbolic links, and the open descriptor that it means, if it does."""
    for _ in range(_MOST_LINKS):
        # The folder is resolved first, so that "..", in a link as well, means what the system does.
        path = Path(os.path.realpath(path.parent)) / path.name
        if _is_own_descriptor(path):
            return path, int(path.name)
        try:
            path = path.parent / path.readlink()
        except (OSError, ValueError):  # no link, or nothing at all
            return path, None
    raise _error(errno.ELOOP)


def _is_of_descriptors(folder: Path) -> bool:
    return re.fullmatch(r"/dev/fd|/proc/\d+(/task/\d+)?/fd", folder.as_posix()) is not None


def _is_own_descriptor(path: Path) -> bool:
    if not path.name.isdecimal() or not _is_of_descriptors(path.parent):
        return False
    parts = path.parent.parts
    return parts[1] == "dev" or parts[2] == str(os.getpid())


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
