"""Plain text with hard line ends: a paragraph is a unit, however many lines it is broken into.

Blank lines, indents and list markers stay. A line that ends long before the others do is the end of
a unit, too: a heading, an address, a verse. For `--paragraphs` only; text is lines elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mt.formats.documents.codes import is_text
from mt.formats.documents.message import Message
from mt.formats.documents.spliced import Span, SplicedDocument
from mt.formats.documents.text_file import read_text_file
from mt.formats.documents.unit import Content, Document, DocumentOptions, Unit
from mt.formats.documents.wrapping import wrapped
from mt.languages import writes_no_spaces

NO_WORDS = "line without words"
_FULL = 0.75  # of the longest line, from which on a line is taken for broken there
_LINE = re.compile(r"[^\r\n]+")
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+•‣–—]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]+|[>|][> |\t]*)?")


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A line that is not blank: its text behind its indent or marker."""

    start: int
    end: int
    prefix: str
    text: str

    @property
    def has_marker(self) -> bool:
        """Whether it begins an item."""
        return bool(self.prefix.strip(" \t>|"))


def read_paragraphs(path: Path, options: DocumentOptions) -> Document:
    """Read a text by paragraphs."""
    file = read_text_file(path)
    between = "" if writes_no_spaces(options.source_language) else " "
    cells = []
    skipped: dict[str, int] = {}
    for lines in _paragraphs(file.text):
        message = Message(between.join(line.text for line in lines))
        if not is_text(message.content):
            skipped[NO_WORDS] = skipped.get(NO_WORDS, 0) + len(lines)
            continue
        unit = Unit(name=f"line {file.line_of(lines[0].start)}", source=message.content)
        writer = _Writer(message, lines, file.newline)
        cells.append(Span(unit, lines[0].start, lines[-1].end, writer.written))
    return SplicedDocument(file, cells, skipped)


def _paragraphs(text: str) -> Iterator[list[_Line]]:
    """The lines of each paragraph."""
    lines: list[_Line] = []
    end = 0
    for found in _LINE.finditer(text):
        if not found[0].strip():
            continue
        is_next = text.count("\n", end, found.start()) <= 1 and lines
        if not is_next and lines:
            yield from _split(lines)
            lines = []
        lines.append(_line(found))
        end = found.end()
    if lines:
        yield from _split(lines)


def _line(found: re.Match[str]) -> _Line:
    marker = _MARKER.match(found[0])
    assert marker is not None
    text = found[0][marker.end() :]
    prefix = marker[0]
    if not text.strip():
        prefix, text = "", found[0]
    start = found.start() + len(prefix)
    return _Line(start=start, end=start + len(text.rstrip()), prefix=prefix, text=text.rstrip())


def _split(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Lines between blank ones as paragraphs."""
    width = max(len(line.prefix) + len(line.text) for line in lines)
    current: list[_Line] = []
    for line in lines:
        if current:
            last = current[-1]
            word = line.text.split(maxsplit=1)[0]
            is_short = len(last.prefix) + len(last.text) + 1 + len(word) < _FULL * width
            if line.has_marker or is_short:
                yield current
                current = []
        current.append(line)
    yield current


class _Writer:
    """How a paragraph is written: on one line if it was, else as wide as it was."""

    def __init__(self, message: Message, lines: list[_Line], newline: str) -> None:
        self._message = message
        self._width = max(len(line.text) for line in lines)
        self._between = newline + lines[1].prefix if len(lines) > 1 else ""

    def written(self, target: Content) -> str:
        """The lines of a target."""
        if not self._between:
            return self._message.written({0: target})
        lines = wrapped(target, self._width)
        return self._between.join(self._message.written({0: line}) for line in lines)
