"""The lines of two files, pair by pair; one of them may be standard input."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path

from mt.cli.streams import standard_input
from mt.errors import ConfigError, DataError
from mt.files.lines import describe_invalid_utf8, split_lines
from mt.formats.text import CONVERT, read_lines, read_text_lines

_BLOCK = 1 << 16  # bytes


def pair_lines(
    source: str | PathLike[str], target: str | PathLike[str]
) -> Iterator[tuple[str, str]]:
    """The lines of both files, which are of one number.

    Raises DataError where they are not, naming both numbers, or where a line is not UTF-8.
    """
    if str(source) == str(target) == "-":
        raise ConfigError("SOURCE and TARGET cannot both be standard input")
    sides = _lines_of(source), _lines_of(target)
    left, right = (sum(1 for _ in side) for side in sides)
    if left != right:
        first, second = ("standard input" if str(p) == "-" else p for p in (source, target))
        raise DataError(f"unequal lengths: {first} has {left} lines, {second} has {right}")
    return zip(*sides, strict=True)


class _Lines:
    """Lines that can be read more than once from the disk."""

    def __init__(self, read: Callable[[], Iterator[str]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[str]:
        return self._read()


def _lines_of(name: str | PathLike[str]) -> Iterable[str]:
    """The lines of a path; of a pipe or standard input (-) they are held in memory."""
    path = Path(name)
    if str(path) == "-":
        return list(_stdin_lines())
    if not path.is_file():
        return read_text_lines(path)
    return _Lines(lambda: (line for line in read_lines(path) if line is not None))


def _stdin_lines() -> Iterator[str]:
    descriptor = standard_input()
    blocks = iter(lambda: os.read(descriptor, _BLOCK), b"")
    for number, line in enumerate(split_lines(blocks), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(
                f"standard input:{number}: {describe_invalid_utf8(line)}", hint=CONVERT
            ) from None
