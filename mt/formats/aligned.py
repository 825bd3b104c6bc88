"""Two text files, line n of one translating line n of the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from mt.errors import DataError
from mt.formats.fingerprint import file_content
from mt.formats.options import ReadingOptions
from mt.formats.pair import INVALID, Pair
from mt.formats.standard_input import shown
from mt.formats.text import language_suffix, read_lines

_NO_LINE = object()


class AlignedText:
    """A pair of aligned text files."""

    def __init__(self, source: Path, target: Path, options: ReadingOptions) -> None:
        self._source = source
        self._target = target
        self._options = options

    @property
    def name(self) -> str:
        """Both file names."""
        return f"{shown(self._source)} + {shown(self._target)}"

    @property
    def files(self) -> tuple[str, ...]:
        """Both file names, source first."""
        return (shown(self._source), shown(self._target))

    @property
    def languages(self) -> tuple[str, str] | None:
        """The suffixes of the files, where they differ."""
        source, target = language_suffix(self._source), language_suffix(self._target)
        return (source, target) if source and target and source != target else None

    def content(self) -> Iterator[bytes] | None:
        """The bytes of both files and how they are read."""
        return file_content(type(self), self._options, [self._source, self._target])

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; at the end, raises DataError with both counts if they differ."""
        source, target = (
            read_lines(path, keep_invalid=self._options.keep_invalid, hint=self._options.hint)
            for path in (self._source, self._target)
        )
        origin = shown(self._source)
        for number, (left, right) in enumerate(
            zip_longest(source, target, fillvalue=_NO_LINE), start=1
        ):
            if left is _NO_LINE or right is _NO_LINE:
                longer = 1 + sum(1 for _ in (target if left is _NO_LINE else source))
                counts = [number - 1, number - 1]
                counts[1 if left is _NO_LINE else 0] += longer
                raise DataError(
                    f"unequal sides: {shown(self._source)} has {counts[0]} lines, "
                    f"{shown(self._target)} has {counts[1]} lines",
                    hint="Line n of one file must translate line n of the other",
                )
            if isinstance(left, str) and isinstance(right, str):
                yield Pair(left, right, origin, number)
            else:
                yield Pair("", "", origin, number, INVALID)
