"""XLIFF 1.2 and 2.0, the exchange format of localisation."""

from __future__ import annotations

from collections.abc import Iterator

from mt.formats.file_reader import FileReader
from mt.formats.options import matching
from mt.formats.pair import NO_TARGET, Pair
from mt.formats.xml import Element, children, elements, local_name, text_of

_CODES = frozenset({"bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "sm", "em"})
_UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})
UNTRANSLATED = "marked as not translated"
OTHER_LANGUAGES = "other languages"


class Xliff(FileReader):
    """A document of translation units. A unit that is cut into segments gives a pair for each.

    Suggestions from memories (alt-trans, matches) are no pairs. Targets whose state says that
    they are not translated yet have a fault.
    """

    @property
    def languages(self) -> tuple[str, str] | None:
        """The languages that the first file in it declares, if it declares both."""
        for _, element in elements(self._path, root="xliff", names=frozenset({"xliff", "file"})):
            source, target = _declared(element)
            if source and target:
                return source, target
            if local_name(element) == "file":
                return None
        return None

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; those of files in other languages than asked for have a fault.

        A file that goes the other way is reversed. Raises DataError for broken XML.
        """
        names = frozenset({"xliff", "file", "trans-unit", "unit"})
        origin = str(self._path)
        declared = ("", "")
        direction = 1
        for event, element in elements(self._path, root="xliff", names=names):
            name = local_name(element)
            if name in ("xliff", "file"):
                if event == "start":
                    found = _declared(element)
                    declared = (found[0] or declared[0], found[1] or declared[1])
                    direction = self._direction(declared)
            elif event == "end":
                line = int(element.sourceline or 1)
                read = _segments_2 if name == "unit" else _segments_1
                for source, target, fault in read(element):
                    if direction == 0:
                        yield Pair("", "", origin, line, OTHER_LANGUAGES)
                    else:
                        left, right = (source, target) if direction == 1 else (target, source)
                        yield Pair(left, right, origin, line, fault)

    def _direction(self, declared: tuple[str, str]) -> int:
        """1 if a file goes as asked, -1 if the other way, 0 if it is in other languages."""
        if self._options.languages is None:
            return 1
        for direction in (1, -1):
            pairs = zip(self._options.languages[::direction], declared, strict=True)
            # A language that the file does not declare is taken for the one asked for.
            if all(not code or matching(want, [code]) for want, code in pairs):
                return direction
        return 0


def _declared(element: Element) -> tuple[str, str]:
    """Languages by the attributes of version 1.2 (file) or 2.0 (xliff)."""
    return (
        element.get("source-language") or element.get("srcLang") or "",
        element.get("target-language") or element.get("trgLang") or "",
    )


def _segments_1(unit: Element) -> Iterator[tuple[str, str, str]]:
    """Source, target and fault of the segments of a `trans-unit` of version 1.2."""
    (source, *_), targets = children(unit, "source") or [None], children(unit, "target")
    if source is None:
        return
    if not targets:
        yield "", "", NO_TARGET
        return
    fault = UNTRANSLATED if targets[0].get("state") in _UNTRANSLATED else ""
    cut = children(unit, "seg-source")
    left, right = _marked(cut[0] if cut else source), _marked(targets[0])
    if left and left.keys() == right.keys():
        for key, text in left.items():
            yield text, right[key], fault or ("" if right[key] else NO_TARGET)
        return
    text = text_of(targets[0], codes=_CODES)
    yield text_of(source, codes=_CODES), text, fault or ("" if text else NO_TARGET)


def _marked(element: Element) -> dict[str, str]:
    """Texts of the segments that `mrk` elements mark, by their mid."""
    return {
        mark.get("mid", ""): text_of(mark, codes=_CODES)
        for mark in element.iter()
        if local_name(mark) == "mrk" and mark.get("mtype") == "seg"
    }


def _segments_2(unit: Element) -> Iterator[tuple[str, str, str]]:
    """Source, target and fault of the segments of a `unit` of version 2.0."""
    for segment in children(unit, "segment"):
        source, target = (children(segment, name) for name in ("source", "target"))
        text = text_of(target[0], codes=_CODES) if target else ""
        fault = NO_TARGET if not text else ""
        if segment.get("state") in _UNTRANSLATED:
            fault = fault or UNTRANSLATED
        yield text_of(source[0], codes=_CODES) if source else "", text, fault
