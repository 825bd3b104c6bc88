"""OpenDocument texts, presentations and spreadsheets: paragraphs of content.xml and headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from mt.errors import DataError
from mt.formats.documents.archive import Archive
from mt.formats.documents.filled import FilledDocument, whole_file
from mt.formats.documents.inline import CLOSING, ISOLATED, OPENING, Coded, Mark, coded, written
from mt.formats.documents.nesting import Paragraphs
from mt.formats.documents.splices import Edit
from mt.formats.documents.unit import CodeForm, DocumentOptions, Unit
from mt.formats.documents.xml_inline import text_parts
from mt.formats.documents.xml_tags import tag_at
from mt.formats.documents.xml_tree import Aside, Element, XmlFile
from mt.formats.kind import Kind
from mt.formats.standard_input import shown
from mt.formats.xml import attribute

_CONTENT, _STYLES = "content.xml", "styles.xml"
_PARAGRAPHS = frozenset({"p", "h"})
_HEADERS = frozenset(
    f"{kind}{page}" for kind in ("header", "footer") for page in ("", "-left", "-first")
)
_STAYS = frozenset({"tracked-changes", "scripts", "forms"})
_PAIRS = frozenset({"span", "a", "meta"})
_BREAKS = frozenset({"line-break", "tab"})
_DROPPED = frozenset({"soft-page-break"})
"""What an office suite notes of pages: it is made anew."""

_RANGE = re.compile(r"([\w-]+)-(start|end)")
_SPACES = re.compile(r"[ \t\r\n]+")


class OpenDocument(FilledDocument):
    """A document of the OpenDocument family; parts without new text stay byte by byte."""

    in_place = True

    def __init__(self, path: Path, options: DocumentOptions, *, kind: Kind) -> None:
        super().__init__()
        self._raw = whole_file(path)
        self._archive = Archive(self._raw, name=shown(path), kind=str(kind))
        if _CONTENT not in self._archive.names:
            raise DataError(f"{shown(path)}: {kind} without {_CONTENT}")
        self._parts: dict[str, XmlFile] = {}
        self._paragraphs: list[tuple[str, Element, Coded]] = []
        for part in (_CONTENT, _STYLES):
            if part in self._archive.names:
                self._read(part)

    def _read(self, part: str) -> None:
        xml = XmlFile(self._archive.read(part), name=f"{self._archive.name} ({part})")
        self._parts[part] = xml
        reader = _Reader(xml)
        roots = [xml.root]
        if part == _STYLES:
            roots = [each for each in xml.root.iter() if each.name in _HEADERS]
        paragraphs = Paragraphs(xml=xml, is_paragraph=_is_paragraph, stays=_stays)
        found = (each for root in roots for each in paragraphs.within(root))
        for number, element in enumerate(found, 1):
            source = coded(_joined_spans(list(reader.stream(element))))
            if not source.has_text:
                continue
            self._paragraphs.append((part, element, source))
            self._units.append(Unit(name=f"{part} {number}", source=source.content))

    def write(self, file: BinaryIO) -> None:
        """Write the document with the targets that were filled."""
        edits: dict[str, list[Edit]] = {}
        for index, filled in self._filled.items():
            part, element, source = self._paragraphs[index]
            parts = written(source.stream(filled.target), text_parts)
            start, end = element.inner
            edits.setdefault(part, []).append(Edit(start=start, end=end, parts=parts))
        changed = {part: self._parts[part].edited(each) for part, each in edits.items()}
        file.write(self._archive.edited(changed) if changed else self._raw)


def _is_paragraph(element: Element) -> bool:
    return element.name in _PARAGRAPHS and ":text:" in element.tag


def _stays(element: Element) -> bool:
    """Whether nothing in an element is translated; a cell that holds a number, for one."""
    return element.name in _STAYS or (element.name.endswith("table-cell") and _is_computed(element))


def _is_computed(cell: Element) -> bool:
    return attribute(cell, "value-type") not in ("", "string") or bool(attribute(cell, "formula"))


class _Reader:
    def __init__(self, xml: XmlFile) -> None:
        self._xml = xml
        self._plain = frozenset(_styles_of_editing(xml.root))

    def stream(self, element: Element) -> Iterator[str | Mark]:
        """Text and marks of a paragraph."""
        for item in element.items:
            if isinstance(item, str):
                yield _SPACES.sub(" ", item)
            elif isinstance(item, Aside):
                yield self._mark(ISOLATED, (item.start, item.end))
            elif item.name in _DROPPED:
                continue
            elif item.name == "span" and attribute(item, "style-name") in self._plain:
                yield from self.stream(item)
            elif item.name in _PAIRS and item.inner_start < item.inner_end:
                key, is_style = f"within {item.start}", item.name == "span"
                yield self._mark(OPENING, item.opening, key, is_element=True, is_style=is_style)
                yield from self.stream(item)
                yield self._mark(CLOSING, item.closing, key, is_element=True, is_style=is_style)
            elif (found := _RANGE.fullmatch(item.name)) is not None:
                form = OPENING if found[2] == "start" else CLOSING
                name = attribute(item, "name") or attribute(item, "change-id")
                yield self._mark(form, item.whole, f"{found[1]} {name}")
            else:
                is_break = item.name in _BREAKS
                is_field = ":text:" in item.tag and not any(item)
                text = _SPACES.sub(" ", item.text) if is_field else ""
                yield self._mark(ISOLATED, item.whole, text=text, is_break=is_break)

    def _mark(
        self,
        form: CodeForm,
        span: tuple[int, int],
        key: str = "",
        *,
        text: str = "",
        is_break: bool = False,
        is_element: bool = False,
        is_style: bool = False,
    ) -> Mark:
        return Mark(
            form=form,
            markup=tag_at(self._xml, span),
            parts=(span,),
            key=key,
            text=text,
            is_break=is_break,
            is_element=is_element,
            is_style=is_style,
        )


def _styles_of_editing(root: Element) -> Iterator[str]:
    """Styles of text that only note in which session it was written."""
    for styles in root:
        for style in styles if styles.name == "automatic-styles" else ():
            names = {key.rpartition("}")[2] for child in style for key in child.attrib}
            is_plain = names == {"rsid"} and not attribute(style, "parent-style-name")
            if is_plain and attribute(style, "family") == "text":
                yield attribute(style, "name")


def _joined_spans(stream: list[str | Mark]) -> list[str | Mark]:
    """A stream in which neighbouring spans of equal tags are one."""
    out: list[str | Mark] = []
    opened: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for item in stream:
        if isinstance(item, Mark) and item.is_element:
            key = renamed.get(item.key, item.key)
            if item.form is OPENING:
                last = out[-1] if out else None
                if _goes_on(item, last, opened):
                    assert isinstance(last, Mark)
                    out.pop()
                    renamed[item.key] = last.key
                    continue
                opened[key] = item.markup
            elif key != item.key:
                item = replace(item, key=key)
        out.append(item)
    return out


def _goes_on(opening: Mark, last: str | Mark | None, opened: dict[str, str]) -> bool:
    """Whether a span begins with the tag of the one that has just ended."""
    if not isinstance(last, Mark) or not last.is_element or last.form is OPENING:
        return False
    is_span = opening.markup.split()[0].rpartition(":")[2] == "span"
    return is_span and opened.get(last.key) == opening.markup
