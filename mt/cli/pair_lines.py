"""The lines of two files, pair by pair; one of them may be standard input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path

from mt.errors import DataError
from mt.formats.standard_input import shown
from mt.formats.text import read_lines, read_text_lines


def pair_lines(
    source: str | PathLike[str], target: str | PathLike[str]
) -> Iterator[tuple[str, str]]:
    """The lines of both files, which are of one number.

    Raises DataError where they are not, naming both numbers, or where a line is not UTF-8.
    """
    sides = _lines_of(source), _lines_of(target)
    left, right = (sum(1 for _ in side) for side in sides)
    if left != right:
        first, second = (shown(Path(p)) for p in (source, target))
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
    if not path.is_file():
        return read_text_lines(path)
    return _Lines(lambda: (line for line in read_lines(path) if line is not None))
