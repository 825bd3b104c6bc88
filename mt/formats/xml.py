"""Streaming XML for TMX and XLIFF: the only module that imports lxml.

No entity is expanded, no DTD is loaded and nothing is fetched. The encoding is found by the
parser, from the byte order mark or the declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from mt.errors import DataError
from mt.formats.compressed import read_blocks

Element = Any  # lxml's elements carry no types


class _Stream:
    """What lxml reads from: blocks of a file that may be compressed."""

    def __init__(self, path: Path) -> None:
        self._blocks = read_blocks(path)

    def read(self, size: int = -1) -> bytes:
        return next(self._blocks, b"")


def elements(path: Path, *, root: str, names: frozenset[str]) -> Iterator[tuple[str, Element]]:
    """Elements of some local names as they begin ("start") and end ("end"), in document order.

    Yields the pair of event and element. Elements that ended are forgotten when the next one is
    asked for, so that memory stays bounded. Raises DataError, with the line, when the file is not
    well-formed or its root is another element than `root`.
    """
    events = etree.iterparse(
        _Stream(path),
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
    )
    is_first = True
    try:
        for event, element in events:
            if is_first:
                is_first = False
                if local_name(element) != root:
                    raise DataError(f"{path}: not {root.upper()}: its root is {element.tag!r}")
            if local_name(element) in names:
                yield event, element
                if event == "end":
                    _forget(element)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
        raise DataError(f"{path}:{line}: not well-formed XML: {error.msg}") from error


def _forget(element: Element) -> None:
    element.clear(keep_tail=True)
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def local_name(element: Element) -> str:
    """The name of an element without its namespace; empty for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def children(element: Element, name: str) -> list[Element]:
    """The child elements of a local name."""
    return [child for child in element if local_name(child) == name]


def text_of(element: Element, *, codes: frozenset[str]) -> str:
    """The text of an element: markup codes go with their content, other elements stay as text.

    XML's own line breaks and indentation become single spaces.
    """
    return " ".join("".join(_parts(element, codes)).split())


def _parts(element: Element, codes: frozenset[str]) -> Iterator[str]:
    name = local_name(element)
    if name == "cp":  # XLIFF 2: a character that XML cannot hold
        yield _character(element.get("hex", ""))
    elif name and name not in codes:
        yield element.text or ""
        for child in element:
            yield from _parts(child, codes)
            yield child.tail or ""


def _character(code: str) -> str:
    """The character of a hexadecimal code; U+FFFD where there is none."""
    try:
        character = chr(int(code, 16))
    except (ValueError, OverflowError):
        return "\ufffd"
    return "\ufffd" if "\ud800" <= character <= "\udfff" else character
