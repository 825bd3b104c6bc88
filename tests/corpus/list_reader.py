"""A corpus that stands in a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mt.errors import DataError
from mt.formats.pair import INVALID, Pair

Sides = Sequence[tuple[str | None, str | None]]
"""Sources and targets; None is a side that is not UTF-8."""


class ListReader:
    """Pairs from a list; breaks off at the end when it is told to."""

    def __init__(self, pairs: Sides, *, name: str = "c.de", error: str = "") -> None:
        self.pairs = pairs
        self.name = name
        self.files = (name,)
        self.languages = None
        self._error = error

    def content(self) -> Iterator[bytes] | None:
        return iter([repr(self.pairs).encode()])

    def __iter__(self) -> Iterator[Pair]:
        for number, (source, target) in enumerate(self.pairs, start=1):
            if source is None or target is None:
                yield Pair("", "", self.name, number, INVALID)
            else:
                yield Pair(source, target, self.name, number)
        if self._error:
            raise DataError(self._error)
