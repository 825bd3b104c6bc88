"""Spreadsheets with a column for each side."""

from __future__ import annotations

from collections.abc import Iterator

from mt.formats.compressed import read_start
from mt.formats.file_reader import FileReader
from mt.formats.kind import HEAD, Kind, kind_of
from mt.formats.options import named_columns, no_such_columns, numbered_columns, on_one_line
from mt.formats.pair import NO_SOURCE, NO_TARGET, Pair
from mt.formats.sheets import Row, opened_book
from mt.formats.standard_input import shown
from mt.formats.xml import readable

OTHER_SHEET = "rows of a sheet without the columns"


class Spreadsheet(FileReader):
    """An XLSX or ODS file. Each sheet is a table with a header, or of two columns.

    Rows of a sheet in which the columns cannot be told have a fault, unless it is the first.
    """

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError for a damaged file, or without the columns."""
        kind = kind_of(self._path, read_start(self._path, HEAD))
        with opened_book(self._path, Kind.ODS if kind is Kind.ODS else Kind.XLSX) as sheets:
            is_first = True
            for name, rows in sheets.items():
                for pair in self._pairs(name, rows, is_first=is_first):
                    yield pair
                    is_first = False

    def _pairs(self, sheet: str, rows: Iterator[Row], *, is_first: bool) -> Iterator[Pair]:
        options = self._options
        origin = shown(self._path)
        columns = numbered_columns(options)
        is_other = is_begun = False
        for number, cells in rows:
            if not is_begun and columns is None:
                columns = named_columns(cells, options)
                is_begun = True
                if columns is not None:
                    continue
                if len(cells) != 2 or options.columns is not None:
                    if is_first:
                        raise no_such_columns(f"{origin}:{number} ({sheet})", cells, options)
                    is_other = True
            if is_other:
                yield Pair("", "", origin, number, OTHER_SHEET)
                continue
            left, right = (
                on_one_line(cells[column]) if column < len(cells) else ""
                for column in columns or (0, 1)
            )
            left, right, fault = readable(left, right)
            missing = "" if left and right else NO_TARGET if left else NO_SOURCE
            yield Pair(left, right, origin, number, missing or fault)
