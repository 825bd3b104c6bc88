"""Files that are either the old ones or the new ones, never something between.

Each write goes to a temporary name in the same folder, is flushed to the disk, and is renamed.
A kill at any moment leaves a temporary name behind at worst, which nobody reads.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UMASK = os.umask(0)  # it can only be read by setting it
os.umask(_UMASK)


def _settle(path: Path) -> None:
    """Give a new file the permissions that any new file gets, and force it to the disk."""
    path.chmod(0o666 & ~_UMASK)
    _flush(path)


def _flush(path: Path) -> None:
    """Force a file or folder to the disk (folders: where the system allows it)."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Give a temporary path to write; on a clean exit it takes the place of `path`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _settle(temporary)
        os.replace(temporary, path)
        _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; on a clean exit it becomes `path`, replacing an old one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for file in temporary.iterdir():
            _settle(file)
        _flush(temporary)
        if path.exists():
            shutil.rmtree(path)
        os.rename(temporary, path)
        _flush(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Replace the content of `path` by `text` in UTF-8."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))
