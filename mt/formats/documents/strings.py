"""Strings files of Apple (.strings): the values are replaced; keys, comments and order stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.message import Message
from mt.formats.documents.message_cell import MessageCell
from mt.formats.documents.spliced import SplicedDocument
from mt.formats.documents.text_file import TextFile, read_text_file
from mt.formats.documents.unit import Document, DocumentOptions
from mt.formats.documents.values import reason_against

_TOKEN = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<word>(?!/[*/])[\w.$/:-]+)'
    r"|(?P<sign>[=;])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[uU]([0-9a-fA-F]{4})|([0-7]{1,3})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_Token = tuple[str, int, int]
"""Its text, start and end."""


def read_strings(path: Path, options: DocumentOptions) -> Document:
    """Read strings; raises DataError, with the line, for broken syntax."""
    file = read_text_file(path)
    found = re.search(r"\\([uU])[0-9a-fA-F]{4}", file.text)
    escape = found[1] if found and file.text.isascii() else ""
    cells = []
    skipped: dict[str, int] = {}
    for (key, _, _), (raw, start, end) in _entries(file):
        if not raw.startswith('"'):
            raw = f'"{raw}"'
        text = _unescaped(raw[1:-1])
        reason = reason_against(text)
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        name = _unescaped(key.strip('"'))
        write = _Writer(escape, "\n" in raw, file.newline).written
        cells.append(MessageCell(name, Message(text), start, end, write))
    return SplicedDocument(file, cells, skipped)


def _entries(file: TextFile) -> Iterator[tuple[_Token, _Token]]:
    """Keys and values; a key that is its own value (`"key";`) is none."""
    found: list[_Token] = []
    place = 0
    while place < len(file.text):
        token = _TOKEN.match(file.text, place)
        if token is None:
            what = file.text[place : place + 30]
            raise DataError(f"{file.where(place)}: broken .strings syntax at {what!r}")
        place = token.end()
        if token.lastgroup == "space":
            continue
        kind = token[0] if token.lastgroup == "sign" else "string"
        if kind == ";" and len(found) == 1:
            found = []
            continue
        if kind != ("string", "=", "string", ";")[len(found)]:
            raise DataError(
                f"{file.where(token.start())}: broken .strings syntax at {token[0][:30]!r}",
                hint='Entries are "key" = "value";',
            )
        found.append((token[0], *token.span()))
        if kind == ";":
            yield found[0], found[2]
            found = []
    if found:
        raise DataError(f"{file.where(found[0][1])}: an entry that does not end with ;")


def _unescaped(raw: str) -> str:
    def character(escape: re.Match[str]) -> str:
        unicode, octal, other = escape.groups()
        if other is not None:
            return _SIMPLE.get(other, other)
        return chr(int(unicode, 16) if unicode else int(octal, 8))

    text = _ESCAPE.sub(character, raw)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class _Writer:
    """How a value is written in the place of another."""

    def __init__(self, escape: str, keeps_lines: bool, newline: str) -> None:
        """`escape`: u or U where characters beyond ASCII are written by their numbers."""
        self._escape = escape
        self._keeps_lines = keeps_lines
        self._newline = newline

    def written(self, text: str) -> str:
        """A value with its quotes."""
        text = text.replace("\\", "\\\\").replace('"', '\\"')
        if self._keeps_lines:
            text = text.replace("\r\n", "\n").replace("\n", self._newline)
        else:
            text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        if self._escape:
            text = "".join(each if each.isascii() else self._escaped(each) for each in text)
        return f'"{text}"'

    def _escaped(self, character: str) -> str:
        data = character.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\{self._escape}{data[i : i + 2].hex()}" for i in range(0, len(data), 2))
