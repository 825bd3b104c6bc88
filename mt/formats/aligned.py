"""Two text files, line n of one translating line n of the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from mt.errors import DataError
from mt.formats.pair import INVALID, Pair
from mt.formats.standard_input import shown
from mt.formats.text import read_lines
from mt.formats.two_files import TwoFiles

_NO_LINE = object()


class AlignedText(TwoFiles):
    """A pair of aligned text files."""

    _has_form = False

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
