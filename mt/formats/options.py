"""What a reader must know of the command, and how languages and columns are found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mt.errors import DataError
from mt.formats.text import CONVERT
from mt.languages import base_code, is_same_language, normal_code


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How corpora are read."""

    languages: tuple[str, str] | None = None
    """Codes of source and target that the user asked for."""
    columns: tuple[str, str] | None = None
    """Names, or numbers from 1, of the columns of source and target."""
    of_several: bool = False
    """Whether units of other languages are expected: pairs with a fault, and no error."""
    keep_invalid: bool = False
    """Give a side that is not UTF-8 as a pair with a fault; else it raises DataError."""
    hint: str = CONVERT
    """What to do about text that is not UTF-8."""


_SURROGATES = re.compile("[\ud800-\udfff]")


def on_one_line(text: str) -> str:
    """`text` with its line ends and tabs, and white space around them, as single spaces.

    Halves of surrogate pairs, which JSON can write and UTF-8 cannot, become U+FFFD.
    """
    if not text.isascii():
        text = _SURROGATES.sub("\ufffd", text)
    if "\n" in text or "\r" in text or "\t" in text:
        return " ".join(part.strip() for part in _pieces(text) if part.strip())
    return text


def _pieces(text: str) -> list[str]:
    return text.replace("\r", "\n").replace("\t", "\n").split("\n")


def matching(wanted: str, found: Sequence[str]) -> list[int]:
    """Indices of the codes that mean `wanted`: exactly that one, else its regional variants.

    Where there are none either, those of the macrolanguage, or of its members: no for nb.
    """
    normal, base = normal_code(wanted), base_code(wanted)
    return (
        [i for i, code in enumerate(found) if normal_code(code) == normal]
        or [i for i, code in enumerate(found) if base_code(code) == base]
        or [i for i, code in enumerate(found) if is_same_language(code, wanted)]
    )


_USUAL_NAMES = (("source", "target"), ("src", "tgt"), ("src", "trg"))


def asked_columns(
    names: Sequence[str], options: ReadingOptions
) -> tuple[Sequence[int], Sequence[int]]:
    """Indices of the names that are source, and target, as asked or by language."""
    if options.columns is not None:
        source, target = (
            [i for i, name in enumerate(names) if name == column] for column in options.columns
        )
    elif options.languages is not None:
        source, target = (matching(code, names) for code in options.languages)
    else:
        source, target = [], []
    return source, target


def named_columns(names: Sequence[str], options: ReadingOptions) -> tuple[int, int] | None:
    """Indices of source and target among column names: as asked, by language, or by usual names.

    None when no name fits.
    """
    source, target = asked_columns(names, options)
    if source and target and source[0] != target[0]:
        return source[0], target[0]
    if options.columns is not None:
        return None
    lower = [name.strip().lower() for name in names]
    for source_name, target_name in _USUAL_NAMES:
        if source_name in lower and target_name in lower:
            return lower.index(source_name), lower.index(target_name)
    return None


def numbered_columns(options: ReadingOptions) -> tuple[int, int] | None:
    """Indices of source and target when `columns` are numbers from 1, else None."""
    if options.columns is None or not all(column.isdecimal() for column in options.columns):
        return None
    return int(options.columns[0]) - 1, int(options.columns[1]) - 1


def no_such_columns(where: str, names: Sequence[str], options: ReadingOptions) -> DataError:
    """The error for a file whose columns nothing points at."""
    wanted = ""
    if options.columns is not None:
        wanted = f" {options.columns[0]!r} and {options.columns[1]!r}"
    return DataError(
        f"{where}: cannot tell the columns of source and target{wanted} among "
        f"{', '.join(map(repr, names))}",
        hint="Name them: --columns SOURCE,TARGET (or their numbers, from 1)",
    )
