"""Files that are either the old ones or the new ones, never something between.

Each write goes to a temporary name in the same folder, is flushed to the disk, and is renamed. The
new file keeps the mode and the owner of the old one; a symbolic link stays, and what it names is
replaced. A file that has several names (hard links) is replaced under the name that was given.

What is no regular file, a device or a pipe for example, is written into instead
(`mt.files.target`). So is a file beside which nothing can be created or renamed, because its folder
is read-only or because it is mounted by itself: all of its new content is made elsewhere first.

A kill at any moment leaves a temporary name behind at worst, which nobody reads and which the next
write of the same file takes away. An ending by a signal that Python hears leaves none.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mt.errors import DataError
from mt.files.byte_writer import ByteWriter
from mt.files.odd_names import READABLE
from mt.files.target import FileTarget, folder_mode, new_file_mode
from mt.files.temporaries import LONGEST_NAME, staging_folder, temporary_folder

_CANNOT_BE_RENAMED = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Give a temporary path to write; on a clean exit its content is that of `path`.

    It stands in a temporary folder of its own, since some writers (safetensors) put temporary
    files of theirs beside it. Raises OSError, naming `path`, where that cannot be written.
    """
    target = FileTarget.of(path)
    with staging_folder(target) as folder:
        temporary = folder / path.name
        yield temporary
        _put(temporary, target)


class OpenFile(io.BufferedWriter):
    """A file as `written_file` gives it."""

    partial: Path | None = None
    """Where the bytes went that had been flushed before an exception, if they were kept."""

    def __init__(self, descriptor: int, path: Path) -> None:
        """Write to `descriptor`; errors name `path`."""
        self._writer = ByteWriter(descriptor, str(path))
        self.num_flushed = 0
        super().__init__(self._writer)

    def flush(self) -> None:
        """Hand all bytes to the system."""
        super().flush()
        self.num_flushed = self._writer.num_written


@contextmanager
def written_file(path: Path, *, partial: Path | None = None) -> Iterator[OpenFile]:
    """Give a binary file; on a clean exit what was written to it is the content of `path`.

    What is no regular file gets the bytes as they are flushed. Otherwise an exception leaves the
    old content, and what was flushed before goes to `partial`, if that is given.

    Raises OSError, naming `path`, for a write that fails.
    """
    target = FileTarget.of(path)
    if not target.is_replaced:
        with OpenFile(target.opened(), path) as file:
            yield file
        return
    with staging_folder(target) as folder:
        temporary = folder / path.name
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        file = OpenFile(os.open(temporary, flags, 0o666), path)
        num_flushed = 0
        try:
            with file:
                try:
                    yield file
                finally:
                    num_flushed = file.num_flushed
        except BaseException:
            if partial is not None and num_flushed:
                os.truncate(temporary, num_flushed)
                target.give_mode(temporary)
                file.partial = _kept(temporary, partial)
            raise
        _put(temporary, target)


def require_writable(path: Path) -> None:
    """Raise DataError where `path` cannot be written, before the work that its content takes."""
    try:
        FileTarget.of(path)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}", hint="Name another file"
        ) from error


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; on a clean exit it becomes `path`, replacing an old one.

    No system call swaps two folders everywhere, so the old one steps aside first. Should a kill
    come just then, `clean` puts it back. Folders above `path` are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = folder_mode(path)
    with temporary_folder(path, path) as temporary:
        yield temporary
        for file in temporary.iterdir():
            if file.is_file():
                file.chmod(new_file_mode())
            _flush(file)
        temporary.chmod(mode)
        _flush(temporary)
        aside = path.with_name(f".{path.name}.old")
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)
            os.rename(path, aside)
        os.rename(temporary, path)
        _flush(path.parent)
        shutil.rmtree(aside, ignore_errors=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Replace the content of `path`."""
    with written_file(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Replace the content of `path` by `text` in UTF-8."""
    write_bytes(path, text.encode("utf-8", READABLE))


def append_text(path: Path, text: str) -> None:
    """Add `text` in UTF-8 to the end of `path`, which is made if it is not there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    with OpenFile(os.open(path, flags, 0o666), path) as file:
        file.write(text.encode("utf-8", READABLE))


def _put(temporary: Path, target: FileTarget) -> None:
    """Give `target` the content of a file that is complete."""
    if target.is_replaced:
        target.give_mode(temporary)
        _flush(temporary)
        try:
            os.replace(temporary, target.path)
        except OSError as error:
            if error.errno not in _CANNOT_BE_RENAMED or target.status is None:
                raise
        else:
            _flush(target.path.parent)
            return
    with temporary.open("rb") as file, OpenFile(target.opened(), target.name) as out:
        shutil.copyfileobj(file, out)


def _kept(temporary: Path, partial: Path) -> Path:
    """Move what was written to `partial`, or to the system's folder for temporary files."""
    try:
        os.replace(temporary, partial)
    except OSError:
        descriptor, name = tempfile.mkstemp(suffix=f"-{partial.name}"[-LONGEST_NAME:])
        os.close(descriptor)
        shutil.copyfile(temporary, name)
        return Path(name)
    return partial


def _flush(path: Path) -> None:
    """Force a file or folder to the disk (folders: where the system allows it)."""
    # Windows flushes only what is open for writing, and opens no folders.
    flags = os.O_RDWR if os.name == "nt" else os.O_RDONLY
    try:
        descriptor = os.open(path, flags)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
