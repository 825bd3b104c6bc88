"""Lines of one text file: LF ends a line, UTF-8, plain or compressed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt.corpus.formats.compressed import COMPRESSED_SUFFIXES, read_blocks
from mt.errors import DataError
from mt.lines import describe_invalid_utf8, split_lines

CONVERT = "Convert the file to UTF-8 (iconv does that)"


def read_lines(
    path: Path, *, keep_invalid: bool = False, hint: str = CONVERT
) -> Iterator[str | None]:
    """Read the lines of `path` without their ends.

    A line that is not UTF-8 raises DataError with file and line and the `hint` what to do; with
    `keep_invalid` it is None.
    """
    for number, line in enumerate(split_lines(read_blocks(path)), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            if not keep_invalid:
                raise DataError(
                    f"{path}:{number}: {describe_invalid_utf8(line)}",
                    hint=hint,
                ) from None
            yield None


def read_text_lines(path: Path) -> list[str]:
    """All lines of `path`; raises DataError where one is not UTF-8."""
    return [line for line in read_lines(path) if line is not None]


def language_suffix(path: Path) -> str:
    """The last suffix that names no compression, without its dot: train.de.gz -> de."""
    suffixes = [s for s in path.suffixes if s.lower() not in COMPRESSED_SUFFIXES]
    return suffixes[-1][1:].lower() if suffixes else ""
