"""Lines of one text file: LF ends a line, UTF-8 (or UTF-16 that says so), plain or compressed."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from mt.errors import DataError
from mt.files.lines import describe_invalid_utf8, split_lines
from mt.formats.compressed import COMPRESSED_SUFFIXES, read_blocks, unpacked
from mt.formats.kind import (
    HEAD,
    Kind,
    encoding_by_mark,
    is_code_too,
    is_form,
    kind_of_name,
    kind_of_start,
    may_be_mark,
)
from mt.formats.standard_input import blocks_of_descriptor, is_standard_input, shown

CONVERT = "Convert the file to UTF-8 (iconv does that)"
_ONE_A_LINE = "Give plain text, one segment a line"
_TELLING, _LEAST_TELLING = 64, 8  # bytes at the start by which UTF-16 without a mark is known


def read_lines(
    path: Path, *, keep_invalid: bool = False, hint: str = CONVERT, is_plain: bool = True
) -> Iterator[str | None]:
    """Read the lines of `path` without their ends; `-` is standard input.

    A line that is not UTF-8 raises DataError with file and line and the `hint` what to do; with
    `keep_invalid` it is None. With `is_plain` so does a file that is no plain text.
    """
    if is_plain:
        require_plain(path)
    for number, line in enumerate(split_lines(text_blocks(path, is_plain=is_plain)), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            if not keep_invalid:
                raise DataError(
                    f"{shown(path)}:{number}: {describe_invalid_utf8(line)}",
                    hint=hint,
                ) from None
            yield None


def read_escaped_lines(path: Path) -> Iterator[str]:
    """The lines of `path`, of any kind; bytes that are not UTF-8 become U+DC80 to U+DCFF."""
    for line in split_lines(text_blocks(path, is_plain=False)):
        yield line.decode("utf-8", "surrogateescape")


def require_plain(path: Path, *, hint: str = _ONE_A_LINE) -> None:
    """Raise DataError for a file whose name says that it is no plain text."""
    kind = kind_of_name(path)
    # What is named like a language may be that; the bytes tell.
    if kind is not Kind.TEXT and not is_code_too(path):
        raise no_plain_text(shown(path), kind, hint)


def no_plain_text(name: str, kind: Kind, hint: str = _ONE_A_LINE) -> DataError:
    """The error for a file that is something else."""
    return DataError(f"{name} is {kind}, not plain text", hint=hint)


def text_blocks(
    path: Path,
    *,
    is_plain: bool = True,
    hint: str = _ONE_A_LINE,
    listener: Callable[[int], object] = lambda num_bytes: None,
) -> Iterator[bytes]:
    """The bytes of a text file in UTF-8; `listener` hears of the bytes of the file itself."""
    blocks = read_blocks(path, listener=listener)
    return utf8_blocks(blocks, name=shown(path), is_plain=is_plain, hint=hint)


def live_blocks(
    descriptor: int,
    *,
    is_plain: bool,
    hint: str,
    listener: Callable[[int], object] = lambda num_bytes: None,
) -> Iterator[bytes]:
    """The bytes of standard input in UTF-8, as they come: what is there is handed on at once."""

    def counted() -> Iterator[bytes]:
        for block in blocks_of_descriptor(descriptor):
            listener(len(block))
            yield block

    blocks = unpacked(counted(), name="standard input")
    return utf8_blocks(blocks, name="standard input", is_plain=is_plain, hint=hint, waits=False)


def utf8_blocks(
    blocks: Iterable[bytes],
    *,
    name: str,
    is_plain: bool,
    hint: str = _ONE_A_LINE,
    waits: bool = True,
) -> Iterator[bytes]:
    """Blocks of a text in UTF-8; UTF-16 and UTF-32 with a byte order mark are turned into it.

    Raises DataError for UTF-16 that is broken, or lacks the mark and looks like it all the same
    (read as UTF-8, it would be text with a NUL beside each letter), and with `is_plain` for what is
    no plain text by its first bytes. Those are waited for if it `waits`.
    """
    blocks = iter(blocks)
    start = next(blocks, b"")
    while (len(start) < HEAD if waits else may_be_mark(start)) and (more := next(blocks, b"")):
        start += more
    whole: Iterator[bytes] = chain([start] if start else [], blocks)
    encoding = encoding_by_mark(start)
    head = start[:_TELLING]
    if encoding is not None:
        whole = _recoded(name, whole, encoding)
    elif len(head) >= _LEAST_TELLING and any(
        not any(head[odd::2]) and all(head[1 - odd :: 2]) for odd in (0, 1)
    ):
        raise DataError(f"{name} looks like UTF-16 without a byte order mark", hint=CONVERT)
    if is_plain:
        kind = kind_of_start(start)
        if kind is not None:
            raise no_plain_text(name, kind, hint)
    yield from whole


def _recoded(name: str, blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in blocks:
            yield decoder.decode(block).encode("utf-8")
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        shown_as = encoding.upper()
        raise DataError(f"{name} begins as {shown_as}, but is broken: {error}") from error


def read_text_lines(path: Path) -> list[str]:
    """All lines of `path`; raises DataError where one is not UTF-8, or for no plain text."""
    return [line for line in read_lines(path) if line is not None]


def language_suffix(path: Path) -> str:
    """The last suffix that names neither a packing nor a form, without its dot.

    train.de.gz -> de, film.de.srt -> de.
    """
    suffixes = [s[1:].lower() for s in path.suffixes if s.lower() not in COMPRESSED_SUFFIXES]
    if len(suffixes) > 1 and is_form(suffixes[-1]) and not is_standard_input(path):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
