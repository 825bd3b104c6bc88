"""A `segment` of XLIFF 2.x."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mt.formats.documents.filled import Filled
from mt.formats.documents.inline import coded, text_of
from mt.formats.documents.splices import Edit
from mt.formats.documents.unit import State
from mt.formats.documents.xliff_segment import Segment, target_parts
from mt.formats.documents.xml_inline import InlineReader
from mt.formats.documents.xml_tags import indent_before, prefixed, with_attribute, with_content
from mt.formats.documents.xml_tree import Element, XmlFile
from mt.formats.xliff_states import OPEN
from mt.formats.xml import attribute

_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_REVIEW = "mt:needs-review"
"""The subState of what a person should look at: the format leaves it to who writes it."""


class Segment2:
    """A segment of a unit; `kept` is what the unit keeps of its codes (originalData).

    `scope` is whether white space is kept and whether the segment is locked.
    """

    def __init__(
        self,
        xml: XmlFile,
        element: Element,
        reader: InlineReader,
        *,
        name: str,
        scope: tuple[bool, bool],
        kept: Mapping[str, str],
        most_characters: int | None,
    ) -> None:
        keeps_spaces, is_locked = scope
        self._xml, self._element = xml, element
        self._source, self._target = element.child("source"), element.child("target")
        self.segments: list[Segment] = []
        if self._source is None:
            return
        space = self._source.get(_SPACE)
        keeps = space == "preserve" if space else keeps_spaces
        left = coded(reader.stream(self._source, keeps_spaces=keeps, data=kept))
        right = None
        if self._target is not None and self._target.items:
            right = coded(reader.stream(self._target, keeps_spaces=keeps, data=kept)).content
        state = State.LOCKED if is_locked else self._state(text_of(left.content), text_of(right))
        self.segments = [
            Segment(
                name=name,
                source=left,
                target=right or None,
                state=state,
                most_characters=most_characters,
            )
        ]

    def _state(self, source: str, target: str) -> State:
        state = self._element.get("state")
        if state == "final":
            return State.LOCKED
        if not target.strip():
            return State.EMPTY
        if state in OPEN:
            return State.EMPTY if target.strip() == source.strip() else State.DOUBTFUL
        return State.DOUBTFUL if self._element.get("subState") == _REVIEW else State.FILLED

    def edits(self, filled: Mapping[int, Filled], language: str) -> Iterator[Edit]:
        """What changes where the segment is filled."""
        is_marked = filled[0].marked
        inner = target_parts(self.segments[0], filled[0].target)
        tag = self._xml.raw(self._element.opening)
        tag = with_attribute(tag, "state", "initial" if is_marked else "translated")
        tag = with_attribute(tag, "subState", _REVIEW if is_marked else None)
        start, end = self._element.opening
        yield Edit(start=start, end=end, parts=(tag.encode(),))
        if self._target is not None:
            parts = with_content(self._xml.raw(self._target.opening), inner)
            yield Edit(start=self._target.start, end=self._target.end, parts=parts)
            return
        assert self._source is not None
        opening = f"<{prefixed(self._xml, self._source, 'target')}>"
        if self._source.get(_SPACE):
            opening = with_attribute(opening, "xml:space", self._source.get(_SPACE))
        parts = (indent_before(self._xml, self._source), *with_content(opening, inner))
        yield Edit(start=self._source.end, end=self._source.end, parts=parts)


def kept_codes(unit: Element) -> dict[str, str]:
    """What a unit keeps of its codes, by id."""
    kept = unit.child("originalData")
    return {each.get("id"): each.text for each in kept} if kept is not None else {}


def most_characters(unit: Element) -> int | None:
    """How long a target may be, where sizes count characters."""
    limit = attribute(unit, "sizeRestriction").rpartition(",")[2].strip()
    return int(limit) if limit.isdecimal() and limit.isascii() and len(limit) < 9 else None
