"""XML as a tree that knows which bytes each element takes, so that others can stay as they are.

The tree is that of the file in UTF-8; `XmlFile.edited` gives it back in the encoding that it had.
Its elements offer what `mt.formats.xml` asks of lxml's: tag, attributes, children, texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.parsers import expat

from mt.errors import DataError
from mt.formats.documents.encoded import encoded_text
from mt.formats.documents.splices import Edit, Span
from mt.formats.xml_text import declared_encoding

MOST_DEPTH = 256
"""Of elements in elements, as libxml2 has it."""

_TAG = re.compile(rb"""<[^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>""")
_ASCII = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["'](?:us-)?ascii["']""", re.I)
_DECLARES = re.compile(r"xmlns(?::|$)")
_XML = "http://www.w3.org/XML/1998/namespace"


class Cdata(str):
    """Text of a CDATA section."""

    __slots__ = ()


class Aside:
    """A comment or a processing instruction."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


class Element:
    """An element: `<a b="c">` is its opening, `</a>` its closing; both are one in `<a/>`."""

    __slots__ = ("attrib", "end", "inner_end", "inner_start", "items", "start", "tag")

    def __init__(self, tag: str, attrib: dict[str, str], start: int, inner_start: int) -> None:
        self.tag, self.attrib = tag, attrib
        self.start, self.inner_start = start, inner_start
        self.inner_end = self.end = inner_start
        self.items: list[str | Element | Aside] = []

    @property
    def name(self) -> str:
        """The name without its namespace."""
        return self.tag.rpartition("}")[2]

    @property
    def opening(self) -> Span:
        """The opening tag; the whole of an empty element."""
        return self.start, self.inner_start

    @property
    def inner(self) -> Span:
        """What is between the tags."""
        return self.inner_start, self.inner_end

    @property
    def closing(self) -> Span:
        """The closing tag; nothing of an empty element."""
        return self.inner_end, self.end

    @property
    def whole(self) -> Span:
        """All of it, with its tags."""
        return self.start, self.end

    def get(self, name: str, default: str = "") -> str:
        """The value of an attribute; of a namespace as `{namespace}name`."""
        return self.attrib.get(name, default)

    def __iter__(self) -> Iterator[Element]:
        return (item for item in self.items if isinstance(item, Element))

    def child(self, *names: str) -> Element | None:
        """The first child of these local names."""
        return next((child for child in self if child.name in names), None)

    def iter(self) -> Iterator[Element]:
        """The element and all within it, in the order of the file."""
        yield self
        for child in self:
            yield from child.iter()

    def itertext(self) -> Iterator[str]:
        """All text within."""
        for item in self.items:
            if isinstance(item, str):
                yield item
            elif isinstance(item, Element):
                yield from item.itertext()

    @property
    def text(self) -> str:
        """All text within, as one."""
        return "".join(self.itertext())


class XmlFile:
    """An XML file: its bytes as UTF-8 and its tree."""

    def __init__(self, raw: bytes, *, name: str) -> None:
        self._encoded = encoded_text(raw, _declared, name=name)
        self.data = self._encoded.data
        self.newline = self._encoded.newline
        self.name = name
        self.root = _Builder(self.data, name).root()

    def raw(self, span: Span) -> str:
        """What stands in a span, as text."""
        return self.data[span[0] : span[1]].decode("utf-8")

    def line(self, element: Element) -> int:
        """The line in which an element begins, from 1."""
        return self.data.count(b"\n", 0, element.start) + 1

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file with edits; characters that its encoding lacks become references."""
        return self._encoded.edited(edits)


def _declared(body: bytes) -> str:
    encoding = declared_encoding(body)
    if encoding == "utf-8-sig":
        return "ascii" if _ASCII.match(body) and body.isascii() else "utf-8"
    return encoding


class _Builder:
    """Makes a tree of what expat reports."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data = data
        self._name = name
        self._root: Element | None = None
        self._open: list[Element] = []
        self._spaces: list[dict[str, str]] = [{"xml": _XML, "": ""}]
        self._text: list[str] = []
        self._in_cdata = False
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.CommentHandler = self._comment
        parser.ProcessingInstructionHandler = self._instruction
        parser.StartCdataSectionHandler = self._begin_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._unknown
        parser.buffer_text = False

    def root(self) -> Element:
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise DataError(f"{self._name}:{error.lineno}: not well-formed XML: {reason}") from None
        assert self._root is not None
        return self._root

    def _fault(self, message: str) -> DataError:
        return DataError(f"{self._name}:{self._parser.CurrentLineNumber}: {message}")

    def _entity(self, *declaration: object) -> None:
        raise self._fault(f"it declares an entity ({declaration[0]}), and none are read")

    def _unknown(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            raise self._fault(f"there is no entity {name}")

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._flush()
        start = self._parser.CurrentByteIndex
        opening = _TAG.match(self._data, start)
        assert opening is not None
        if len(self._open) >= MOST_DEPTH:
            raise self._fault(f"elements are nested more than {MOST_DEPTH} deep")
        spaces = self._spaces[-1]
        own = {key: attributes.pop(key) for key in list(attributes) if _DECLARES.match(key)}
        if own:
            spaces = {**spaces, **{key.partition(":")[2]: value for key, value in own.items()}}
        self._spaces.append(spaces)
        named = {_named(key, spaces, ""): value for key, value in attributes.items()}
        element = Element(_named(tag, spaces, spaces[""]), named, start, opening.end())
        if self._open:
            self._open[-1].items.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._flush()
        element = self._open.pop()
        self._spaces.pop()
        if self._data[element.inner_start - 2 : element.inner_start] != b"/>":
            element.inner_end = self._parser.CurrentByteIndex
            element.end = self._data.index(b">", element.inner_end) + 1

    def _flush(self) -> None:
        if self._text:
            text = "".join(self._text)
            if self._open:
                self._open[-1].items.append(Cdata(text) if self._in_cdata else text)
            self._text.clear()

    def _begin_cdata(self) -> None:
        self._flush()
        self._in_cdata = True

    def _end_cdata(self) -> None:
        self._flush()
        self._in_cdata = False

    def _comment(self, text: str) -> None:
        self._aside(b"-->")

    def _instruction(self, target: str, text: str) -> None:
        self._aside(b"?>")

    def _aside(self, end: bytes) -> None:
        self._flush()
        start = self._parser.CurrentByteIndex
        if self._open:
            close = self._data.index(end, start + 4 if end == b"-->" else start) + len(end)
            self._open[-1].items.append(Aside(start, close))


def _named(name: str, spaces: dict[str, str], default: str) -> str:
    """A name with its namespace; as it is where its prefix is none."""
    prefix, colon, local = name.partition(":")
    space = spaces.get(prefix, "") if colon else default
    return f"{{{space}}}{local if colon else name}" if space else name
