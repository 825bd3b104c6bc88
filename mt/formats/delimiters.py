"""Which character separates the fields of a CSV file: the file says so, or its rows do."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from mt.errors import DataError
from mt.formats.options import ReadingOptions, named_columns

_CANDIDATES = (",", ";", "\t", "|")
_SAMPLED = 1000  # rows
_DECLARED = re.compile(r"sep=(.)\s*", re.IGNORECASE)


def declared_delimiter(first_line: str) -> str | None:
    """The one that a first line `sep=;` names, as Excel writes it."""
    found = _DECLARED.fullmatch(first_line)
    return found[1] if found else None


def find_delimiter(lines: Sequence[str], options: ReadingOptions, *, where: str) -> str:
    """The delimiter of the first lines of a file.

    It cuts all rows into as many fields, two at least. Where several do, the one by which the first
    row names the columns, else one by which there are two columns, else one that no blank follows.
    Raises DataError where several are left. Where none fits it is the one most used in the first
    line.
    """
    tables = {each: _table(lines, each) for each in _CANDIDATES}
    fitting = [each for each, table in tables.items() if table]
    if not fitting:  # the row at fault will be named
        return max(_CANDIDATES, key=lambda each: lines[0].count(each))
    if len(fitting) == 1:
        return fitting[0]
    for narrower in (
        [each for each in fitting if named_columns(tables[each][0], options) is not None],
        [each for each in fitting if len(tables[each][0]) == 2],
        [each for each in fitting if not _are_apart(tables[each])],
    ):
        fitting = [each for each in fitting if each in narrower] or fitting
    if len(fitting) > 1:
        names = " or ".join({"\t": "a tab"}.get(each, each) for each in fitting)
        raise DataError(
            f"{where}: cannot tell whether {names} separates the columns",
            hint="Let the file begin with a line such as sep=;",
        )
    return fitting[0]


def sample(lines: Iterator[str]) -> list[str]:
    """The lines that `find_delimiter` looks at."""
    return list(islice(lines, _SAMPLED))


def _table(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The rows of the lines; none where they are not of one width, of two at least."""
    rows: list[list[str]] = []
    try:
        found = csv.reader((f"{line}\n" for line in lines), strict=True, delimiter=delimiter)
        rows.extend(row for row in found if row)
    except csv.Error:
        # A quoted field may be cut off at the end of what is looked at.
        if len(lines) < _SAMPLED:
            return []
    widths = {len(row) for row in rows}
    return rows if len(widths) == 1 and max(widths) > 1 else []


def _are_apart(rows: list[list[str]]) -> bool:
    """Whether a blank follows the delimiter in most rows, as after a comma of a sentence."""
    return 2 * sum(any(field.startswith(" ") for field in row[1:]) for row in rows) > len(rows)
