"""Standard input where a file is asked for: `-`, read once and held, so that it can be read again.

`mt translate` reads it as it comes instead (`mt.formats.text.live_blocks`).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO, cast
from weakref import WeakKeyDictionary, finalize

from mt.errors import DataError
from mt.files.odd_names import readable_name

_BLOCK = 1 << 16  # bytes
_IN_MEMORY = 1 << 24  # bytes, before the disk is used

_HELD: WeakKeyDictionary[TextIO, BinaryIO] = WeakKeyDictionary()


def is_standard_input(path: Path) -> bool:
    """Whether a path means standard input."""
    return str(path) == "-"


def shown(path: Path) -> str:
    """What messages and corpora call a file, in characters that any file can hold."""
    if is_standard_input(path):
        return "standard input"
    return readable_name(path)


def standard_input() -> int:
    """The descriptor of standard input; raises DataError where that is closed."""
    if sys.stdin is None:
        raise DataError("standard input is closed", hint="Name a file, or give one: < FILE")
    return sys.stdin.fileno()


def blocks_of_descriptor(descriptor: int) -> Iterator[bytes]:
    """What comes from a descriptor, as it comes; raises OSError, naming standard input."""
    try:
        while block := os.read(descriptor, _BLOCK):
            yield block
    except OSError as error:
        error.filename = "standard input"
        raise


def held_blocks() -> Iterator[bytes]:
    """All of standard input, from its start each time."""
    descriptor = standard_input()
    held = _HELD.get(sys.stdin)
    if held is None:
        held = cast(BinaryIO, tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115
        finalize(sys.stdin, held.close)
        for block in blocks_of_descriptor(descriptor):
            held.write(block)
        _HELD[sys.stdin] = held
    place = 0
    while True:
        held.seek(place)
        block = held.read(_BLOCK)
        if not block:
            return
        place += len(block)
        yield block
