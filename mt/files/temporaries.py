"""Temporary folders in which new content is made, and what is left of them after a kill."""

from __future__ import annotations

import errno
import glob
import itertools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mt.files.target import FileTarget

try:
    import fcntl
except ImportError:  # Windows, which has no advisory locks on folders
    fcntl = None  # type: ignore[assignment]

LONGEST_NAME = 50
"""Characters of a name that a temporary name repeats."""

_FAILED_WRITES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
_CANNOT_STAND_BESIDE = (errno.EACCES, errno.EPERM, errno.EROFS)
_STALE = 10.0  # seconds after which an unlocked temporary folder belongs to nobody
_numbers = itertools.count(1)
_live: set[Path] = set()
"""Temporary folders of this process."""


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


def remove_temporaries() -> None:
    """Take away what this process would leave if it ended now."""
    for folder in list(_live):
        shutil.rmtree(folder, ignore_errors=True)
        _live.discard(folder)


@contextmanager
def staging_folder(target: FileTarget) -> Iterator[Path]:
    """A temporary folder beside the target, or elsewhere where none can stand there."""
    with ExitStack() as stack:
        folder = None
        if target.is_replaced:
            try:
                folder = stack.enter_context(temporary_folder(target.path, target.name))
            except OSError as error:
                if target.status is None or error.errno not in _CANNOT_STAND_BESIDE:
                    raise
        if folder is None:
            elsewhere = Path(tempfile.gettempdir()) / f"mt-{next(_numbers)}"
            folder = stack.enter_context(temporary_folder(elsewhere, target.name))
        yield folder


@contextmanager
def temporary_folder(path: Path, name: Path) -> Iterator[Path]:
    """A folder beside `path` that goes in the end; errors of a full disk name `name`."""
    folder = _temporary_name(path)
    _remove_stale(folder)
    _live.add(folder)
    lock = None
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        lock = _locked(folder)
        yield folder
    except OSError as error:
        failed = error.filename
        is_inside = failed is not None and folder in (Path(str(failed)), *Path(str(failed)).parents)
        if is_inside or (failed is None and error.errno in _FAILED_WRITES):
            error.filename = str(name)
            error.filename2 = None
        raise
    except Exception as error:
        # safetensors, which is written in Rust, has an error of its own for a full disk.
        if number := re.search(r"\(os error (\d+)\)", str(error)):
            code = int(number[1])  # on Windows it is no errno, and its words are Rust's only
            words = str(error) if os.name == "nt" else os.strerror(code)
            raise OSError(code, words, str(name), code) from error
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _live.discard(folder)
        if lock is not None:
            os.close(lock)


def _temporary_name(path: Path) -> Path:
    """Of a temporary folder beside `path` that this process does not use yet."""
    name = path.name[:LONGEST_NAME]
    folder = path.with_name(f".{name}.{os.getpid()}.tmp")
    while folder in _live:
        folder = path.with_name(f".{name}.{next(_numbers)}.{os.getpid()}.tmp")
    return folder


def _locked(folder: Path) -> int | None:
    """Lock a folder for the life of this process; None where the system has no such locks."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_stale(folder: Path) -> None:
    """Take away the temporary folders that killed processes left for the same file."""
    stem = folder.name.removesuffix(f".{os.getpid()}.tmp")
    for path in folder.parent.glob(f"{glob.escape(stem)}.*.tmp"):
        with suppress(OSError):
            if path in _live or time.time() - path.stat().st_mtime < _STALE:
                continue
            lock = _locked(path)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)
