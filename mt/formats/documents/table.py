"""Tables in text (CSV, TSV): one column is the source, another one is filled.

Which they are is found as for corpora (`mt.formats.delimited`): by name, number, language, or the
usual names. Other cells, quotes and delimiters stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mt.errors import DataError
from mt.formats.delimited import header_columns
from mt.formats.delimiters import declared_delimiter, find_delimiter, sample
from mt.formats.documents.message import Message
from mt.formats.documents.spliced import Span, SplicedDocument
from mt.formats.documents.text_file import TextFile, read_text_file
from mt.formats.documents.unit import Content, Document, DocumentOptions, State, Unit
from mt.formats.options import (
    ReadingOptions,
    named_columns,
    no_such_columns,
    numbered_columns,
)

NO_SOURCE = "row without source"
_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')
_QUOTED_CELL = re.compile(
    r'(?:^|\t)"[^"\n]*(?:""[^"\n]*)+"(?=\t|\r?$)|\A(?:[^\n]*\t)?"[^"\n]+"(?=\t|\r?$)', re.MULTILINE
)


@dataclass(frozen=True, kw_only=True)
class _Cell:
    text: str
    start: int
    end: int
    is_quoted: bool


@dataclass(frozen=True, kw_only=True)
class _Syntax:
    delimiter: str
    has_quotes: bool
    """Whether a cell may stand in quotes; else a quote is a character like others."""

    def rows(self, file: TextFile, place: int) -> Iterator[list[_Cell]]:
        """The rows from a place on, those of empty lines too; raises DataError for broken ones."""
        plain = re.compile(rf"[^{re.escape(self.delimiter)}\n]*")
        row: list[_Cell] = []
        while place < len(file.text) or row:
            cell = self._cell(file, place, plain)
            row.append(cell)
            place = cell.end
            if file.text.startswith(self.delimiter, place):
                place += 1
                continue
            if file.text.startswith("\r\n", place):
                place += 1
            elif place < len(file.text) and file.text[place] != "\n":
                raise DataError(f"{file.where(place)}: broken CSV: text behind a closing quote")
            place += 1
            yield row
            row = []

    def _cell(self, file: TextFile, place: int, plain: re.Pattern[str]) -> _Cell:
        if self.has_quotes and file.text.startswith('"', place):
            quoted = _QUOTED.match(file.text, place)
            if quoted is None:
                raise DataError(
                    f"{file.where(place)}: broken CSV: a quote is not closed",
                    hint="A quote inside a quoted field is written twice",
                )
            text = quoted[1].replace('""', '"')
            return _Cell(text=text, start=place, end=quoted.end(), is_quoted=True)
        found = plain.match(file.text, place)
        assert found is not None
        end = found.end()
        if end > place and file.text[end - 1] == "\r" and file.text[end : end + 1] in ("\n", ""):
            end -= 1
        return _Cell(text=file.text[place:end], start=place, end=end, is_quoted=False)

    def written(self, text: str, *, is_quoted: bool) -> str:
        """A text as a cell."""
        if not self.has_quotes:
            return re.sub(r"\s*[\t\r\n]\s*", " ", text)
        if is_quoted or re.search(rf'[{re.escape(self.delimiter)}"\r\n]|^\s|\s$', text):
            doubled = text.replace('"', '""')
            return f'"{doubled}"'
        return text


def read_tsv(path: Path, options: DocumentOptions) -> Document:
    """Read text with tabs between; cells may stand in quotes where one of the first row does.

    Or where one holds a doubled quote; a quote is a character like others elsewhere.

    Raises DataError where columns are missing.
    """
    file = read_text_file(path)
    syntax = _Syntax(delimiter="\t", has_quotes=_QUOTED_CELL.search(file.text) is not None)
    reading = _reading(options)
    columns, has_header = numbered_columns(reading), False
    if columns is None:
        first = next(syntax.rows(file, 0), [])
        names = [cell.text for cell in first]
        columns = header_columns(names, reading)
        has_header = columns is not None
        if columns is None and (reading.columns is not None or len(names) != 2):
            raise no_such_columns(f"{file.name}:1", names, reading)
    return _document(file, syntax, columns or (0, 1), 0, has_header=has_header)


def read_csv(path: Path, options: DocumentOptions) -> Document:
    """Read CSV; raises DataError for broken quotes, and where columns are missing."""
    file = read_text_file(path)
    reading = _reading(options)
    lines = iter(file.text.split("\n"))
    first = next(lines)
    declared = declared_delimiter(first)
    start = len(first) + 1 if declared else 0
    if not file.text[start:].strip():
        return SplicedDocument(file, [], {})
    begin = [first, *sample(lines)]
    while not begin[-1].strip():
        begin.pop()
    delimiter = declared or find_delimiter(
        [line.removesuffix("\r") for line in begin], reading, where=file.name
    )
    syntax = _Syntax(delimiter=delimiter, has_quotes=True)
    columns, has_header = numbered_columns(reading), False
    if columns is None:
        first_row = next(islice(syntax.rows(file, start), 1), [])
        names = [cell.text for cell in first_row]
        columns = named_columns(names, reading)
        has_header = columns is not None
        if columns is None and (reading.columns is not None or len(names) != 2):
            raise no_such_columns(file.where(start), names, reading)
    return _document(file, syntax, columns or (0, 1), start, has_header=has_header)


def _reading(options: DocumentOptions) -> ReadingOptions:
    both = options.source_language, options.target_language
    return ReadingOptions(columns=options.columns, languages=both if all(both) else None)


def _document(
    file: TextFile, syntax: _Syntax, columns: tuple[int, int], start: int, *, has_header: bool
) -> Document:
    cells = []
    skipped: dict[str, int] = {}
    for number, row in enumerate(syntax.rows(file, start)):
        if (has_header and number == 0) or (len(row) == 1 and not row[0].text.strip()):
            continue
        if len(row) <= max(columns):
            noun = "column" if len(row) == 1 else "columns"
            raise DataError(
                f"{file.where(row[0].start)}: {len(row)} {noun}, but the source is column "
                f"{columns[0] + 1} and the target column {columns[1] + 1}",
                hint="Choose with --columns SOURCE,TARGET, and give each row both cells",
            )
        source, target = row[columns[0]], row[columns[1]]
        if not source.text.strip():
            skipped[NO_SOURCE] = skipped.get(NO_SOURCE, 0) + 1
            continue
        cells.append(_span(file, syntax, source, target))
    return SplicedDocument(file, cells, skipped)


def _span(file: TextFile, syntax: _Syntax, source: _Cell, target: _Cell) -> Span:
    message = Message(source.text)

    def write(content: Content) -> str:
        return syntax.written(message.written({0: content}), is_quoted=target.is_quoted)

    held = target.text.strip()
    unit = Unit(
        name=f"line {file.line_of(source.start)}",
        source=message.content,
        target=Message(target.text).content if held else None,
        state=State.FILLED if held else State.EMPTY,
    )
    return Span(unit, target.start, target.end, write)
