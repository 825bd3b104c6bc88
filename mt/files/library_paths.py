"""Paths for libraries that take them as UTF-8 only.

A name that is not UTF-8, and under some locales one that is not ASCII, is in Python a text with
halves of surrogate pairs, which no library outside takes. Such a path is reached through a symbolic
link with a plain name, in a temporary folder that goes when the process ends.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

_HOLDER: list[tempfile.TemporaryDirectory[str]] = []


def library_path(path: Path) -> Path:
    """`path`, or another one that leads there and is UTF-8.

    Raises OSError where the system makes no links.
    """
    if _is_utf8(str(path)):
        return path
    if _is_utf8(path.name):
        return _link(str(path.parent.absolute()), os.getpid()) / path.name
    return _link(str(path.absolute()), os.getpid())


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


@cache
def _link(target: str, process: int) -> Path:
    """A link of this process to `target`."""
    holder = tempfile.TemporaryDirectory(prefix="mt-", ignore_cleanup_errors=True)
    _HOLDER.append(holder)  # it is removed with the process
    link = Path(holder.name) / "link"
    link.symlink_to(target)
    return link
