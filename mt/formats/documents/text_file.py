"""A document that is text: its characters, and how they are written back as the same bytes."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mt.errors import DataError
from mt.files.lines import describe_invalid_utf8
from mt.formats.compressed import read_blocks
from mt.formats.standard_input import shown
from mt.formats.text import CONVERT

_MARKS = (  # the longer ones first: UTF-32 begins as UTF-16 does
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_MOST_BYTES = 1 << 28  # unpacked


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """The text of a file."""

    name: str
    """What messages call it."""
    text: str
    """All of it, line ends as they are, without the byte order mark."""
    encoding: str = "utf-8"
    mark: bytes = b""

    @cached_property
    def newline(self) -> str:
        """What ends most of its lines."""
        return "\r\n" if 2 * self.text.count("\r\n") > self.text.count("\n") else "\n"

    def line_of(self, place: int) -> int:
        """The number of the line of a character, from 1."""
        return bisect_left(self._line_ends, place) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]

    def where(self, place: int) -> str:
        """File and line of a character, for messages."""
        return f"{self.name}:{self.line_of(place)}"

    def encoded(self, text: str) -> bytes:
        """Another text as bytes of this file.

        Raises DataError, with the character, for what the encoding of the file lacks.
        """
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise DataError(
                f"{self.name}: {self.encoding} has no {text[error.start]!r}", hint=CONVERT
            ) from error


def read_text_file(path: Path) -> TextFile:
    """Read a text in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.

    Raises DataError, with the line, for other bytes.
    """
    return decoded(shown(path), read_bytes(path), [])


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked; raises DataError for more than can be held."""
    data = bytearray()
    for block in read_blocks(path):
        data += block
        if len(data) > _MOST_BYTES:
            raise DataError(
                f"{shown(path)} is larger than {_MOST_BYTES >> 20} MiB", hint="Split the file"
            )
    return bytes(data)


def decoded(name: str, data: bytes, further: Sequence[str]) -> TextFile:
    """The text of some bytes: by their mark, else UTF-8, else the first of `further` that fits.

    Raises DataError where none fits, or where the bytes would not come back the same.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(name, data, encoding, mark)
    if b"\0" in data[:64]:
        raise DataError(f"{name} holds NUL, as UTF-16 without a byte order mark", hint=CONVERT)
    for encoding in ("utf-8", *further):
        try:
            return _decoded(name, data, encoding, b"")
        except DataError:
            continue
    return _decoded(name, data, (further or ["utf-8"])[-1], b"")


def _decoded(name: str, data: bytes, encoding: str, mark: bytes) -> TextFile:
    body = data[len(mark) :]
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        start = body.rfind(b"\n", 0, error.start) + 1
        line = body.count(b"\n", 0, error.start) + 1
        what = f"is not {encoding.upper()}: {error.reason}"
        if encoding == "utf-8":
            what = describe_invalid_utf8(body[start:].split(b"\n")[0])
        raise DataError(f"{name}:{line}: {what}", hint=CONVERT) from error
    except (LookupError, UnicodeError) as error:
        raise DataError(f"{name}: {encoding!r} is no known encoding", hint=CONVERT) from error
    if text.encode(encoding) != body:
        raise DataError(
            f"{name} is in {encoding}, in which bytes do not come back the same", hint=CONVERT
        )
    return TextFile(name=name, text=text, encoding=encoding, mark=mark)
