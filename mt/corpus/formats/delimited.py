"""Tab-separated text: source, tab, target. No quoting, no escapes; every field is text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt.corpus.formats.text import read_lines
from mt.corpus.pair import Pair
from mt.errors import DataError


class TabSeparated:
    """A file with two columns."""

    def __init__(self, path: Path, *, keep_invalid: bool, hint: str) -> None:
        self._path = path
        self._keep_invalid = keep_invalid
        self._hint = hint

    @property
    def name(self) -> str:
        """The file name."""
        return str(self._path)

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError at a line with another number of columns than two.

        An empty line is a pair of blank sides.
        """
        origin = str(self._path)
        lines = read_lines(self._path, keep_invalid=self._keep_invalid, hint=self._hint)
        for number, line in enumerate(lines, start=1):
            if line is None:
                yield Pair(None, None, origin, number)
                continue
            columns = line.split("\t") if line else ["", ""]
            if len(columns) != 2:
                noun = "column" if len(columns) == 1 else "columns"
                raise DataError(
                    f"{self._path}:{number}: {len(columns)} {noun}, but source and target make 2",
                    hint="Each line holds source, one tab, target",
                )
            yield Pair(columns[0], columns[1], origin, number)
