"""PO and POT: the catalogue that was read, with translations where there were none.

Comments, the order of entries, obsolete entries and the strings of other entries stay as they are.
A charset that lacks a character of a translation becomes UTF-8, in the header and in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from mt.errors import DataError
from mt.formats.documents.codes import require_codes
from mt.formats.documents.message import Message
from mt.formats.documents.plural_forms import PluralForms
from mt.formats.documents.po_header import Header
from mt.formats.documents.po_strings import Lines, is_one_line, lines_of
from mt.formats.documents.splice import Edit
from mt.formats.documents.spliced import Cell, Filled, SplicedDocument
from mt.formats.documents.text_file import TextFile, decoded, read_bytes
from mt.formats.documents.unit import Content, Document, DocumentOptions, State, Unit
from mt.formats.po_entries import Entry, charset_of, entries_of, flags_of
from mt.formats.standard_input import shown

OBSOLETE = "obsolete entry"
EMPTY = "msgid without text"
BEYOND = "plural form beyond nplurals"


def read_po(path: Path, options: DocumentOptions) -> Document:
    """Read a catalogue; each message is a unit, and each plural form."""
    name, data = shown(path), read_bytes(path)
    charset = charset_of(data)
    file = _with_meant_charset(decoded(name, data, [charset]), charset)
    entries = list(entries_of(file.text, name))
    first = entries[0] if entries and entries[0].is_header else None
    header = Header(file.text, None if first and first.is_obsolete else first, file.newline)
    is_translated = any(
        entry.msgid_plural is not None and any(entry.msgstr.values())
        for entry in entries
        if not entry.is_obsolete
    )
    plurals = header.plural_forms(options.target_language, is_translated=is_translated)
    lines = lines_of(file.text, entries, file.newline)
    skipped: dict[str, int] = {}
    cells = []
    for entry in entries:
        if entry.is_header:
            continue
        reason = OBSOLETE if entry.is_obsolete else "" if entry.msgid.strip() else EMPTY
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        cell = _Entry(file, entry, plurals, lines)
        if cell.num_beyond:
            skipped[BEYOND] = skipped.get(BEYOND, 0) + cell.num_beyond
        cells.append(cell)
    return _Po(file, cells, skipped, header, _new_fields(header, plurals, options))


def _with_meant_charset(file: TextFile, charset: str) -> TextFile:
    """A file in ASCII alone is in many charsets: the one of its header is meant."""
    try:
        is_possible = file.text.encode(charset) == file.text.encode("ascii")
    except (LookupError, UnicodeError):
        return file
    return replace(file, encoding=charset) if is_possible else file


def _new_fields(
    header: Header, plurals: PluralForms | None, options: DocumentOptions
) -> Mapping[str, str]:
    """The fields that a translated catalogue has to have."""
    fields = {}
    if options.target_language and not header.field("Language"):
        fields["Language"] = options.target_language.replace("-", "_")
    if plurals and header.field("Plural-Forms") != plurals.header:
        fields["Plural-Forms"] = plurals.header
    return fields


class _Po(SplicedDocument):
    def __init__(
        self,
        file: TextFile,
        cells: Iterable[Cell],
        skipped: Mapping[str, int],
        header: Header,
        fields: Mapping[str, str],
    ) -> None:
        edits = [edit for name, value in fields.items() for edit in header.set_field(name, value)]
        if header.is_template and header.entry:
            edits += _without_fuzzy(file.text, header.entry)
        super().__init__(file, cells, skipped, when_filled=edits)
        self._header = header

    def write(self, file: BinaryIO) -> None:
        """Write the catalogue; in UTF-8, said in its header, if its charset lacks a character."""
        try:
            data = self._file.encoded(self.written(self._charset_edits()))
        except DataError:
            text = self.written(self._header.set_charset("UTF-8"))
            data = replace(self._file, encoding="utf-8").encoded(text)
        file.write(data)

    def _charset_edits(self) -> list[Edit]:
        """The header of a template, or one that lies, names the encoding that the file is in."""
        is_utf8 = self._file.encoding == "utf-8" and self._header.charset.upper() != "UTF-8"
        return self._header.set_charset("UTF-8") if is_utf8 else []


class _Entry:
    """An entry: its message, or its plural forms, are written anew together."""

    def __init__(
        self, file: TextFile, entry: Entry, plurals: PluralForms | None, lines: Lines
    ) -> None:
        for form in entry.msgstr:
            if not entry.strings.get(form):
                raise DataError(f"{file.name}:{entry.line}: msgstr without a string")
        self._text = file.text
        self._entry = entry
        self._lines = lines
        self._one_line = is_one_line(file.text, entry, lines)
        number = 1
        if entry.msgid_plural is not None:
            number = plurals.number if plurals else max(entry.msgstr) + 1
        singular = plurals.singular if plurals else 0
        ids = [
            entry.msgid if entry.msgid_plural is None or form == singular else entry.msgid_plural
            for form in range(number)
        ]
        self._messages = [Message(text) for text in ids]
        self._forms = [f"msgstr[{form}]" for form in range(number)]
        if entry.msgid_plural is None:
            self._forms = ["msgstr"]
        self.units = [self._unit(form) for form in range(number)]
        self.num_beyond = sum(form >= number and bool(text) for form, text in entry.msgstr.items())

    def _unit(self, form: int) -> Unit:
        entry = self._entry
        name = f"line {entry.line}"
        if entry.context is not None:
            name += f", msgctxt {entry.context!r}"
        if entry.msgid_plural is not None:
            name += f", {self._forms[form]}"
        target = entry.msgstr.get(form, "")
        held = State.DOUBTFUL if entry.is_fuzzy else State.FILLED
        return Unit(
            name=name,
            source=self._messages[form].content,
            target=Message(target).content if target else None,
            state=held if target.strip() else State.EMPTY,
        )

    def check(self, index: int, target: Content) -> None:
        """Raise ValueError for codes that are not those of the source."""
        require_codes(self.units[index].source, target)

    def edits(self, filled: Mapping[int, Filled]) -> Iterable[Edit]:
        """The strings of all forms, and the flag of what a person should look at."""
        entry = self._entry
        place = max(spans[-1][1] for spans in entry.strings.values())
        for form, keyword in enumerate(self._forms):
            new = self._strings(form, filled)
            if form in entry.strings:
                start, end = entry.strings[form][0][0], entry.strings[form][-1][1]
                if form in filled:
                    yield start, end, new + self._comments(start, end)
            else:
                yield place, place, f"{self._lines.newline}{keyword} {new}"
        for form in sorted(entry.strings)[1:]:
            if form >= len(self._forms) and not entry.msgstr[form]:
                before = max(
                    spans[-1][1]
                    for spans in entry.strings.values()
                    if spans[-1][1] <= entry.keywords[form]
                )
                yield before, entry.strings[form][-1][1], ""
        if any(each.marked for each in filled.values()):
            yield from _with_fuzzy(self._text, entry, self._lines.newline)
        elif len(filled) == len(self._forms):
            yield from _without_fuzzy(self._text, entry)

    def _strings(self, form: int, filled: Mapping[int, Filled]) -> str:
        if form not in filled:
            return '""'
        text = self._messages[form].written({0: filled[form].target})
        return self._lines.written(text, keyword=self._forms[form], one_line=self._one_line)

    def _comments(self, start: int, end: int) -> str:
        """The comments between the strings of a target: they come behind the new ones."""
        lines = self._text[start:end].split("\n")
        found = [line.strip() for line in lines if line.lstrip().startswith("#")]
        return "".join(f"{self._lines.newline}{line}" for line in found)


def _with_fuzzy(text: str, entry: Entry, newline: str) -> Iterable[Edit]:
    """What makes an entry fuzzy."""
    if entry.is_fuzzy:
        return
    if not entry.flags:
        yield entry.flag_place, entry.flag_place, f"#, fuzzy{newline}"
        return
    start, end = entry.flags[0]
    yield start + 2, start + 2, " fuzzy," if flags_of(text[start:end]) else " fuzzy"


def _without_fuzzy(text: str, entry: Entry) -> Iterable[Edit]:
    """What makes an entry one that nobody doubts; other flags stay."""
    for start, end in entry.flags:
        flags = flags_of(text[start:end]) or []
        rest = [flag for flag in flags if flag != "fuzzy"]
        if rest == flags:
            continue
        if rest:
            line_end = "\r" if text[start:end].endswith("\r") else ""
            yield start + 2, end, f" {', '.join(rest)}{line_end}"
        else:
            following = text.find("\n", end)
            yield start, len(text) if following < 0 else following + 1, ""
