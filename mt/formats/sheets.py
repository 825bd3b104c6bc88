"""Spreadsheets (XLSX, ODS) as tables of texts: zip and XML, cell by cell, in bounded memory."""

from __future__ import annotations

import re
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from mt.errors import DataError
from mt.formats.compressed import read_blocks
from mt.formats.kind import Kind
from mt.formats.standard_input import shown
from mt.formats.xml import Element, attribute, children, elements_of, local_name, text_of
from mt.formats.xml_text import mended_blocks

Row = tuple[int, list[str]]
"""Its number, from 1, and its cells from the first column on."""

_BLOCK = 1 << 16
_LARGEST = 1 << 30  # bytes of a part, unpacked
_MOST_COLUMNS, _MOST_ROWS = 1 << 14, 1 << 20  # of a sheet, in the programs that write them
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading a part of a zip file raises where it is damaged or encrypted."""
_COLUMN = re.compile(r"([A-Z]{1,3})(\d+)")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NO_TEXT = frozenset({"annotation", "note", "rPh", "ruby-text"})
_SPACES = frozenset({"s", "tab", "line-break"})


@contextmanager
def opened_book(path: Path, kind: Kind) -> Iterator[dict[str, Iterator[Row]]]:
    """The rows of each sheet by its name, in order; empty rows are left out.

    Raises DataError for a file that is no such book, is damaged or far too large, or is encrypted.
    """
    name = shown(path)
    try:
        source = path if path.is_file() else BytesIO(b"".join(read_blocks(path)))
        with zipfile.ZipFile(source) as archive:
            book = _Book(archive, name)
            yield book.ods() if kind is Kind.ODS else book.xlsx()
    except (*DAMAGED, ValueError) as error:  # ValueError: what is to be a number is none
        raise DataError(f"{name}: not {kind}, or damaged or encrypted: {error}") from error
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror or error}") from error


class _Book:
    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name

    def ods(self) -> dict[str, Iterator[Row]]:
        """The sheets of content.xml, which is read for each of them anew."""
        names = [
            attribute(table, "name")
            for event, table in self._elements("content.xml", "document-content", "table")
            if event == "start"
        ]
        return {each: self._ods_rows(index) for index, each in enumerate(names)}

    def _ods_rows(self, wanted: int) -> Iterator[Row]:
        index, number = -1, 0
        names = ("table", "table-row")
        for event, element in self._elements("content.xml", "document-content", *names):
            if local_name(element) == "table":
                index, number = index + (event == "start"), 0
            elif event == "end":
                repeated = int(attribute(element, "number-rows-repeated") or 1)
                cells = _ods_cells(element) if index == wanted else []
                if cells and repeated > _MOST_ROWS:
                    raise DataError(f"{self._name}:{number + 1}: a row stands {repeated:,} times")
                for i in range(repeated if cells else 0):
                    yield number + i + 1, cells
                number += repeated

    def xlsx(self) -> dict[str, Iterator[Row]]:
        """The sheets of the workbook."""
        targets = {
            relation.get("Id"): relation.get("Target", "")
            for _, relation in self._elements(
                "xl/_rels/workbook.xml.rels", "Relationships", "Relationship"
            )
        }
        sheets = {}
        strings = _Strings(self._shared())
        for event, sheet in self._elements("xl/workbook.xml", "workbook", "sheet"):
            if event == "start":
                target = targets.get(attribute(sheet, "id"), "")
                part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                sheets[sheet.get("name", part)] = self._xlsx_rows(part, strings)
        return sheets

    def _shared(self) -> Iterator[str]:
        part = "xl/sharedStrings.xml"
        if part in self._archive.namelist():
            for event, item in self._elements(part, "sst", "si"):
                if event == "end":
                    yield _cell_text(item)

    def _xlsx_rows(self, part: str, strings: _Strings) -> Iterator[Row]:
        number = 0
        if "worksheets" not in part:
            return  # a chart has no rows
        for event, row in self._elements(part, "worksheet", "row"):
            if event == "start":
                continue
            number = int(row.get("r") or number + 1)
            cells: list[str] = []
            for cell in children(row, "c"):
                place = _COLUMN.match(cell.get("r", ""))
                column = _index(place[1]) if place else len(cells)
                if column >= _MOST_COLUMNS:
                    raise DataError(
                        f"{self._name}:{number}: there is no column {place and place[1]}"
                    )
                cells += [""] * (column + 1 - len(cells))
                cells[column] = self._value(cell, strings, number)
            if any(cells):
                yield number, cells

    def _value(self, cell: Element, strings: _Strings, number: int) -> str:
        if cell.get("t") == "inlineStr":
            return " ".join(_cell_text(each) for each in children(cell, "is"))
        value = "".join(each.text or "" for each in children(cell, "v"))
        if cell.get("t") != "s":
            return _unescaped(value) if cell.get("t") == "str" else value
        try:
            return strings[int(value)]
        except (ValueError, IndexError):
            raise DataError(f"{self._name}:{number}: damaged: no shared string {value!r}") from None

    def _elements(self, part: str, root: str, *names: str) -> Iterator[tuple[str, Element]]:
        where = f"{self._name} ({part})"
        try:
            size = self._archive.getinfo(part).file_size
        except KeyError:
            raise DataError(f"{self._name}: damaged: there is no {part} in it") from None
        if size > _LARGEST:
            raise DataError(f"{where}: {size:,} bytes, which is too large for a table of texts")
        blocks = mended_blocks(self._blocks(part), name=where)
        yield from elements_of(blocks, name=where, root=root, names=frozenset(names))

    def _blocks(self, part: str) -> Iterator[bytes]:
        with self._archive.open(part) as file:
            while block := file.read(_BLOCK):
                yield block


class _Strings:
    """Texts by their number, in one buffer."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._data = bytearray()
        self._ends = array("q", [0])
        for text in texts:
            self._data += text.encode("utf-8")
            self._ends.append(len(self._data))

    def __getitem__(self, index: int) -> str:
        if index < 0:
            raise IndexError(index)
        return self._data[self._ends[index] : self._ends[index + 1]].decode("utf-8")


def _cell_text(element: Element) -> str:
    return _unescaped(text_of(element, codes=_NO_TEXT, spaces=_SPACES))


def _unescaped(text: str) -> str:
    """Text in which Excel wrote characters as _x000D_."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _ods_cells(row: Element) -> list[str]:
    cells: list[str] = []
    num_empty = 0
    for cell in row:
        if local_name(cell) not in ("table-cell", "covered-table-cell"):
            continue
        repeated = min(int(attribute(cell, "number-columns-repeated") or 1), _MOST_COLUMNS)
        text = " ".join(
            text_of(each, codes=_NO_TEXT, spaces=_SPACES) for each in children(cell, "p")
        ).strip()
        if not text:
            num_empty += repeated  # which a sheet has up to its last column
            continue
        cells += [""] * num_empty + [text] * repeated
        num_empty = 0
    return cells


def _index(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
