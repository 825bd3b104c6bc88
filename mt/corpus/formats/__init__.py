"""Readers: one file a form that people hold their text in.

`open_corpora` turns the CORPUS arguments of a command into readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.corpus.formats.aligned import AlignedText
from mt.corpus.formats.compressed import COMPRESSED_SUFFIXES
from mt.corpus.formats.delimited import TabSeparated
from mt.corpus.formats.text import CONVERT
from mt.corpus.pair import Reader
from mt.errors import ConfigError, DataError

_UNSUPPORTED = {".tmx", ".po", ".xlf", ".xliff", ".csv", ".json", ".jsonl", ".parquet", ".xlsx"}


@dataclass(frozen=True, kw_only=True)
class Corpora:
    """The readers of one command and the languages that the file names or --langs gave."""

    readers: tuple[Reader, ...]
    source_language: str
    target_language: str


def open_corpora(
    paths: Sequence[str],
    *,
    languages: tuple[str, str] | None,
    keep_invalid: bool = False,
    hint: str = CONVERT,
) -> Corpora:
    """Find the form of each path; files of one language go in pairs, source first.

    With `languages` (source, target), two files whose suffixes name them are put in that order.
    With `keep_invalid`, a side that is not UTF-8 is read as None; else it raises DataError, with
    `hint` for what to do.

    Raises ConfigError for a file left alone and for forms not supported, DataError for paths
    that do not exist.
    """
    readers: list[Reader] = []
    waiting: Path | None = None
    found = languages
    for path in map(Path, paths):
        if not path.exists():
            raise DataError(f"{path} does not exist")
        if path.is_dir():
            raise DataError(f"{path} is a folder, not a file of text")
        suffix = language_suffix(path)
        if f".{suffix}" in _UNSUPPORTED:
            raise ConfigError(
                f"{path}: {suffix.upper()} is not supported",
                hint="Give two aligned text files or tab-separated text",
            )
        if suffix == "tsv":
            readers.append(TabSeparated(path, keep_invalid=keep_invalid, hint=hint))
        elif waiting is None:
            waiting = path
        else:
            source, target = _ordered(waiting, path, languages)
            found = found or _languages_of(source, target)
            readers.append(AlignedText(source, target, keep_invalid=keep_invalid, hint=hint))
            waiting = None
    if waiting is not None:
        raise ConfigError(
            f"{waiting} has no partner",
            hint="Files of one language go in pairs, source first: train.de train.en "
            "(a file with both columns ends in .tsv)",
        )
    source_language, target_language = found or ("", "")
    return Corpora(
        readers=tuple(readers), source_language=source_language, target_language=target_language
    )


def language_suffix(path: Path) -> str:
    """The last suffix that names no compression, without its dot: train.de.gz -> de."""
    suffixes = [s for s in path.suffixes if s.lower() not in COMPRESSED_SUFFIXES]
    return suffixes[-1][1:].lower() if suffixes else ""


def _languages_of(source: Path, target: Path) -> tuple[str, str] | None:
    pair = language_suffix(source), language_suffix(target)
    return pair if all(pair) and pair[0] != pair[1] else None


def _ordered(first: Path, second: Path, languages: tuple[str, str] | None) -> tuple[Path, Path]:
    suffixes = language_suffix(first), language_suffix(second)
    if languages is not None and suffixes == (languages[1].lower(), languages[0].lower()):
        return second, first
    return first, second
