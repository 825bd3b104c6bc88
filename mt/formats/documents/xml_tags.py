"""Tags and text of XML as they are written."""

from __future__ import annotations

import re

from mt.formats.documents.splices import Part, Span
from mt.formats.documents.xml_tree import Element, XmlFile

_LONGEST_TAG, _SHOWN = 2000, 100  # characters, for messages
_TAG = re.compile(r"""<[^"'>!?]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>""")
_NAME = re.compile(r"<([^\s/>]+)")
_ATTRIBUTE = re.compile(r"""(\s+)([^\s=/>]+)(\s*=\s*)("[^"]*"|'[^']*')""")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escaped(text: str) -> str:
    """Text as XML holds it; U+FFFD in the place of characters that it forbids."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")
    return _FORBIDDEN.sub("\ufffd", text.replace("\r", "&#13;"))


def quoted(value: str) -> str:
    """A value of an attribute with its quotes."""
    value = escaped(value).replace('"', "&quot;").replace("\t", "&#9;").replace("\n", "&#10;")
    return f'"{value}"'


def with_attribute(tag: str, name: str, value: str | None) -> str:
    """An opening tag with an attribute set, or without it where there is no value."""
    found = next((each for each in _ATTRIBUTE.finditer(tag) if each[2] == name), None)
    if found is None:
        if value is None:
            return tag
        end = len(tag) - (2 if tag.endswith("/>") else 1)
        return f"{tag[:end].rstrip()} {name}={quoted(value)}{tag[end:]}"
    new = "" if value is None else f"{found[1]}{name}{found[3]}{quoted(value)}"
    return tag[: found.start()] + new + tag[found.end() :]


def name_of(tag: str) -> str:
    """The name of an opening tag, as it is written."""
    found = _NAME.match(tag)
    assert found is not None
    return found[1]


def tag_at(xml: XmlFile, span: Span) -> str:
    """The tag, or the beginning of what else, a span begins with."""
    found = _TAG.match(xml.raw((span[0], min(span[1], span[0] + _LONGEST_TAG))))
    return found[0] if found else xml.raw((span[0], min(span[1], span[0] + _SHOWN)))


def with_content(opening: str, inner: tuple[Part, ...]) -> tuple[Part, ...]:
    """A whole element with an opening tag and what is to be within it."""
    tag = opening.removesuffix(">").removesuffix("/").rstrip()
    return f"{tag}>".encode(), *inner, f"</{name_of(opening)}>".encode()


def prefixed(xml: XmlFile, beside: Element, name: str) -> str:
    """A name with the prefix of an element beside which it is to stand."""
    prefix, colon, _ = name_of(xml.raw(beside.opening)).partition(":")
    return f"{prefix}:{name}" if colon else name


def indent_before(xml: XmlFile, element: Element) -> bytes:
    """The line break and the white space before an element that stands on a line of its own."""
    end = element.start
    start = end
    while start and xml.data[start - 1 : start] in (b" ", b"\t"):
        start -= 1
    if start and xml.data[start - 1 : start] == b"\n":
        start -= 2 if xml.data[start - 2 : start] == b"\r\n" else 1
        return xml.data[start:end]
    return b""
