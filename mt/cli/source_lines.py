"""The lines that a command translates, in groups, from files or standard input; their prefixes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.events import Listener


def source_groups(
    files: Iterable[Path], *, max_lines: int, listener: Listener
) -> Iterator[list[str]]:
    """Lines of files, or else of standard input, in groups that are ready to be translated."""
    from mt.cli.standard_input import line_groups
    from mt.corpus.formats.compressed import read_blocks
    from mt.lines import split_lines

    paths = list(files)
    groups: Iterable[list[bytes]]
    if paths:
        lines = (line for path in paths for line in split_lines(read_blocks(path)))
        groups = iter(lambda: list(islice(lines, max_lines)), [])
    else:
        groups = line_groups(sys.stdin.fileno(), max_lines=max_lines)
    number = 0
    for group in groups:
        yield [_decode(line, number + i, listener) for i, line in enumerate(group, start=1)]
        number += len(group)


def groups_with_prefixes(
    groups: Iterable[Sequence[str]], files: Sequence[Path], path: Path | None
) -> Iterator[tuple[Sequence[str], list[str] | None]]:
    """Each group of the lines of `files` with as many lines of `path`; without one with None.

    Raises DataError where the numbers of lines differ: at once where all are files on disk, else
    when it is found.
    """
    from mt.corpus.formats.compressed import read_blocks
    from mt.corpus.formats.text import read_lines
    from mt.lines import split_lines
    from mt.translate.prefixes import unequal, with_prefixes

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
    from mt.events import Notice
    from mt.lines import describe_invalid_utf8

    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        text = f"line {number}: {describe_invalid_utf8(line)}; such bytes are read as spaces"
        listener(Notice(text=text, is_warning=True))
        return line.decode("utf-8", errors="replace")
