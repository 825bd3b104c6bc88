"""The bytes that the pairs of a corpus follow from, to recognise the corpus by its content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mt.errors import DataError
from mt.files.digests import blocks_of_file
from mt.formats.options import ReadingOptions


def described(reader_type: type, options: ReadingOptions, size: int) -> bytes:
    """The type of reader, how it reads, and the number of bytes that follow."""
    languages = None if options.languages is None else tuple(options.languages)  # of any kind
    parts = (reader_type.__name__, languages, options.columns, options.keep_invalid, size)
    return repr(parts).encode("utf-8")


def file_content(
    reader_type: type, options: ReadingOptions, paths: Sequence[Path]
) -> Iterator[bytes] | None:
    """The content of a corpus in files; None if one is a pipe, which can be read only once."""
    if not all(path.is_file() for path in paths):
        return None
    return _blocks(reader_type, options, paths)


def _blocks(reader_type: type, options: ReadingOptions, paths: Sequence[Path]) -> Iterator[bytes]:
    for path in paths:
        try:
            yield described(reader_type, options, path.stat().st_size)
            yield from blocks_of_file(path)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}") from error
