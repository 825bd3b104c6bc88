"""String resources of Android: strings, arrays and plurals, filled in the place of the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mt.formats.documents.embedded import BREAKS, embedded
from mt.formats.documents.filled import XmlDocument
from mt.formats.documents.inline import (
    CLOSING,
    ISOLATED,
    OPENING,
    Coded,
    Mark,
    coded,
    has_letters,
    written,
)
from mt.formats.documents.splices import Edit, Part
from mt.formats.documents.unit import CodeForm, DocumentOptions, State, Unit
from mt.formats.documents.xml_tags import escaped
from mt.formats.documents.xml_tree import Aside, Cdata, Element

_REFERENCES = "references"
_OTHERS = "resources that are no strings"
_REFERENCE = re.compile(r"\s*[@?](?:\+?[\w.]+:)?\w+/[\w.:]+\s*|\s*@(?:null|empty)\s*")
_PIECE = re.compile(r'\\u([0-9a-fA-F]{4})|\\(.)|(")|(\s+)', re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class _Place:
    element: Element
    source: Coded
    is_quoted: bool
    """White space stands within quotation marks."""
    is_cdata: bool


class Android(XmlDocument):
    """A file of resources; the plural categories that it has are kept."""

    in_place = True

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        super().__init__(path, root="resources")
        self._places: list[_Place] = []
        locked = _is_locked(self._xml.root)
        for child in self._xml.root:
            name = child.get("name")
            if child.name == "string" or (child.name == "item" and child.get("type") == "string"):
                self._read(child, name, locked)
            elif child.name in ("string-array", "plurals"):
                items = [item for item in child if item.name == "item"]
                for number, item in enumerate(items):
                    key = item.get("quantity") or str(number)
                    self._read(item, f"{name} {key}", locked or _is_locked(child))
            elif has_letters(child.text):
                self._skipped[_OTHERS] += 1

    def _read(self, element: Element, name: str, is_locked: bool) -> None:
        if _REFERENCE.fullmatch(element.text):
            self._skipped[_REFERENCES] += 1
            return
        reader = _Reader(self._xml.raw, self._xml.newline)
        texts = [item for item in element.items if isinstance(item, str) and item.strip()]
        is_cdata = bool(texts) and all(isinstance(each, Cdata) for each in texts)
        if is_cdata and len(texts) == 1 and not any(element):
            items: list[str | Element | Aside] = [texts[0]]
        else:
            items, is_cdata = element.items, False
        source = coded(list(reader.stream(items, is_cdata=is_cdata)))
        if not source.has_text:
            return
        self._places.append(
            _Place(element=element, source=source, is_quoted=reader.has_quotes, is_cdata=is_cdata)
        )
        state = State.LOCKED if is_locked or _is_locked(element) else State.EMPTY
        self._units.append(Unit(name=name, source=source.content, state=state))

    def _edits(self) -> Iterator[Edit]:
        for index, filled in self._filled.items():
            place = self._places[index]
            writer = _Writer(place)
            parts = written(place.source.stream(filled.target), writer.text_parts)
            if place.is_cdata:
                parts = (b"<![CDATA[", *parts, b"]]>")
            start, end = place.element.inner
            yield Edit(start=start, end=end, parts=parts)


class _Reader:
    """Reads one string; quotation marks go on through the elements in it."""

    def __init__(self, raw: Callable[[tuple[int, int]], str], newline: bytes) -> None:
        self._raw = raw
        self._newline = newline
        self._in_quotes = False
        self.has_quotes = False

    def stream(self, items: list[str | Element | Aside], *, is_cdata: bool) -> Iterator[str | Mark]:
        """Text and marks of the pieces of an element."""
        encode = _cdata if is_cdata else _escaped
        for item in items:
            if isinstance(item, str):
                for piece in embedded(item, encode, newline=None):
                    if isinstance(piece, str):
                        yield from self._text(piece)
                    else:
                        yield piece
            elif isinstance(item, Aside):
                yield self._mark(ISOLATED, (item.start, item.end))
            elif item.name == "g" or item.inner_start == item.inner_end:
                text = item.text if item.name == "g" else ""
                yield self._mark(ISOLATED, item.whole, text=text, name=item.name)
            else:
                key = f"element {item.start}"
                yield self._mark(OPENING, item.opening, key, name=item.name)
                yield from self.stream(item.items, is_cdata=False)
                yield self._mark(CLOSING, item.closing, key)

    def _text(self, text: str) -> Iterator[str | Mark]:
        place = 0
        for found in _PIECE.finditer(text):
            yield text[place : found.start()]
            place = found.end()
            code, escape, quote, space = found.groups()
            if quote:
                self._in_quotes = not self._in_quotes
                self.has_quotes = True
            elif space:
                yield from self._space(space)
            elif code:
                character = chr(int(code, 16))
                is_half = "\ud800" <= character <= "\udfff"
                yield self._escape(found[0]) if is_half else character
            elif escape in "nt":
                yield self._escape(found[0], is_break=True)
            else:
                yield escape
        yield text[place:]

    def _space(self, space: str) -> Iterator[str | Mark]:
        if not self._in_quotes:
            yield " "
            return
        for index, line in enumerate(space.split("\n")):
            if index:
                yield Mark(form=ISOLATED, markup="\n", parts=(self._newline,), is_break=True)
            yield line

    def _escape(self, markup: str, *, is_break: bool = False) -> Mark:
        return Mark(
            form=ISOLATED, markup=markup, parts=(markup.encode("utf-8"),), is_break=is_break
        )

    def _mark(
        self,
        form: CodeForm,
        span: tuple[int, int],
        key: str = "",
        *,
        text: str = "",
        name: str = "",
    ) -> Mark:
        return Mark(
            form=form,
            markup=self._raw(span),
            parts=(span,),
            key=key,
            text=text,
            is_break=name in BREAKS,
            is_element=bool(key),
        )


class _Writer:
    """Writes the texts of one string."""

    def __init__(self, place: _Place) -> None:
        self._place = place
        self._is_first = True

    def text_parts(self, text: str) -> tuple[Part, ...]:
        """A text with Android's escapes."""
        out = text.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'")
        out = out.replace("\n", "\\n").replace("\t", "\\t").replace("\u00a0", "\\u00A0")
        if self._is_first and out.startswith(("@", "?")):
            out = f"\\{out}"
        self._is_first = False
        if self._place.is_quoted or "  " in out:
            out = f'"{out}"'
        return ((_cdata if self._place.is_cdata else _escaped)(out),)


def _is_locked(element: Element) -> bool:
    return element.get("translatable") == "false"


def _escaped(text: str) -> bytes:
    return escaped(text).encode("utf-8")


def _cdata(text: str) -> bytes:
    """Text in a CDATA section, which its end must not stand in."""
    return text.replace("]]>", "]]]]><![CDATA[>").encode("utf-8")
