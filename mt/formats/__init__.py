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
from mt.formats.compressed import read_start
from mt.formats.delimited import CommaSeparated, TabSeparated
from mt.formats.json_lines import Json
from mt.formats.kind import (
    HEAD,
    Kind,
    is_code_too,
    kind_of,
    kind_of_name,
    suffix_of,
    suffix_of_name,
    suffixes_of,
)
from mt.formats.options import ReadingOptions, matching
from mt.formats.pair import Reader
from mt.formats.po import Po
from mt.formats.spreadsheet import Spreadsheet
from mt.formats.standard_input import is_standard_input, shown
from mt.formats.subtitles import Subtitles
from mt.formats.test_sets import SgmlTestSet, XmlTestSet
from mt.formats.text import language_suffix, no_plain_text
from mt.formats.tmx import Tmx
from mt.formats.usfm import Scripture
from mt.formats.xliff import Xliff

_ONE_FILE: dict[Kind, Callable[[Path, ReadingOptions], Reader]] = {
    Kind.TSV: TabSeparated,
    Kind.CSV: CommaSeparated,
    Kind.JSON: Json,
    Kind.PARQUET: Parquet,
    Kind.TMX: Tmx,
    Kind.XLIFF: Xliff,
    Kind.PO: Po,
    Kind.XLSX: Spreadsheet,
    Kind.ODS: Spreadsheet,
    Kind.TEST_SET: XmlTestSet,
}
"""Readers of files with both sides."""

_TWO_FILES: dict[Kind, Callable[[Path, Path, ReadingOptions], Reader]] = {
    Kind.TEXT: AlignedText,
    Kind.SRT: Subtitles,
    Kind.VTT: Subtitles,
    Kind.SGML: SgmlTestSet,
    Kind.USFM: Scripture,
}
"""Readers of two files, one for each side, source first."""

FORMATS = tuple(suffix for kind in (*_ONE_FILE, *_TWO_FILES) for suffix in suffixes_of(kind))
"""Suffixes of files that are corpora, beside plain text."""

_FORMS = f"Give aligned text files, or {', '.join(filter(None, map(suffix_of, _ONE_FILE)))}"


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
    waiting: tuple[Path, Kind] | None = None
    for name in paths:
        if name.startswith("hf:"):
            readers.append(HubDataset(name, options))
            continue
        path, kind = _known(Path(name))
        if kind in _ONE_FILE:
            readers.append(_ONE_FILE[kind](path, options))
        elif waiting is None:
            waiting = path, kind
        else:
            first, first_kind = waiting
            if _TWO_FILES[kind] is not _TWO_FILES[first_kind]:
                raise ConfigError(
                    f"{shown(first)} is {first_kind}, its partner {shown(path)} is {kind}"
                )
            sides = _ordered(first, path, options.languages)
            readers.append(_TWO_FILES[kind](*sides, options))
            waiting = None
    if waiting is not None:
        raise ConfigError(
            f"{shown(waiting[0])} has no partner",
            hint="Files of one language go in pairs, source first: train.de train.en "
            f"(both sides in one file: {', '.join(filter(None, map(suffix_of, _ONE_FILE)))})",
        )
    found = options.languages
    for reader in readers:
        found = found or reader.languages
    if found is not None and options.languages is None and len(readers) > 1:
        return open_corpora(paths, dataclasses.replace(options, languages=found))
    source, target = found or ("", "")
    return Corpora(readers=tuple(readers), source_language=source, target_language=target)


def hold_pairs(paths: Sequence[Path]) -> bool:
    """Whether one file, or two, hold both sides in a format of corpora that their names say."""
    kinds = [kind_of(path, read_start(path, HEAD)) for path in paths if path.is_file()]
    if kinds != [kind_of_name(path) for path in paths]:
        return False
    if len(kinds) == 1:
        return kinds[0] in _ONE_FILE
    return len(kinds) == 2 and all(kind in _TWO_FILES and kind != Kind.TEXT for kind in kinds)


def _known(path: Path) -> tuple[Path, Kind]:
    """The path and what it is, if it can be a corpus."""
    if not path.exists() and not is_standard_input(path):
        raise DataError(f"{path} does not exist")
    if path.is_dir():
        raise DataError(f"{path} is a folder, not a file of text", hint=f"Perhaps hf:{path}")
    named, kind = kind_of_name(path), kind_of(path, read_start(path, HEAD))
    is_corpus = kind in _ONE_FILE or kind in _TWO_FILES
    if (not is_corpus and kind == named) or (named is Kind.XML and kind is not Kind.TEST_SET):
        hint = f"What it holds is {kind}: name it {suffix_of(kind)}" if is_corpus else _FORMS
        raise ConfigError(f"{path}: {suffix_of_name(path).upper()} is not supported", hint=hint)
    if not is_corpus:
        raise no_plain_text(shown(path), kind, _FORMS)
    if path.suffix and named is Kind.TEXT and kind is not Kind.TEXT and not is_code_too(path):
        raise no_plain_text(shown(path), kind, f"Name it {suffix_of(kind)}")
    return path, kind


def _ordered(first: Path, second: Path, languages: tuple[str, str] | None) -> tuple[Path, Path]:
    if languages is not None:
        suffixes = language_suffix(first), language_suffix(second)
        if [matching(code, suffixes) for code in languages] == [[1], [0]]:
            return second, first
    return first, second
