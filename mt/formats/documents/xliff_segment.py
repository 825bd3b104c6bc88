"""What units of XLIFF 1.x and 2.x share: a segment, its state, and the tags of its target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from mt.formats.documents.filled import Filled
from mt.formats.documents.inline import Coded, written
from mt.formats.documents.splices import Edit, Part
from mt.formats.documents.unit import Content, State
from mt.formats.documents.xml_inline import text_parts
from mt.formats.documents.xml_tree import Element
from mt.formats.xml import attribute

_YES = frozenset({"yes", "true", "1", "locked"})


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A piece of a unit that has a target of its own."""

    name: str
    source: Coded
    target: Content | None
    state: State
    most_characters: int | None = None


class Holder(Protocol):
    """A unit of the file, with the segments that it is cut into."""

    @property
    def segments(self) -> list[Segment]:
        """In their order; none for a unit without a source."""
        ...

    def edits(self, filled: Mapping[int, Filled], language: str) -> Iterator[Edit]:
        """What changes where some segments, by their index, are filled."""
        ...


def is_locked(element: Element, name: str = "locked") -> bool:
    """Whether an attribute of any namespace says yes."""
    return attribute(element, name).lower() in _YES


def target_parts(segment: Segment, target: Content) -> tuple[Part, ...]:
    """What is written for a target."""
    return written(segment.source.stream(target), text_parts)
