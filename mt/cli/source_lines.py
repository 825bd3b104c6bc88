"""The lines that a command translates, in groups, from files or standard input; their prefixes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from mt.cli.standard_input import line_groups
from mt.errors import ConfigError
from mt.events import Listener, Notice
from mt.files.lines import describe_invalid_utf8, split_lines
from mt.formats.standard_input import is_standard_input, shown, standard_input
from mt.formats.text import live_blocks, read_lines, require_plain, text_blocks
from mt.translation.prefixes import unequal, with_prefixes

_FIRST = 128  # lines of the first group
_GROWTH = 4  # times as many lines in the next
_DOCUMENT = "--format text takes its lines as they are; a document that mt reads needs -o FILE"


class SourceLines:
    """The lines of files, or else of standard input, and how much of them was handed out.

    Groups begin small, so that the first results are soon there, and grow up to the size that is
    fast.
    """

    def __init__(self, files: Iterable[Path], *, as_text: bool = False) -> None:
        """Read `files`; with `as_text` line by line, whatever they are.

        Raises DataError for a file whose name says that it is no plain text.
        """
        self._paths = list(files) or [Path("-")]
        self._is_plain = not as_text
        for path in self._paths if self._is_plain else ():
            require_plain(path, hint=_DOCUMENT)
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
        """Lines in groups that are ready to be translated, of `max_lines` at most.

        Raises DataError for what is no plain text by its first bytes.
        """
        groups: Iterable[list[bytes]]
        sizes = _growing(max_lines)
        if any(map(is_standard_input, self._paths)):
            groups = line_groups(self._lines(), sizes=sizes)
        else:
            lines = self._lines()
            groups = iter(lambda: list(islice(lines, next(sizes))), [])
        number = 0
        for group in groups:
            self._handed += sum(map(len, group)) + len(group)
            yield [_decode(line, number + i, listener) for i, line in enumerate(group, start=1)]
            number += len(group)

    def _lines(self) -> Iterator[bytes]:
        for path in self._paths:
            yield from split_lines(self._counted(self._blocks(path)))

    def _blocks(self, path: Path) -> Iterator[bytes]:
        if is_standard_input(path):
            descriptor = standard_input()
            return live_blocks(
                descriptor, is_plain=self._is_plain, hint=_DOCUMENT, listener=self._count
            )
        return text_blocks(path, is_plain=self._is_plain, hint=_DOCUMENT, listener=self._count)

    def _counted(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self._plain += len(block)
            yield block

    def _count(self, num_bytes: int) -> None:
        self._packed += num_bytes

    def _size_of_input(self) -> int | None:
        """Bytes of the files, or what is left of a file on standard input; None of a pipe."""
        try:
            sizes = [_size_of(path) for path in self._paths]
        except OSError:
            return None
        return None if None in sizes else sum(size or 0 for size in sizes)


def _size_of(path: Path) -> int | None:
    if not is_standard_input(path):
        status = path.stat()
        return status.st_size if stat.S_ISREG(status.st_mode) else None
    descriptor = 0 if sys.stdin is None else sys.stdin.fileno()
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_size - os.lseek(descriptor, 0, os.SEEK_CUR)


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
    if is_standard_input(path) and not files:
        raise ConfigError("both the lines and their prefixes would be standard input")
    name = f"the prefixes of {shown(path)}"
    if files and all(each.is_file() for each in (*files, path)):
        num_lines = sum(1 for file in files for _ in split_lines(text_blocks(file, is_plain=False)))
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
