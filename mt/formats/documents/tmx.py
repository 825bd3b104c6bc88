"""TMX as documents: units that lack the target language get it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.filled import WITHOUT_TEXT, Filled, XmlDocument
from mt.formats.documents.inline import Coded, coded, text_of, written
from mt.formats.documents.splices import Edit, Part
from mt.formats.documents.unit import DocumentOptions, State, Unit
from mt.formats.documents.xml_inline import InlineReader, text_parts
from mt.formats.documents.xml_tags import indent_before, quoted, with_content
from mt.formats.documents.xml_tree import Element
from mt.formats.options import matching
from mt.formats.xml import attribute

_WITHOUT_SOURCE = "without a source"
_REVIEW = "needs-review-translation"
_STATE = "x-state"


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a unit has its source and its target."""

    source: Coded
    variant: Element
    segment: Element
    target: Element | None
    """The variant of the target language."""
    last: Element
    """The last variant of the unit."""


class Tmx(XmlDocument):
    """A translation memory. The format has no states: a property says what is to be reviewed."""

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        super().__init__(path, root="tmx")
        self._places: list[_Place] = []
        self._reader = InlineReader(self._xml, self._skipped)
        units = [element for element in self._xml.root.iter() if element.name == "tu"]
        header = self._xml.root.child("header")
        declared = header.get("srclang") if header is not None else ""
        self._source = options.source_language or (declared if declared != "*all*" else "")
        self._target = options.target_language or self._other_language(units)
        if not self._target:
            raise DataError(f"{self._xml.name}: it is not known which language to translate into")
        for number, unit in enumerate(units, 1):
            self._read(unit, attribute(unit, "tuid") or str(number))
        if units and not self._units and self._skipped[_WITHOUT_SOURCE] == len(units):
            raise DataError(f"{self._xml.name} holds nothing in {self._source}")

    def _other_language(self, units: list[Element]) -> str:
        """The language beside the source, where the first unit holds just two."""
        for unit in units:
            codes = [_language(variant) for variant in _variants(unit)]
            sources = matching(self._source or codes[0], codes) if codes else []
            if len(codes) == 2 and sources:
                return codes[1 - sources[0]]
            break
        return ""

    def _read(self, unit: Element, name: str) -> None:
        variants = _variants(unit)
        codes = [_language(variant) for variant in variants]
        wanted = self._source or unit.get("srclang") or next(iter(codes), "")
        sources = matching(wanted, codes)
        targets = [i for i in matching(self._target, codes) if i not in sources[:1]]
        segment = variants[sources[0]].child("seg") if sources else None
        if segment is None:
            self._skipped[_WITHOUT_SOURCE] += 1
            return
        source = coded(self._reader.stream(segment, keeps_spaces=False))
        if not text_of(source.content).strip():
            self._skipped[WITHOUT_TEXT] += 1
            return
        place = _Place(
            source=source,
            variant=variants[sources[0]],
            segment=segment,
            target=variants[targets[0]] if targets else None,
            last=variants[-1],
        )
        held = place.target.child("seg") if place.target is not None else None
        target = coded(self._reader.stream(held, keeps_spaces=False)).content if held else ()
        state = State.EMPTY
        if text_of(target).strip() and place.target is not None:
            state = State.DOUBTFUL if _is_marked(place.target) else State.FILLED
        self._places.append(place)
        self._units.append(
            Unit(name=name, source=source.content, target=target or None, state=state)
        )

    def _edits(self) -> Iterator[Edit]:
        for index, filled in self._filled.items():
            place = self._places[index]
            inner = written(place.source.stream(filled.target), text_parts)
            held = place.target.child("seg") if place.target is not None else None
            if place.target is None or held is None:
                yield self._new_variant(place, inner, filled)
                continue
            parts = with_content(self._xml.raw(held.opening), inner)
            if filled.marked and not _is_marked(place.target):
                parts = (_property(), indent_before(self._xml, held), *parts)
            yield Edit(start=held.start, end=held.end, parts=parts)
            if not filled.marked:
                for each in _marks(place.target):
                    start = each.start - len(indent_before(self._xml, each))
                    yield Edit(start=start, end=each.end, parts=())

    def _new_variant(self, place: _Place, inner: tuple[Part, ...], filled: Filled) -> Edit:
        name = "xml:lang" if "lang" not in place.variant.attrib else "lang"
        indent = indent_before(self._xml, place.variant)
        within = indent_before(self._xml, place.segment)
        mark = (within, _property()) if filled.marked else ()
        end = indent if within else b""
        opening = f"<tuv {name}={quoted(self._target)}>".encode()
        parts = (
            *(indent, opening, *mark, within, b"<seg>"),
            *(*inner, b"</seg>", end, b"</tuv>"),
        )
        return Edit(start=place.last.end, end=place.last.end, parts=parts)


def _variants(unit: Element) -> list[Element]:
    return [child for child in unit if child.name == "tuv"]


def _language(variant: Element) -> str:
    return attribute(variant, "lang")


def _property() -> bytes:
    return f'<prop type="{_STATE}">{_REVIEW}</prop>'.encode()


def _marks(variant: Element) -> list[Element]:
    return [
        child
        for child in variant
        if child.name == "prop" and child.get("type") == _STATE and child.text == _REVIEW
    ]


def _is_marked(variant: Element) -> bool:
    return bool(_marks(variant))
