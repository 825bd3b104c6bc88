"""Tab-separated and comma-separated text: every field is text, "null" and 007 too."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain

from mt.errors import DataError
from mt.formats.delimiters import declared_delimiter, find_delimiter, sample
from mt.formats.file_reader import FileReader
from mt.formats.options import (
    ReadingOptions,
    named_columns,
    no_such_columns,
    numbered_columns,
    on_one_line,
)
from mt.formats.pair import INVALID, Pair
from mt.formats.standard_input import shown
from mt.formats.text import read_escaped_lines, read_lines

_LARGEST_FIELD = (1 << 31) - 1  # characters; a segment may be a document
_ESCAPED = re.compile("[\udc80-\udcff]")


class TabSeparated(FileReader):
    """Fields with a tab between; a quote is a character like others, and there are no escapes.

    Two columns, source and target, unless columns are asked for or the first row is a header: when
    it names the columns or languages that were asked for, or source and target among others.
    """

    def codes(self) -> tuple[str, ...]:
        """The cells of the first row: languages, where it is a header that names them."""
        first = next(read_lines(self._path, hint=self._options.hint, is_plain=False), None)
        return tuple((first or "").split("\t"))

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError at a row with too few columns, or too many.

        An empty line is a pair of blank sides.
        """
        options = self._options
        origin = shown(self._path)
        columns = numbered_columns(options)
        width = 2 if options.columns is None else None
        lines = read_lines(
            self._path, keep_invalid=options.keep_invalid, hint=options.hint, is_plain=False
        )
        for number, line in enumerate(lines, start=1):
            if line is None:
                yield Pair("", "", origin, number, INVALID)
                continue
            row = line.split("\t") if line else ["", ""]
            if number == 1 and columns is None:
                columns = header_columns(row, options)
                if columns is not None:
                    width = len(row)
                    continue
                if options.columns is not None:
                    raise no_such_columns(f"{origin}:1", row, options)
            yield _pair(row if line else None, columns or (0, 1), width, origin, number)


def header_columns(row: list[str], options: ReadingOptions) -> tuple[int, int] | None:
    """The columns that a first row names, when it is a header and not text.

    Where nothing was asked for, it is one if it has further columns: two may be a pair of words.
    """
    if options.columns is None and options.languages is None and len(row) < 3:
        return None
    found = named_columns(row, options)
    if found is None or options.columns is not None:
        return found
    # A cell that is only a language code; a sentence could hardly be one in both columns.
    short = all(len(row[index]) <= 12 and " " not in row[index] for index in found)
    return found if short else None


def _pair(
    row: list[str] | None, columns: tuple[int, int], width: int | None, origin: str, line: int
) -> Pair:
    if row is None:
        return Pair("", "", origin, line)
    needed = max(columns) + 1
    if len(row) < needed or (width is not None and len(row) != width):
        noun = "column" if len(row) == 1 else "columns"
        there = f"at least {needed}" if width is None or width < needed else str(width)
        raise DataError(
            f"{origin}:{line}: {len(row)} {noun}, but there must be {there}",
            hint="Each line holds source, one tab, target; or choose with --columns",
        )
    return Pair(on_one_line(row[columns[0]]), on_one_line(row[columns[1]]), origin, line)


class CommaSeparated(FileReader):
    """CSV with double quotes (RFC 4180); a quoted field may hold line ends.

    Semicolons, tabs or bars may stand for the commas (`mt.formats.delimiters`). The first row is a
    header when it names the columns or languages asked for, or source and target; without one there
    must be two columns.
    """

    def codes(self) -> tuple[str, ...]:
        """The cells of the first row: languages, where it is a header that names them."""
        _, delimiter, lines = self._opened()
        first = next(lines, "")
        return tuple(next(csv.reader([first], delimiter=delimiter), []))

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError where quotes or columns are broken."""
        options = self._options
        origin = shown(self._path)
        csv.field_size_limit(_LARGEST_FIELD)
        num_before, delimiter, lines = self._opened()
        rows = csv.reader((f"{line}\n" for line in lines), strict=True, delimiter=delimiter)
        columns = numbered_columns(options)
        width = None
        is_first = True
        start = 1 + num_before
        try:
            for row in rows:
                line, start = start, rows.line_num + 1 + num_before
                if is_first:
                    is_first = False
                    width = len(row)
                    if columns is None:
                        columns = named_columns(row, options)
                        if columns is not None:
                            continue
                        if len(row) != 2 or options.columns is not None:
                            raise no_such_columns(f"{origin}:{line}", row, options)
                if any(map(_ESCAPED.search, row)):
                    yield Pair("", "", origin, line, INVALID)
                    continue
                yield _pair(row or None, columns or (0, 1), width, origin, line)
        except csv.Error as error:
            raise DataError(
                f"{origin}:{rows.line_num + num_before}: broken CSV: {error}",
                hint="A quote inside a quoted field is written twice",
            ) from error

    def _opened(self) -> tuple[int, str, Iterator[str]]:
        """The number of lines before the rows, the delimiter, and the lines of the rows."""
        options = self._options
        lines: Iterator[str] = (
            read_escaped_lines(self._path)  # the row has the fault, of however many lines
            if options.keep_invalid
            else (line or "" for line in read_lines(self._path, hint=options.hint, is_plain=False))
        )
        first = next(lines, None)
        if first is None:
            return 0, ",", lines
        declared = declared_delimiter(first)
        if declared is not None:
            return 1, declared, lines
        begin = [first, *sample(lines)]
        delimiter = find_delimiter(begin, options, where=shown(self._path))
        return 0, delimiter, chain(begin, lines)
