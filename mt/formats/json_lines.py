"""JSON lines: one object a line, flat or with a nested "translation"; every value is text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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
from mt.formats.text import read_lines


def field_pair(record: dict[str, Any], options: ReadingOptions, origin: str, line: int) -> Pair:
    """The pair in a record: by asked keys, languages or usual names, or the only two keys.

    A value that is null or missing is a fault of the pair; one that is no text raises DataError.
    """
    nested = record.get("translation")
    fields = nested if isinstance(nested, dict) and options.columns is None else record
    names = list(fields)
    columns = named_columns(names, options)
    if columns is None:
        # One missing side is a fault of the pair, not of the file.
        source, target = asked_columns(names, options)
        if bool(source) != bool(target):
            return Pair("", "", origin, line, NO_TARGET if source else NO_SOURCE)
        if len(names) != 2 or options.columns is not None or options.languages is not None:
            raise no_such_columns(f"{origin}:{line}", names, options)
        columns = 0, 1
    sides = [fields[names[index]] for index in columns]
    for side, fault in zip(sides, (NO_SOURCE, NO_TARGET), strict=True):
        if side is None:
            return Pair("", "", origin, line, fault)
        if not isinstance(side, str):
            raise DataError(f"{origin}:{line}: a side is no text, but {type(side).__name__}")
    return Pair(on_one_line(sides[0]), on_one_line(sides[1]), origin, line)


class JsonLines(FileReader):
    """A file of JSON objects, one a line."""

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError at a line that is no JSON object.

        Numbers are kept as they are written; a blank line is passed over.
        """
        origin = str(self._path)
        options = self._options
        lines = read_lines(self._path, keep_invalid=options.keep_invalid, hint=options.hint)
        for number, line in enumerate(lines, start=1):
            if line is None:
                yield Pair("", "", origin, number, INVALID)
                continue
            if not line.strip():
                continue
            try:
                record = json.loads(line, parse_int=str, parse_float=str)
            except (ValueError, RecursionError) as error:
                reason = "nested too deeply" if isinstance(error, RecursionError) else error
                raise DataError(
                    f"{origin}:{number}: not JSON: {reason}", hint="Each line holds one JSON object"
                ) from error
            if not isinstance(record, dict):
                raise DataError(
                    f"{origin}:{number}: not a JSON object, but {type(record).__name__}",
                    hint="Each line holds one JSON object",
                )
            yield field_pair(record, options, origin, number)
