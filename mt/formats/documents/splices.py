"""New bytes in the place of old ones: what no edit covers stays as it was, byte by byte."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Span = tuple[int, int]
"""First byte, and the byte after the last one, of the data at hand."""
Part = bytes | Span
"""New bytes; or bytes of the data, with the edits that lie within them."""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What is to stand in the place of a span; an empty span is a place between two bytes.

    Edits do not overlap, but one may lie within a span that another one takes over.
    """

    start: int
    end: int
    parts: tuple[Part, ...]


def spliced(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The data with its edits."""
    return _Splicer(data, sorted(edits, key=lambda edit: (edit.start, -edit.end))).all()


class _Splicer:
    def __init__(self, data: bytes, edits: Sequence[Edit]) -> None:
        self._data = data
        self._edits = edits
        self._starts = [edit.start for edit in edits]

    def all(self) -> bytes:
        out = bytearray()
        self._copy(out, 0, len(self._data))
        return bytes(out)

    def _copy(self, out: bytearray, start: int, end: int) -> None:
        """Copy a span, its edits done; those that hold the span, or go beyond it, are not."""
        place = start
        for index in range(bisect_left(self._starts, start), len(self._edits)):
            edit = self._edits[index]
            if edit.start > end:
                break
            if edit.start < place or edit.end > end or (edit.start == end and edit.end == end > 0):
                continue
            out += self._data[place : edit.start]
            for part in edit.parts:
                if isinstance(part, bytes):
                    out += part
                else:
                    self._copy(out, *part)
            place = edit.end
        out += self._data[place:end]
