"""Word, PowerPoint and Excel documents: a zip file whose XML parts hold paragraphs of runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from mt.formats.documents.archive import Archive
from mt.formats.documents.embedded import embedded
from mt.formats.documents.filled import FilledDocument, whole_file
from mt.formats.documents.inline import Stream
from mt.formats.documents.nesting import Paragraphs
from mt.formats.documents.runs import Paragraph
from mt.formats.documents.splices import Edit
from mt.formats.documents.unit import DocumentOptions, State, Unit
from mt.formats.documents.xml_tags import escaped
from mt.formats.documents.xml_tree import Element, XmlFile
from mt.formats.kind import Kind
from mt.formats.standard_input import shown

_DRAWN = r"charts/chart\d*|d(?:iagrams/data|iagrams/drawing|rawings/drawing)\d*"
_PARTS = {
    Kind.DOCX: rf"word/(document\d*|header\d*|footer\d*|footnotes|endnotes|comments|{_DRAWN})\.xml",
    Kind.PPTX: rf"ppt/(slides/slide\d*|notesSlides/notesSlide\d*|{_DRAWN})\.xml",
    Kind.XLSX: rf"xl/(sharedStrings|worksheets/sheet\d*|comments\d*|{_DRAWN})\.xml",
}
"""The parts that hold text, in the order in which they are read."""

_NUMBER = re.compile(r"\d+")
_ESCAPE = re.compile(r"_x000[AaDd]_")
_STAYS = frozenset({"del", "moveFrom"})


class Office(FilledDocument):
    """A document of the Office Open XML family; parts without new text stay byte by byte."""

    in_place = True

    def __init__(self, path: Path, options: DocumentOptions, *, kind: Kind) -> None:
        super().__init__()
        self._raw = whole_file(path)
        self._archive = Archive(self._raw, name=shown(path), kind=str(kind))
        self._parts: dict[str, XmlFile] = {}
        self._paragraphs: list[tuple[str, Paragraph]] = []
        is_workbook = kind is Kind.XLSX
        self._kept = self._names_of_columns() if is_workbook else frozenset()
        self._split = _split_cell if is_workbook else _split_text
        for part in self._names(re.compile(_PARTS[kind])):
            self._read(part)

    def _names(self, pattern: re.Pattern[str]) -> list[str]:
        """The parts of a pattern: by its alternatives, then by their numbers."""
        alternatives = pattern.pattern.partition("(")[2]

        def rank(name: str) -> tuple[int, int]:
            found = pattern.fullmatch(name)
            assert found is not None
            number = _NUMBER.search(found[1])
            kind = _NUMBER.sub("", found[1]).rpartition("/")[2]
            return alternatives.find(kind), int(number[0]) if number else 0

        return sorted((name for name in self._archive.names if pattern.fullmatch(name)), key=rank)

    def _xml(self, part: str) -> XmlFile:
        return XmlFile(self._archive.read(part), name=f"{self._archive.name} ({part})")

    def _names_of_columns(self) -> frozenset[str]:
        """Texts that formulas and pivot tables name, which would break with them."""
        found = set()
        for part in self._archive.names:
            if re.fullmatch(r"xl/(?:tables/table|pivotCache/pivotCacheDefinition)\d*\.xml", part):
                for element in self._xml(part).root.iter():
                    if element.name in ("tableColumn", "cacheField"):
                        found.add(_ESCAPE.sub("\n", element.get("name")))
        return frozenset(found)

    def _read(self, part: str) -> None:
        xml = self._xml(part)
        self._parts[part] = xml
        paragraphs = Paragraphs(xml=xml, is_paragraph=_is_paragraph, stays=_stays)
        for number, element in enumerate(paragraphs.within(xml.root), 1):
            paragraph = Paragraph(xml, element, self._split)
            if paragraph.source.has_text:
                is_kept = part == "xl/sharedStrings.xml" and element.text in self._kept
                self._paragraphs.append((part, paragraph))
                self._units.append(
                    Unit(
                        name=f"{part} {number}",
                        source=paragraph.source.content,
                        state=State.LOCKED if is_kept else State.EMPTY,
                    )
                )

    def write(self, file: BinaryIO) -> None:
        """Write the document with the targets that were filled."""
        edits: dict[str, list[Edit]] = {}
        for index, filled in self._filled.items():
            part, paragraph = self._paragraphs[index]
            start, end = paragraph.span
            parts = tuple(paragraph.parts(filled.target))
            edits.setdefault(part, []).append(Edit(start=start, end=end, parts=parts))
        changed = {part: self._parts[part].edited(each) for part, each in edits.items()}
        file.write(self._archive.edited(changed) if changed else self._raw)


def _is_paragraph(element: Element) -> bool:
    """Whether an element is a paragraph, or the text of a cell."""
    namespace, _, name = element.tag.rpartition("}")
    if "spreadsheetml" in namespace:
        return name in ("si", "is", "text")
    return name == "p" and ("wordprocessingml" in namespace or "drawingml" in namespace)


def _stays(element: Element) -> bool:
    return element.name in _STAYS


def _split_text(text: str) -> Stream:
    return [text.replace("\n", " ")]


def _split_cell(text: str) -> Stream:
    return embedded(_ESCAPE.sub("\n", text), lambda markup: escaped(markup).encode("utf-8"))
