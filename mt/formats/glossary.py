"""Glossaries as tools write them: tab-separated text, CSV, TBX. What a term is, others know."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from mt.errors import DataError
from mt.formats.compressed import read_start
from mt.formats.delimiters import declared_delimiter, find_delimiter
from mt.formats.kind import HEAD, Kind, kind_of
from mt.formats.options import ReadingOptions, matching, named_columns, on_one_line
from mt.formats.standard_input import shown
from mt.formats.text import no_plain_text, read_lines
from mt.formats.xml import Element, children, elements, local_name, readable, text_of

FORM = (
    "A line is a source term, a tab, its translation and perhaps a note, or a term alone that "
    "stays as it is"
)
_SAVE = "Save the file as UTF-8"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_AVOIDED = re.compile(r"deprecated|superseded|forbidden|obsolete|notRecommended", re.IGNORECASE)
_HEADER = re.compile(r"source|target|src|tgt|term|translation|note|comment|notes|comments", re.I)

Row = tuple[str, str, str]
"""Where it stands, source and target; the target of a term that stays is itself."""


def read_glossary(path: Path, languages: tuple[str, str] | None = None) -> Iterator[Row]:
    """The rows of a glossary, raw; `languages` are those of source and target, where known.

    A line of plain or tab-separated text holds source and target; what follows is a note. A line
    without a tab is a term that stays. Blank lines are left out, and so are comments: lines that
    are `#` or begin with `# `, and lines with a tab whose fields do not all begin with `#`.

    Raises DataError, naming file and line, for another kind of file, for a CSV file without such
    columns, and for a TBX file of other languages.
    """
    kind = kind_of(path, read_start(path, HEAD))
    if kind is Kind.TBX:
        return _of_tbx(path, languages)
    if kind is Kind.CSV:
        return _of_csv(path, ReadingOptions(languages=languages))
    if kind in (Kind.TEXT, Kind.TSV):
        return _of_lines(path)
    raise no_plain_text(shown(path), kind, f"{FORM}; CSV and TBX are read as well")


def _of_lines(path: Path) -> Iterator[Row]:
    is_first = True
    for number, line in enumerate(read_lines(path, hint=_SAVE, is_plain=False), start=1):
        fields = (line or "").split("\t")
        if not any(field.strip() for field in fields) or _is_comment(line or "", fields):
            continue
        is_header = is_first and len(fields) > 1 and all(map(_HEADER.fullmatch, fields[:2]))
        is_first = False
        if not is_header:
            yield f"{shown(path)}:{number}", fields[0], fields[min(len(fields) - 1, 1)]


def _is_comment(line: str, fields: list[str]) -> bool:
    if line == "#" or line.startswith(("# ", "##")):
        return True
    if not line.startswith("#") or len(fields) == 1:
        return False
    return not fields[1].startswith("#")


def _of_csv(path: Path, options: ReadingOptions) -> Iterator[Row]:
    name = shown(path)
    lines = [line or "" for line in read_lines(path, hint=_SAVE, is_plain=False)]
    declared = declared_delimiter(lines[0]) if lines else None
    begin = 1 if declared else 0
    delimiter = declared or find_delimiter(lines, options, where=name)
    rows = csv.reader((f"{line}\n" for line in lines[begin:]), strict=True, delimiter=delimiter)
    columns: tuple[int, int] | None = None
    try:
        for row in rows:
            where = f"{name}:{rows.line_num + begin}"
            if not any(field.strip() for field in row):
                continue
            if columns is None:
                columns = named_columns(row, options)
                if columns is not None:
                    continue
                columns = 0, 1
                if all(map(_HEADER.fullmatch, row[:2])) and len(row) > 1:
                    continue
            if len(row) <= max(columns):
                raise DataError(f"{where}: there is no translation", hint="Two columns are needed")
            yield where, on_one_line(row[columns[0]]), on_one_line(row[columns[1]])
    except csv.Error as error:
        raise DataError(f"{name}:{rows.line_num + begin}: broken CSV: {error}") from error


def _of_tbx(path: Path, languages: tuple[str, str] | None) -> Iterator[Row]:
    """The terms of each entry in the languages: those asked for, or the two that it holds."""
    name = shown(path)
    names = frozenset({"termEntry", "conceptEntry"})
    found: set[str] = set()
    is_any = False
    for event, entry in elements(path, root=("martif", "tbx"), names=names):
        if event == "start":
            continue
        terms = _terms(entry)
        codes = list(dict.fromkeys(code for code, _ in terms))
        found.update(codes)
        if languages is None:
            languages = (codes[0], codes[1]) if len(codes) == 2 else None
        if languages is None:
            raise DataError(
                f"{name}: cannot tell which languages are meant of {', '.join(codes) or 'none'}"
            )
        sources, targets = (
            [text for code, text in terms if code in {codes[i] for i in matching(want, codes)}]
            for want in languages
        )
        for source in sources:
            for target in targets:
                left, right, fault = readable(source, target)
                if left and right and not fault:
                    is_any = True
                    yield f"{name}:{entry.sourceline}", left, right
    if not is_any and languages is not None:
        raise DataError(f"{name} holds {', '.join(sorted(found))}, not {' and '.join(languages)}")


def _terms(entry: Element) -> list[tuple[str, str]]:
    """Language and text of the terms of an entry that are not to be avoided."""
    terms = []
    for part in entry.iter():
        if local_name(part) not in ("langSet", "langSec"):
            continue
        code = part.get(_XML_LANG) or part.get("lang") or ""
        for group in part.iter():
            if local_name(group) not in ("tig", "ntig", "termSec"):
                continue
            notes = " ".join(
                "".join(note.itertext()) for note in group.iter() if local_name(note) == "termNote"
            )
            if not _AVOIDED.search(notes):
                terms += [
                    (code, text_of(term, codes=frozenset()))
                    for holder in (group, *children(group, "termGrp"))
                    for term in children(holder, "term")
                ]
    return terms
