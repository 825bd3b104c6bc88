"""The lines that a command translates, in groups, from files or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
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
