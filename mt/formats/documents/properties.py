r"""Java properties: the values are replaced; keys, separators, comments and order stay.

A file that is UTF-8 with further characters is written in them; one in ISO-8859-1 or ASCII has
`\uXXXX` for what it lacks, as Java reads both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.message import Message
from mt.formats.documents.message_cell import MessageCell
from mt.formats.documents.spliced import SplicedDocument
from mt.formats.documents.text_file import TextFile, decoded, read_bytes
from mt.formats.documents.unit import Document, DocumentOptions
from mt.formats.documents.values import reason_against
from mt.formats.standard_input import shown

_LINE = re.compile(
    r"[ \t\f]*(?:[#!][^\r\n]*|(?P<key>(?:[^ \t\f\r\n\\:=]|\\(?:\r\n?|.|\n))*)"
    r"[ \t\f]*(?:[:=][ \t\f]*)?(?P<value>(?:[^\\\r\n]|\\(?:\r\n?|.|\n|\Z))*))(?:\r\n?|\n|\Z)"
)
_CONTINUED = re.compile(r"(\\(?:\r\n?|\n)[ \t\f]*)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(?:\r\n?|\n)[ \t\f]*|(.|\Z))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_WRITTEN = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f"}
_ARGUMENT = re.compile(r"\{\d+\s*[,}]")
_LONE_QUOTE = re.compile(r"(?<!')'(?!')")


@dataclass(frozen=True, kw_only=True)
class _Entry:
    key: str
    raw: str
    """The value as it is written."""
    start: int
    end: int


def read_properties(path: Path, options: DocumentOptions) -> Document:
    """Read properties; raises DataError, with the line, for escapes that are broken."""
    file = decoded(shown(path), read_bytes(path), ["iso-8859-1"])
    cells = []
    skipped: dict[str, int] = {}
    characters = _Characters(file)
    for entry in _entries(file):
        text = _unescaped(entry.raw, file, entry.start)
        reason = reason_against(text)
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        value = _Value(characters, entry.raw, text)
        message = Message(value.text, is_icu=True)
        cells.append(MessageCell(entry.key, message, entry.start, entry.end, value.written))
    return SplicedDocument(file, cells, skipped)


def _entries(file: TextFile) -> Iterator[_Entry]:
    place = 0
    while place < len(file.text):
        line = _LINE.match(file.text, place)
        assert line is not None
        if line["key"] or line["value"]:
            key = _unescaped(line["key"], file, line.start("key"))
            yield _Entry(
                key=key, raw=line["value"], start=line.start("value"), end=line.end("value")
            )
        place = line.end()


def _unescaped(raw: str, file: TextFile, place: int) -> str:
    if "\\" not in raw:
        return raw

    def character(escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1], 16))
        if escape[2] == "u":
            where = file.where(place + escape.start())
            raise DataError(f"{where}: \\u without four hexadecimal digits")
        return _SIMPLE.get(escape[2], escape[2]) if escape[2] else ""

    text = _ESCAPE.sub(character, raw)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class _Value:
    """A value, and how a new one is written in its place."""

    def __init__(self, characters: _Characters, raw: str, text: str) -> None:
        self._characters = characters
        self._escaped = {each for each in ":=#!" if f"\\{each}" in raw}
        lines = _CONTINUED.split(raw)
        self._continued = lines[1] if len(lines) > 1 else ""
        """What joins the lines of a value that goes on over several."""
        self._width = max(map(len, lines[::2]))
        self._breaks_at_line_ends = bool(re.search(r"\\n\\(?:\r|\n)", raw))
        # With arguments ({0}) it is read by MessageFormat, for which two apostrophes are one.
        self._is_format = bool(_ARGUMENT.search(text)) and not _LONE_QUOTE.search(text)
        self.text = text.replace("''", "'") if self._is_format else text

    def written(self, text: str) -> str:
        """A value as the file has it."""
        if self._is_format:
            text = text.replace("'", "''")
        escaped = "".join(
            f"\\{each}" if each in self._escaped else self._characters.written(each)
            for each in text
        )
        if escaped.startswith(" "):
            escaped = f"\\{escaped}"
        return self._on_lines(escaped) if self._continued else escaped

    def _on_lines(self, escaped: str) -> str:
        lines = [""]
        for word in re.findall(r"\\[ ]|(?:[^ \\]|\\.)+ *| +", escaped):
            ends = self._breaks_at_line_ends and lines[-1].endswith("\\n")
            if lines[-1] and (ends or len(lines[-1]) + len(word.rstrip()) > self._width):
                lines.append("")
            lines[-1] += word
        # A line must not begin with a space: it would be lost.
        first, *others = lines
        return self._continued.join([first, *(re.sub("^ ", r"\\ ", line) for line in others)])


class _Characters:
    """How a file writes characters."""

    def __init__(self, file: TextFile) -> None:
        self._is_upper = bool(re.search(r"\\u[0-9a-fA-F]*[A-F]", file.text))
        self._last = 0xFF if file.encoding == "iso-8859-1" else 0x10FFFF
        """The last one that is written as it is, not by its number."""
        if file.text.isascii() and not file.mark:
            self._last = 0x7E

    def written(self, each: str) -> str:
        """A character, or its escape."""
        simple = _WRITTEN.get(each)
        if simple:
            return simple
        if each >= " " and ord(each) <= self._last:
            return each
        data = each.encode("utf-16-be", "surrogatepass")
        units = [data[i : i + 2].hex() for i in range(0, len(data), 2)]
        return "".join(f"\\u{unit.upper() if self._is_upper else unit}" for unit in units)
