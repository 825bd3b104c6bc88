"""Files that are either the old ones or the new ones, never something between.

Each write goes to a temporary name in the same folder, is flushed to the disk, and is renamed.
A kill at any moment leaves a temporary name behind at worst, which nobody reads and `clean` takes
away.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UMASK = os.umask(0)  # it can only be read by setting it
os.umask(_UMASK)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
    """Give a temporary path to write; on a clean exit it takes the place of `path`.

    It stands in a temporary folder of its own, since some writers (safetensors) put temporary
    files of theirs beside it.
    """
    with _temporary_folder(path) as folder:
        temporary = folder / path.name
        yield temporary
        _settle(temporary)
        os.replace(temporary, path)
        _flush(path.parent)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; on a clean exit it becomes `path`, replacing an old one.

    No system call swaps two folders everywhere, so the old one steps aside first. Should a kill
    come just then, `clean` puts it back.
    """
    with _temporary_folder(path) as temporary:
        yield temporary
        for file in temporary.iterdir():
            _settle(file)
        _flush(temporary)
        aside = path.with_name(f".{path.name}.old")
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)
            os.rename(path, aside)
        os.rename(temporary, path)
        _flush(path.parent)
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _temporary_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` that goes in the end; errors of a full disk name `path`."""
    folder = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        yield folder
    except OSError as error:
        if error.filename is None and error.errno in _NO_ROOM:  # a write knows no name
            error.filename = str(path)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clean(folder: Path) -> None:
    """Mend what kills left in `folder`; no other process may be writing there.

    Temporary names go. A folder that stepped aside for a new one that never came is put back.
    """
    for path in folder.glob(".*"):
        aside = re.fullmatch(r"\.(.+)\.old", path.name)
        if aside and not path.with_name(aside[1]).exists():
            with suppress(FileNotFoundError):
                os.rename(path, path.with_name(aside[1]))
        elif aside or re.fullmatch(r"\..+\.\d+\.tmp", path.name):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace the content of `path` by `text` in UTF-8."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))
