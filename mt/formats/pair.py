"""A pair of segments that translate each other, and its location."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class Pair(NamedTuple):
    """One pair as read: raw text on one line a side, no normalisation yet."""

    source: str
    target: str
    origin: str
    """The file it comes from."""
    line: int
    """Its line there, from 1 (its row, where a format has no lines)."""
    fault: str = ""
    """Why the reader itself rules it out: a side that is missing or not UTF-8, a fuzzy entry."""


INVALID = "not UTF-8"
NO_SOURCE = "no source"
NO_TARGET = "no target"


class Reader(Protocol):
    """A corpus in some format; iterating reads it from the start."""

    @property
    def name(self) -> str:
        """What to call it in messages."""
        ...

    @property
    def files(self) -> tuple[str, ...]:
        """The arguments that it reads; the first is the origin of its pairs."""
        ...

    @property
    def languages(self) -> tuple[str, str] | None:
        """The codes of source and target, if the format has them."""
        ...

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs in order; raises DataError where the file is broken."""
        ...

    def content(self) -> Iterator[bytes] | None:
        """The bytes that determine its pairs; None where it can be read only once."""
        ...
