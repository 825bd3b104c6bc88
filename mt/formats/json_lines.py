"""JSON: objects, flat or with a nested "translation", of which every value is text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any, TypeGuard

from mt.errors import DataError
from mt.formats.file_reader import FileReader
from mt.formats.options import (
    ReadingOptions,
    asked_columns,
    named_columns,
    no_such_columns,
    on_one_line,
)
from mt.formats.pair import INVALID, NO_SOURCE, NO_TARGET, Pair
from mt.formats.standard_input import shown
from mt.formats.text import CONVERT, read_lines

_FORM = "Each line holds one JSON object, or the file one array of them"


def field_pair(record: dict[str, Any], options: ReadingOptions, origin: str, line: int) -> Pair:
    """The pair in a record: by asked keys, languages or usual names, or the only two keys.

    A value that is null or missing is a fault of the pair; one that is no text raises DataError.
    """
    fields = _fields(record, options)
    names = list(fields)
    columns = named_columns(names, options)
    if columns is None:
        # One missing side is a fault of the pair, not of the file.
        source, target = asked_columns(names, options)
        if bool(source) != bool(target) or (options.of_several and options.languages):
            return Pair("", "", origin, line, NO_TARGET if source else NO_SOURCE)
        if len(names) != 2 or options.columns is not None or options.languages is not None:
            raise no_such_columns(f"{origin}:{line}", names, options)
        columns = 0, 1
    sides = [fields[names[index]] for index in columns]
    for side, fault in zip(sides, (NO_SOURCE, NO_TARGET), strict=True):
        if side is None:
            return Pair("", "", origin, line, fault)
        if isinstance(side, date):  # of columns that a library took for dates
            side = str(side)
        if not isinstance(side, str):
            raise DataError(f"{origin}:{line}: a side is no text, but {type(side).__name__}")
    left, right = (on_one_line(str(side)) for side in sides)
    return Pair(left, right, origin, line)


def _fields(record: dict[str, Any], options: ReadingOptions) -> dict[str, Any]:
    nested = record.get("translation")
    return nested if isinstance(nested, dict) and options.columns is None else record


class Json(FileReader):
    """JSON objects: one a line, or as one document, an array or an object that holds one."""

    def codes(self) -> tuple[str, ...]:
        """The keys of all records, each once: languages may be among them."""
        found: dict[str, None] = {}
        for _, record in self._each():
            found.update(dict.fromkeys(_fields(record or {}, self._options)))
        return tuple(found)

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError at a line that is no JSON object.

        Numbers are kept as they are written; a blank line is passed over. A document of several
        lines is held in memory, and the line of its pairs is their number.
        """
        origin = shown(self._path)
        for number, record in self._each():
            if record is None:
                yield Pair("", "", origin, number, INVALID)
            else:
                yield field_pair(record, self._options, origin, number)

    def _each(self) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """The records with their lines, or numbers; None for what is not UTF-8."""
        origin = shown(self._path)
        options = self._options
        read = read_lines(
            self._path, keep_invalid=options.keep_invalid, hint=options.hint, is_plain=False
        )
        lines = enumerate(read, start=1)
        is_first = True
        for number, line in lines:
            if line is None:
                yield number, None
                continue
            if not line.strip():
                continue
            if is_first and not _is_json(line):
                value = _value(_document(line, lines, origin), origin, number)
                yield from enumerate(_records(value, origin), start=1)
                return
            is_first = False
            where = f"{origin}:{number}"
            for record in _records(_value(line, origin, number), where):
                yield number, record


def _document(first: str, lines: Iterator[tuple[int, str | None]], origin: str) -> str:
    """The text of a document of several lines."""
    text = [first]
    for number, line in lines:
        if line is None:  # it cannot be left out
            raise DataError(f"{origin}:{number}: not UTF-8", hint=CONVERT)
        text.append(line)
    return "\n".join(text)


def _is_json(text: str) -> bool:
    """Whether a line is JSON by itself, or is to be blamed by itself."""
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        pass
    return True


def _value(text: str, origin: str, line: int) -> object:
    """The value of a text that begins at a line."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except RecursionError as error:
        reason: object = "nested too deeply"
        cause: Exception = error
    except json.JSONDecodeError as error:
        reason, cause = error, error
        line += error.lineno - 1
    except ValueError as error:
        reason, cause = error, error
    raise DataError(f"{origin}:{line}: not JSON: {reason}", hint=_FORM) from cause


def _records(value: object, where: str) -> Iterator[dict[str, Any]]:
    """The records of a value: itself, those in it, or those in the one list that it holds."""
    if isinstance(value, dict):
        lists = [each for each in value.values() if _is_table(each)]
        if len(lists) != 1 or isinstance(value.get("translation"), dict):
            yield value
            return
        value = lists[0]
    if value != [] and not _is_table(value):
        raise DataError(f"{where}: not a JSON object, but {type(value).__name__}", hint=_FORM)
    yield from value


def _is_table(value: object) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)
