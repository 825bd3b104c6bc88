"""What a line is, in one place: only LF ends a line, and one CR before it goes with it.

U+2028, U+0085, form feed and the like are text (`str.splitlines` would cut there and shift every
later pair). A missing final LF changes nothing. It knows bytes and lines, not files or languages.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator


def split_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a stream of byte blocks into lines, without their line ends.

    A UTF-8 byte order mark at the very start is not part of the first line.
    """
    rest = b""
    at_start = True
    for block in blocks:
        rest += block
        if at_start:
            if len(rest) < len(codecs.BOM_UTF8) and codecs.BOM_UTF8.startswith(rest):
                continue  # perhaps half a byte order mark
            rest = rest.removeprefix(codecs.BOM_UTF8)
            at_start = False
        *lines, rest = rest.split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest.removesuffix(b"\r")


def describe_invalid_utf8(line: bytes) -> str:
    """Name the first byte of `line` that is not UTF-8, for a message."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{line[error.start]:02x} at position {error.start + 1} is not UTF-8"
    raise ValueError("the line is valid UTF-8")
