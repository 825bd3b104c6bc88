"""A `trans-unit` of XLIFF 1.x: whole, or in the segments that `mrk` elements mark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from mt.formats.documents.filled import Filled
from mt.formats.documents.inline import coded, text_of
from mt.formats.documents.splices import Edit, Part
from mt.formats.documents.unit import State
from mt.formats.documents.xliff_segment import Segment, is_locked, target_parts
from mt.formats.documents.xml_inline import InlineReader
from mt.formats.documents.xml_tags import (
    indent_before,
    prefixed,
    quoted,
    with_attribute,
    with_content,
)
from mt.formats.documents.xml_tree import Element, XmlFile
from mt.formats.xliff_states import (
    OPEN,
    SDL_APPROVED,
    confirmations,
    fault_of_unit,
    segment_definitions,
)
from mt.formats.xml import attribute

_REVIEW = "needs-review-translation"
_FOR_GOOD = frozenset({"final", "signed-off"})
_NAME = re.compile(r"\s([\w.-]+:[\w.-]+)\s*=")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


class TransUnit:
    """A unit of version 1.x; it is locked where what is around it says so."""

    def __init__(
        self,
        xml: XmlFile,
        element: Element,
        reader: InlineReader,
        *,
        keeps_spaces: bool,
        is_locked: bool,
    ) -> None:
        self._xml, self._element = xml, element
        self._reader, self._keeps_spaces = reader, keeps_spaces
        self._is_locked = is_locked or attribute(element, "approved") == "yes"
        self._source = element.child("source")
        self._cut = element.child("seg-source")
        self._target = element.child("target")
        self._definitions = segment_definitions(element)
        self._marks = _by_number(self._cut)
        self._targets = _by_number(self._target)
        self.segments: list[Segment] = []
        if self._source is None:
            return
        if not self._is_cut():
            self._marks = {}
            self.segments = [self._whole(self._source)]
        else:
            self.segments = [self._segment(number) for number in self._marks]

    def _is_cut(self) -> bool:
        """Whether each segment can be filled by itself: by its number, or in a new target."""
        if not self._marks:
            return False
        is_empty = self._target is None or not self._target.text.strip()
        return is_empty or bool(self._targets) or len(self._marks) == 1

    def _whole(self, source: Element) -> Segment:
        number = next(iter(self._definitions), "") if len(self._definitions) == 1 else ""
        return self._made(attribute(self._element, "id"), source, self._target, number)

    def _segment(self, number: str) -> Segment:
        target = self._targets.get(number)
        if target is None and not self._targets and len(self._marks) == 1:
            target = self._target
        name = f"{attribute(self._element, 'id')} {number}"
        return self._made(name, self._marks[number], target, number)

    def _made(self, name: str, source: Element, target: Element | None, number: str) -> Segment:
        left = coded(self._reader.stream(source, keeps_spaces=self._keeps_spaces))
        right = None
        if target is not None and target.items:
            right = coded(self._reader.stream(target, keeps_spaces=self._keeps_spaces)).content
        most = self._element.get("maxwidth")
        is_characters = self._element.get("size-unit") == "char" and most.isdecimal()
        return Segment(
            name=name,
            source=left,
            target=right or None,
            state=self._state(text_of(left.content), text_of(right), number),
            most_characters=int(most) if is_characters else None,
        )

    def _state(self, source: str, target: str, number: str) -> State:
        definition = self._definitions.get(number)
        target_state = self._target.get("state") if self._target is not None else ""
        if self._is_locked or is_locked(self._element) or target_state in _FOR_GOOD:
            return State.LOCKED
        if definition is not None and _is_approved(definition):
            return State.LOCKED
        if not target.strip():
            return State.EMPTY
        if target_state in OPEN:
            return State.EMPTY if target.strip() == source.strip() else State.DOUBTFUL
        assert self._target is not None
        is_open = target_state.startswith("needs-") or fault_of_unit(self._element, self._target)
        if is_open or confirmations(self._element).get(number):
            return State.DOUBTFUL
        return State.FILLED

    def edits(self, filled: Mapping[int, Filled], language: str) -> Iterator[Edit]:
        """What changes where some segments, by their index, are filled."""
        is_marked = any(each.marked for each in filled.values())
        numbers = list(self._marks)
        if not self._marks:
            inner = target_parts(self.segments[0], filled[0].target)
            yield self._new_target(inner, is_marked=is_marked, language=language)
        elif self._target is not None and all(numbers[i] in self._targets for i in filled):
            for index, each in filled.items():
                mark = self._targets[numbers[index]]
                parts = target_parts(self.segments[index], each.target)
                new = with_content(self._xml.raw(mark.opening), parts)
                yield Edit(start=mark.start, end=mark.end, parts=new)
            opening = self._opening(self._target, is_marked=is_marked)
            start, end = self._target.opening
            yield Edit(start=start, end=end, parts=(opening.encode(),))
        else:
            inner = tuple(self._all_segments(filled))
            yield self._new_target(inner, is_marked=is_marked, language=language)
        yield from self._tool_edits(filled, numbers, is_marked=is_marked)

    def _all_segments(self, filled: Mapping[int, Filled]) -> Iterator[Part]:
        """What a target holds: as seg-source does, and targets in its segments."""
        assert self._cut is not None
        place = self._cut.inner_start
        for index, (number, mark) in enumerate(self._marks.items()):
            yield place, mark.start
            inner: tuple[Part, ...] = ()
            if index in filled:
                inner = target_parts(self.segments[index], filled[index].target)
            elif number in self._targets:
                inner = (self._targets[number].inner,)
            elif self._target is not None and self._target.text.strip():
                inner = (self._target.inner,)
            yield from with_content(self._xml.raw(mark.opening), inner)
            place = mark.end
        yield place, self._cut.inner_end

    def _new_target(self, inner: tuple[Part, ...], *, is_marked: bool, language: str) -> Edit:
        if self._target is not None:
            opening = self._opening(self._target, is_marked=is_marked)
            parts = with_content(opening, inner)
            return Edit(start=self._target.start, end=self._target.end, parts=parts)
        assert self._source is not None
        name = prefixed(self._xml, self._source, "target")
        has_language = language and _LANG in self._source.attrib
        lang = f" xml:lang={quoted(language)}" if has_language else ""
        state = f' state="{_REVIEW}"' if is_marked and not self._has_tool_marks() else ""
        after = self._cut or self._source
        indent = indent_before(self._xml, self._source)
        parts = (indent, *with_content(f"<{name}{lang}{state}>", inner))
        return Edit(start=after.end, end=after.end, parts=parts)

    def _has_tool_marks(self) -> bool:
        """Whether a tool keeps the state of the target in attributes of its own."""
        return bool(self._definitions) or bool(_tool_attribute(self._element))

    def _opening(self, target: Element, *, is_marked: bool) -> str:
        """The opening tag of a target, with its state."""
        tag = with_attribute(self._xml.raw(target.opening), "state-qualifier", None)
        if is_marked and not self._has_tool_marks():
            return with_attribute(tag, "state", _REVIEW)
        state = target.get("state")
        is_open = state in OPEN or state.startswith("needs-")
        return with_attribute(tag, "state", "translated") if is_open else tag

    def _tool_edits(
        self, filled: Mapping[int, Filled], numbers: list[str], *, is_marked: bool
    ) -> Iterator[Edit]:
        """The states that Trados, memoQ and Phrase keep."""
        for index, each in filled.items():
            number = numbers[index] if numbers else next(iter(self._definitions), "")
            definition = self._definitions.get(number)
            if definition is not None:
                tag = self._xml.raw(definition.opening)
                tag = with_attribute(tag, "conf", "Draft" if each.marked else "Translated")
                tag = with_attribute(tag, "origin", "mt")
                for name in ("percent", "text-match", "struct-match"):
                    tag = with_attribute(tag, name, None)
                start, end = definition.opening
                yield Edit(start=start, end=end, parts=(tag.encode(),))
        name = _tool_attribute(self._element)
        if name:
            tag = self._xml.raw(self._element.opening)
            own = next(key for key in _written_names(tag) if key.endswith(f":{name}"))
            done = "ManuallyConfirmed" if name == "status" else "1"
            value = ("Pretranslated" if name == "status" else "0") if is_marked else done
            start, end = self._element.opening
            yield Edit(start=start, end=end, parts=(with_attribute(tag, own, value).encode(),))


def _is_approved(definition: Element) -> bool:
    return is_locked(definition) or definition.get("conf") in SDL_APPROVED


def _by_number(element: Element | None) -> dict[str, Element]:
    """The segments that an element marks, by their numbers; none where a number is not unique."""
    if element is None:
        return {}
    marks = [each for each in element.iter() if each.name == "mrk" and each.get("mtype") == "seg"]
    found = {mark.get("mid"): mark for mark in marks}
    is_nested = any(one.end > other.start for one, other in pairwise(marks))
    return {} if len(found) < len(marks) or "" in found or is_nested else found


def _tool_attribute(element: Element) -> str:
    """The attribute in which memoQ or Phrase keep the state of a unit."""
    for key in element.attrib:
        if "memoq" in key.lower() and key.endswith("}status"):
            return "status"
        if key.startswith("{") and key.endswith("}confirmed"):
            return "confirmed"
    return ""


def _written_names(tag: str) -> list[str]:
    """The names of attributes as a tag has them."""
    return _NAME.findall(tag)
