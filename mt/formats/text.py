"""Lines of one text file: LF ends a line, UTF-8 (or UTF-16 that says so), plain or compressed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from mt.errors import DataError
from mt.files.lines import describe_invalid_utf8, split_lines
from mt.formats.compressed import COMPRESSED_SUFFIXES, read_blocks

CONVERT = "Convert the file to UTF-8 (iconv does that)"
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<[?!][^>]*>\s*)*<(tmx|xliff)\b")
_TELLING, _LEAST_TELLING = 64, 8  # bytes at the start by which UTF-16 without a mark is known


def read_lines(
    path: Path, *, keep_invalid: bool = False, hint: str = CONVERT
) -> Iterator[str | None]:
    """Read the lines of `path` without their ends.

    A line that is not UTF-8 raises DataError with file and line and the `hint` what to do; with
    `keep_invalid` it is None.
    """
    for number, line in enumerate(split_lines(_utf8_blocks(path)), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            if not keep_invalid:
                raise DataError(
                    f"{path}:{number}: {describe_invalid_utf8(line)}",
                    hint=hint,
                ) from None
            yield None


def read_escaped_lines(path: Path) -> Iterator[str]:
    """The lines of `path`; bytes that are not UTF-8 become U+DC80 to U+DCFF."""
    for line in split_lines(_utf8_blocks(path)):
        yield line.decode("utf-8", "surrogateescape")


def _utf8_blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a text file; UTF-16 with a byte order mark is turned into UTF-8.

    Raises DataError for UTF-16 that is broken, or lacks the mark and looks like it all the same
    (read as UTF-8, it would be text with a NUL beside each letter), and for TMX and XLIFF under
    the name of plain text.
    """
    blocks = read_blocks(path)
    start = next(blocks, b"")
    while len(start) < _TELLING and (more := next(blocks, b"")):
        start += more
    blocks = chain([start], blocks)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        blocks = _from_utf16(path, blocks)
        start = next(blocks, b"")
        blocks = chain([start], blocks)
    head = start[:_TELLING]
    if len(head) >= _LEAST_TELLING and any(
        not any(head[odd::2]) and all(head[1 - odd :: 2]) for odd in (0, 1)
    ):
        raise DataError(f"{path} looks like UTF-16 without a byte order mark", hint=CONVERT)
    form = _XML.match(start)
    if form:
        name = form[1].decode("ascii")
        raise DataError(f"{path} is {name.upper()}, not plain text", hint=f"Name it .{name}")
    yield from blocks


def _from_utf16(path: Path, blocks: Iterable[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for block in blocks:
            yield decoder.decode(block).encode("utf-8")
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        raise DataError(f"{path} begins as UTF-16, but is broken: {error}") from error


def read_text_lines(path: Path) -> list[str]:
    """All lines of `path`; raises DataError where one is not UTF-8."""
    return [line for line in read_lines(path) if line is not None]


def language_suffix(path: Path) -> str:
    """The last suffix that names no compression, without its dot: train.de.gz -> de."""
    suffixes = [s for s in path.suffixes if s.lower() not in COMPRESSED_SUFFIXES]
    return suffixes[-1][1:].lower() if suffixes else ""
