"""A pair of segments that translate each other, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class Pair(NamedTuple):
    """One pair as read: raw text, no normalisation yet.

    A side that is not UTF-8 is None, which the reader lets through only when it was asked to.
    """

    source: str | None
    target: str | None
    origin: str
    """The file it comes from."""
    line: int
    """Its line there, from 1."""


class Reader(Protocol):
    """A corpus in some form; iterating reads it from the start."""

    @property
    def name(self) -> str:
        """What to call it in messages."""
        ...

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs in order; raises DataError where the form is broken."""
        ...
