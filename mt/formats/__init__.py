"""Readers of corpora: one module for each file format.

`open_corpora` turns the CORPUS arguments of a command into readers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import ConfigError, DataError
from mt.formats.aligned import AlignedText
from mt.formats.columnar import HubDataset, Parquet
from mt.formats.delimited import CommaSeparated, TabSeparated
from mt.formats.json_lines import JsonLines
from mt.formats.options import ReadingOptions, matching
from mt.formats.pair import Reader
from mt.formats.po import Po
from mt.formats.text import language_suffix
from mt.formats.tmx import Tmx
from mt.formats.xliff import Xliff

FORMATS: dict[str, Callable[[Path, ReadingOptions], Reader]] = {
    "tsv": TabSeparated,
    "csv": CommaSeparated,
    "jsonl": JsonLines,
    "ndjson": JsonLines,
    "json": JsonLines,
    "parquet": Parquet,
    "tmx": Tmx,
    "xlf": Xliff,
    "xliff": Xliff,
    "sdlxliff": Xliff,
    "mxliff": Xliff,
    "mqxliff": Xliff,
    "po": Po,
}
"""Formats with both sides in one file, by suffix; any other file is one side as text."""

_NOT_TEXT = {"xlsx", "xls", "ods", "docx", "odt", "pdf", "zip", "tar", "tbx", "html", "xml"}


@dataclass(frozen=True, kw_only=True)
class Corpora:
    """The readers of one command and the languages that the user or the files gave."""

    readers: tuple[Reader, ...]
    source_language: str
    target_language: str


def open_corpora(paths: Sequence[str], options: ReadingOptions | None = None) -> Corpora:
    """Find the format of each path; files of one language go in pairs, source first.

    With `options.languages`, two files whose suffixes name them are put in that order. Without,
    the first corpus whose languages are known sets them for all: none is read the other way.

    Raises ConfigError for a file without a partner and for formats not supported, DataError
    for paths that do not exist.
    """
    options = options or ReadingOptions()
    readers: list[Reader] = []
    waiting: Path | None = None
    for name in paths:
        if name.startswith("hf:"):
            readers.append(HubDataset(name, options))
            continue
        path = _checked(Path(name))
        reader_type = FORMATS.get(language_suffix(path))
        if reader_type is not None:
            readers.append(reader_type(path, options))
        elif waiting is None:
            waiting = path
        else:
            readers.append(AlignedText(*_ordered(waiting, path, options.languages), options))
            waiting = None
    if waiting is not None:
        raise ConfigError(
            f"{waiting} has no partner",
            hint="Files of one language go in pairs, source first: train.de train.en "
            f"(both sides in one file: {', '.join(f'.{suffix}' for suffix in FORMATS)})",
        )
    found = options.languages
    for reader in readers:
        found = found or reader.languages
    if found is not None and options.languages is None and len(readers) > 1:
        return open_corpora(paths, dataclasses.replace(options, languages=found))
    source, target = found or ("", "")
    return Corpora(readers=tuple(readers), source_language=source, target_language=target)


def _checked(path: Path) -> Path:
    """The path, if it can be a corpus."""
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if path.is_dir():
        raise DataError(f"{path} is a folder, not a file of text", hint=f"Perhaps hf:{path}")
    if language_suffix(path) in _NOT_TEXT:
        raise ConfigError(
            f"{path}: {language_suffix(path).upper()} is not supported",
            hint="Give aligned text files, or one of "
            f"{', '.join(f'.{suffix}' for suffix in FORMATS)}",
        )
    return path


def _ordered(first: Path, second: Path, languages: tuple[str, str] | None) -> tuple[Path, Path]:
    if languages is not None:
        suffixes = language_suffix(first), language_suffix(second)
        if [matching(code, suffixes) for code in languages] == [[1], [0]]:
            return second, first
    return first, second
