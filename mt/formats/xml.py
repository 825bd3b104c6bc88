"""Streaming XML for memories and documents of units: the only module that imports lxml.

What the parser reads has been mended before (`mt.formats.xml_text`): there are no entities, and
nothing is loaded or fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from mt.errors import DataError
from mt.formats.compressed import read_blocks
from mt.formats.pair import INVALID
from mt.formats.standard_input import shown
from mt.formats.xml_text import NOT_UTF8, UNREADABLE, mended_blocks

Element = Any  # lxml's elements carry no types

UNREADABLE_CHARACTER = "unreadable character"
"""The fault of a unit with a character that XML forbids, or an entity that no one declared."""


class _Stream:
    """What lxml reads from: blocks of a file that may be compressed."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks

    def read(self, size: int = -1) -> bytes:
        # An empty block is the end to lxml.
        return next((block for block in self._blocks if block), b"")


def elements(
    path: Path, *, root: str | tuple[str, ...], names: frozenset[str], keep_invalid: bool = False
) -> Iterator[tuple[str, Element]]:
    """Elements of some local names as they begin ("start") and end ("end"), in document order.

    Yields the pair of event and element. Elements that ended are forgotten when the next one is
    asked for, so that memory stays bounded. Raises DataError, with the line, when the file is not
    well-formed or its root is another element than `root`.
    """
    blocks = mended_blocks(read_blocks(path), name=shown(path), keep_invalid=keep_invalid)
    yield from elements_of(blocks, name=shown(path), root=root, names=names)


def elements_of(
    blocks: Iterator[bytes], *, name: str, root: str | tuple[str, ...], names: frozenset[str]
) -> Iterator[tuple[str, Element]]:
    """As `elements` does, of blocks in UTF-8."""
    events = etree.iterparse(
        _Stream(blocks),
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=True,  # there are documents within documents; and no entities
        encoding="utf-8",
    )
    is_first = True
    roots = (root,) if isinstance(root, str) else root
    try:
        for event, element in events:
            if is_first:
                is_first = False
                if local_name(element) not in roots:
                    raise DataError(f"{name}: not {roots[0].upper()}: its root is {element.tag!r}")
            if local_name(element) in names:
                yield event, element
                if event == "end":
                    _forget(element)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
        raise DataError(f"{name}:{line}: not well-formed XML: {error.msg}") from error


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


def attribute(element: Element, name: str) -> str:
    """The value of the attribute of a local name, of any namespace; empty where there is none."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return ""


def readable(source: str, target: str) -> tuple[str, str, str]:
    """Both texts, with U+FFFD for what could not be read; and the fault, if there was any."""
    fault = ""
    for mark, name in ((UNREADABLE, UNREADABLE_CHARACTER), (NOT_UTF8, INVALID)):
        if mark in source or mark in target:
            fault = name
            source, target = source.replace(mark, "\ufffd"), target.replace(mark, "\ufffd")
    return source, target, fault


def text_of(
    element: Element, *, codes: frozenset[str], spaces: frozenset[str] = frozenset()
) -> str:
    """The text of an element: markup codes go with their content, other elements stay as text.

    XML's own line breaks and indentation become single spaces, and so do `spaces`, and codes that
    stand for a break or a space.
    """
    return " ".join("".join(_parts(element, codes, spaces)).split())


def _parts(element: Element, codes: frozenset[str], spaces: frozenset[str]) -> Iterator[str]:
    stack: list[Any] = [element]  # elements and texts; not by recursion, since nesting may be deep
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        name = local_name(item)
        if name == "cp":  # XLIFF 2: a character that XML cannot hold
            yield _character(item.get("hex", ""))
        elif name in spaces:
            yield " "
        elif name in codes:
            yield " " if is_break(item) else ""
        elif name:
            edge = " " if item is not element and is_break(item, with_content=False) else ""
            within = [edge, item.text or ""]
            for child in item:
                within += [child, child.tail or ""]
            stack += reversed([*within, edge])


_TYPES = re.compile(
    r"(?:^|[-:_.])(?:lb|pb|br|tab|nbsp|space|newline|line-?break|break|p|li|td|tr|th|div|h[1-6])$",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"^(?:LINE_BREAK|HORIZONTAL_RULE|(?:START|CLOSE)_(?:PARAGRAPH|HEADING_LEVEL\d|LIST_ITEM|"
    r"\w*_LIST|TABLE\w*|BLOCK\w*|TAG_(?:P|DIV|LI|TD|TH|TR|BR|SECTION|H\d)))(?:_\d+)?$"
)
_CONTENT = re.compile(
    r"</?(?:br|p|div|li|ul|ol|dl|dd|dt|td|th|tr|table|h[1-6]|hr|section|article|blockquote|"
    r"w:br|w:cr|w:tab|w:p|a:br|text:(?:line-break|tab|s|p)|tab|lb|:hr|:hs|:t)(?![\w:-])"
    r"|&(?:nbsp|ensp|emsp|thinsp|#160|#xa0|#10|#13|#9|#xa|#xd);"
    r"|\\[nrt](?![a-z])|\\(?:line|par|pard|tab|page|cell|row|~)(?![a-z])",
    re.IGNORECASE,
)


def is_break(code: Element, *, with_content: bool = True) -> bool:
    """Whether a code stands for a break or a space, by its type, its name or what it holds."""
    for name in ("ctype", "type", "subType"):
        if _TYPES.search(code.get(name, "")):
            return True
    for name in ("id", "equiv", "equivStart", "equivEnd"):
        if _NAMES.search(code.get(name, "")):
            return True
    held = [
        code.get(name, "")
        for name in ("equiv-text", "equiv", "disp", "dispStart", "dispEnd", "equivStart")
    ]
    if with_content:
        held.append("".join(code.itertext()))
    return any(text and (not text.strip() or _CONTENT.search(text)) for text in held)


def _character(code: str) -> str:
    """The character of a hexadecimal code; U+FFFD where there is none."""
    try:
        character = chr(int(code, 16))
    except (ValueError, OverflowError):
        return "\ufffd"
    return "\ufffd" if "\ud800" <= character <= "\udfff" else character
