"""A pair of segments that translate each other, and where it stands."""

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
    """Its line there, from 1 (its row, where a form has no lines)."""
    fault: str = ""
    """Why the reader itself rules it out: a side that is missing or not UTF-8, a fuzzy entry."""


INVALID = "not UTF-8"
NO_SOURCE = "no source"
NO_TARGET = "no target"


class Reader(Protocol):
    """A corpus in some form; iterating reads it from the start."""

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
        """The codes of source and target that the form tells, if it does."""
        ...

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs in order; raises DataError where the form is broken."""
        ...

    def content(self) -> Iterator[bytes] | None:
        """All that its pairs follow from, as bytes; None where it can be read only once."""
        ...
