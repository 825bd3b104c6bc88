"""XLIFF 1.2 and 2.0, the exchange format of localisation, and what tools add to it.

Suggestions from memories (alt-trans, matches) are no pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

from mt.errors import DataError
from mt.formats.file_reader import FileReader
from mt.formats.options import matching
from mt.formats.pair import NO_SOURCE, NO_TARGET, Pair
from mt.formats.standard_input import shown
from mt.formats.xliff_states import OPEN, UNTRANSLATED, confirmations, fault_of_unit
from mt.formats.xml import Element, attribute, children, elements, local_name, readable, text_of

_CODES = frozenset({"bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "sm", "em"})
OTHER_LANGUAGES = "other languages"
UNEQUAL_SEGMENTS = "segments that do not fit"
"""The fault of a unit whose sides are cut into different numbers of segments without numbers."""

_Segment = tuple[str, str, str]
"""Source, target and fault."""


class Xliff(FileReader):
    """A document of translation units. A unit that is cut into segments gives a pair for each.

    Targets whose state says that they are not translated or not confirmed yet have a fault.
    """

    @property
    def languages(self) -> tuple[str, str] | None:
        """The languages that the first file in it declares, if it declares both."""
        for _, element in self._elements("xliff", "file"):
            source, target = _declared(element)
            if source and target:
                return source, target
            if local_name(element) == "file":
                return None
        return None

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; those of files in other languages than asked for have a fault.

        A file that goes the other way is reversed. Raises DataError for broken XML, and where files
        are in different languages and none are asked for.
        """
        origin = shown(self._path)
        known: tuple[str, str] | None = None
        whole = declared = ("", "")
        direction = 1
        for event, element in self._elements("xliff", "file", "trans-unit", "unit"):
            name = local_name(element)
            if name in ("xliff", "file"):
                if event == "start":
                    # A file without languages of its own has those of all.
                    declared = _inherited(_declared(element), whole)
                    whole = declared if name == "xliff" else whole
                    direction = self._direction(declared, known)
                    if all(declared) and known is None:
                        known = declared
                continue
            if event == "end":
                line = int(element.sourceline or 1)
                read = _segments_2 if name == "unit" else _segments_1
                for source, target, fault in read(element):
                    if direction == 0:
                        yield Pair("", "", origin, line, OTHER_LANGUAGES)
                        continue
                    sides = (source, target) if direction == 1 else (target, source)
                    left, right, unreadable = readable(*sides)
                    yield Pair(left, right, origin, line, fault or unreadable)

    def _elements(self, *names: str) -> Iterator[tuple[str, Element]]:
        return elements(
            self._path,
            root="xliff",
            names=frozenset(names),
            keep_invalid=self._options.keep_invalid,
        )

    def _direction(self, declared: tuple[str, str], known: tuple[str, str] | None) -> int:
        """1 if a file goes as asked, -1 if the other way, 0 if it is in other languages.

        Without a wish the languages that are `known` from a file before are the ones. Raises
        DataError for a file in others.
        """
        asked = self._options.languages
        wanted = asked or known
        if wanted is None:
            return 1
        for direction in (1, -1):
            pairs = zip(wanted[::direction], declared, strict=True)
            # A language that the file does not declare is taken for the one asked for.
            if all(not code or matching(want, [code]) for want, code in pairs):
                return direction
        if asked is None:
            raise DataError(
                f"{shown(self._path)} holds several pairs of languages: "
                f"{'-'.join(wanted)} and {'-'.join(declared)}",
                hint="Say which: --langs SOURCE-TARGET",
            )
        return 0


def _inherited(own: tuple[str, str], outer: tuple[str, str]) -> tuple[str, str]:
    return own[0] or outer[0], own[1] or outer[1]


def _declared(element: Element) -> tuple[str, str]:
    """Languages by the attributes of version 1.2 (file) or 2.0 (xliff)."""
    return (
        element.get("source-language") or element.get("srcLang") or "",
        element.get("target-language") or element.get("trgLang") or "",
    )


def _segments_1(unit: Element) -> Iterator[_Segment]:
    """The segments of a `trans-unit` of version 1.2."""
    (source, *_), targets = children(unit, "source") or [None], children(unit, "target")
    if source is None:
        return
    if not targets:
        yield "", "", NO_TARGET
        return
    unit_fault = fault_of_unit(unit, targets[0])
    cut = children(unit, "seg-source")
    left, right = _marked(cut[0] if cut else source), _marked(targets[0])
    if left and right:
        found = confirmations(unit)
        for source_text, target_text, fault, number in _paired(left, right):
            yield source_text, target_text, unit_fault or fault or found.get(number, "")
        return
    text = text_of(targets[0], codes=_CODES)
    whole = next(iter(confirmations(unit).values()), "") if len(left) < 2 else ""
    yield text_of(source, codes=_CODES), text, unit_fault or ("" if text else NO_TARGET) or whole


def _paired(
    left: list[tuple[str, str]], right: list[tuple[str, str]]
) -> Iterator[tuple[str, str, str, str]]:
    """Source, target, fault and number of segments: by their numbers, or else in order."""
    numbers = [[number for number, _ in side] for side in (left, right)]
    if any(not all(side) or len(set(side)) < len(side) for side in numbers):
        if len(left) != len(right):
            yield "", "", UNEQUAL_SEGMENTS, ""
            return
        for (number, source), (_, target) in zip(left, right, strict=True):
            yield source, target, "" if target else NO_TARGET, number
        return
    targets = dict(right)
    for number, source in left:
        target = targets.pop(number, "")
        yield source, target, "" if target else NO_TARGET, number
    for number, target in targets.items():
        yield "", target, NO_SOURCE, number


def _marked(element: Element) -> list[tuple[str, str]]:
    """Number and text of the segments that `mrk` elements mark."""
    return [
        (mark.get("mid", ""), text_of(mark, codes=_CODES))
        for mark in element.iter()
        if local_name(mark) == "mrk" and mark.get("mtype") == "seg"
    ]


def _segments_2(unit: Element) -> Iterator[_Segment]:
    """The segments of a `unit` of version 2.0."""
    for segment in children(unit, "segment"):
        source, target = (children(segment, name) for name in ("source", "target"))
        text = text_of(target[0], codes=_CODES) if target else ""
        fault = NO_TARGET if not text else ""
        if segment.get("state", attribute(unit, "state")) in OPEN:
            fault = fault or UNTRANSLATED
        yield text_of(source[0], codes=_CODES) if source else "", text, fault
