"""The lines that a command translates, in groups, from files or standard input; their prefixes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from mt.cli.standard_input import line_groups
from mt.cli.streams import standard_input
from mt.events import Listener, Notice
from mt.files.lines import describe_invalid_utf8, split_lines
from mt.formats.compressed import read_blocks
from mt.formats.text import read_lines
from mt.translation.prefixes import unequal, with_prefixes

_FIRST = 128  # lines of the first group
_GROWTH = 4  # times as many lines in the next


class SourceLines:
    """The lines of files, or else of standard input, and how much of them was handed out.

    Groups begin small, so that the first results are soon there, and grow up to the size that is
    fast.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._paths = list(files)
        self._size = self._size_of_input()
        self._packed, self._plain, self._handed = 0, 0, 0

    def share(self) -> float | None:
        """The part of the input that was handed out, from 0 to 1, where its size is known.

        Of packed files it is estimated from what was unpacked so far.
        """
        if not self._size:
            return None
        packed_per_plain = self._packed / self._plain if self._plain else 1.0
        return min(self._handed * packed_per_plain / self._size, 1.0)

    def groups(self, *, max_lines: int, listener: Listener) -> Iterator[list[str]]:
        """Lines in groups that are ready to be translated, of `max_lines` at most."""
        groups: Iterable[list[bytes]]
        sizes = _growing(max_lines)
        if self._paths:
            lines = (
                line
                for path in self._paths
                for line in split_lines(read_blocks(path, listener=self._count))
            )
            groups = iter(lambda: list(islice(lines, next(sizes))), [])
        else:
            groups = line_groups(standard_input(), sizes=sizes)
        number = 0
        for group in groups:
            self._handed += sum(map(len, group)) + len(group)
            yield [_decode(line, number + i, listener) for i, line in enumerate(group, start=1)]
            number += len(group)

    def _count(self, packed: int, plain: int) -> None:
        self._packed += packed
        self._plain += plain

    def _size_of_input(self) -> int | None:
        """Bytes of the files, or what is left of a file on standard input; None of a pipe."""
        try:
            if self._paths:
                found = [path.stat() for path in self._paths]
                return sum(s.st_size for s in found) if all(map(_is_regular, found)) else None
            status = os.fstat(0 if sys.stdin is None else sys.stdin.fileno())
            if not _is_regular(status):
                return None
            return status.st_size - os.lseek(sys.stdin.fileno(), 0, os.SEEK_CUR)
        except OSError:
            return None


def _is_regular(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode)


def _growing(most: int) -> Iterator[int]:
    """Sizes of groups: several times as many lines each time."""
    size = min(_FIRST, most)
    while True:
        yield size
        size = min(_GROWTH * size, most)


def groups_with_prefixes(
    groups: Iterable[Sequence[str]], files: Sequence[Path], path: Path | None
) -> Iterator[tuple[Sequence[str], list[str] | None]]:
    """Each group of the lines of `files` with as many lines of `path`; without one with None.

    Raises DataError where the numbers of lines differ: at once where all are files on disk, else
    when it is found.
    """
    if path is None:
        return with_prefixes(groups, None)
    name = f"the prefixes of {path}"
    if files and all(each.is_file() for each in (*files, path)):
        num_lines = sum(1 for file in files for _ in split_lines(read_blocks(file)))
        num_prefixes = sum(1 for _ in read_lines(path))
        if num_lines != num_prefixes:
            raise unequal(f"{num_lines} lines", name, num_prefixes)
    prefixes = (line for line in read_lines(path) if line is not None)
    return with_prefixes(groups, prefixes, name=name)


def _decode(line: bytes, number: int, listener: Listener) -> str:
    """Text of a line; bytes that are not UTF-8 become spaces, with a warning."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        text = f"line {number}: {describe_invalid_utf8(line)}; such bytes are read as spaces"
        listener(Notice(text=text, is_warning=True))
        return line.decode("utf-8", errors="replace")
