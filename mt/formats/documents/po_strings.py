"""Strings of PO as gettext writes them: escapes, and lines of the width that a file has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mt.formats.po_entries import Entry

_WIDTH = 79  # columns, of gettext
_LEAST_WIDTH = 30
_IDEOGRAPH = r"\u2e80-\u9fff\uff00-\uffef"
_PART = re.compile(rf"[^{_IDEOGRAPH}]+|[{_IDEOGRAPH}][^\w\u2e80-\u9fff]*")
"""What is not cut: a word, or an ideograph with the punctuation behind it."""
_ESCAPES = str.maketrans(
    {
        **{"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"},
        **{"\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v"},
    }
)


def escaped(text: str) -> str:
    """Text as it stands between quotes."""
    return text.translate(_ESCAPES)


@dataclass(frozen=True, kw_only=True)
class Lines:
    """How a file breaks its strings into lines."""

    width: int | None
    """Columns of a line, quotes included; None: they are not wrapped."""
    newline: str

    def written(self, text: str, *, keyword: str, one_line: bool) -> str:
        """The strings that hold `text`, from the first quote to the last, behind their keyword."""
        whole = f'"{escaped(text)}"'
        is_short = self.width is None or _columns(keyword) + 1 + _columns(whole) <= self.width
        if one_line or (is_short and "\n" not in text[:-1]):
            return whole
        pieces: list[str] = []
        for line in re.findall(r"[^\n]*\n|[^\n]+", text):
            pieces += [line] if self.width is None else _wrapped(line, self.width - 2)
        return self.newline.join(f'"{escaped(piece)}"' for piece in ["", *pieces])


def lines_of(text: str, entries: Sequence[Entry], newline: str) -> Lines:
    """The way of a file: 79 columns if its strings can be of that width, else its widest string.

    Where none goes on in the next one, though lines are longer, strings are not wrapped.
    """
    widest, longest, could_be = 0, 0, 1 << 30
    for entry in entries:
        for spans in (entry.id_strings, *entry.strings.values()):
            strings = [text[start:end] for start, end in spans]
            longest = max([longest, *map(_columns, strings)])
            for string, following in pairwise(strings):
                if len(string) > 2 and not string.endswith('\\n"'):
                    widest = max(widest, _columns(string))
                    word = following[1:-1].split(" ")[0]
                    could_be = min(could_be, _columns(string) + _columns(word))
    if not widest:
        return Lines(width=None if longest > _WIDTH + 1 else _WIDTH, newline=newline)
    is_usual = widest <= _WIDTH <= could_be
    return Lines(width=_WIDTH if is_usual else max(widest, _LEAST_WIDTH), newline=newline)


def is_one_line(text: str, entry: Entry, lines: Lines) -> bool:
    """Whether an entry has its msgid on one line that would be wrapped elsewhere."""
    if len(entry.id_strings) != 1:
        return False
    start, end = entry.id_strings[0]
    is_long = lines.width is not None and _columns(text[start:end]) + len("msgid ") > lines.width
    return is_long or "\n" in entry.msgid[:-1]


def _wrapped(line: str, width: int) -> list[str]:
    """A line in pieces of at most `width` columns, cut behind spaces and between ideographs."""
    pieces, current, taken = [], "", 0
    for word in re.findall(r"[ \t]*[^ \t]+[ \t]*|[ \t]+", line):
        for part in _PART.findall(word):
            columns = _columns(escaped(part))
            if current and taken + columns > width:
                pieces.append(current)
                current, taken = "", 0
            current += part
            taken += columns
    return [*pieces, current] if current else pieces


def _columns(text: str) -> int:
    """The columns that text takes in a terminal: two for what is wide."""
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(each) in "WF" else not unicodedata.combining(each)
        for each in text
    )
