"""PO catalogues of gettext: the only module that imports polib."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polib

from mt.errors import DataError
from mt.formats.compressed import read_blocks
from mt.formats.file_reader import FileReader
from mt.formats.options import on_one_line
from mt.formats.pair import NO_TARGET, Pair

FUZZY = "fuzzy entry"
OBSOLETE = "obsolete entry"


class Po(FileReader):
    """A catalogue: msgid is the source, msgstr the target, the plural forms are pairs too."""

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; fuzzy, obsolete and untranslated entries are pairs with a fault.

        Raises DataError, with the line, where the syntax is broken.
        """
        origin = str(self._path)
        try:
            catalogue = polib.pofile(_decoded(self._path))
        except OSError as error:  # polib's way to report a syntax error
            line = re.search(r"line (\d+)", str(error))
            where = f"{origin}:{line[1]}" if line else origin
            raise DataError(f"{where}: broken PO syntax") from error
        for entry in catalogue:
            fault = OBSOLETE if entry.obsolete else FUZZY if "fuzzy" in entry.flags else ""
            if entry.msgid_plural and not entry.msgstr_plural:  # polib passes the last one
                raise DataError(f"{origin}:{entry.linenum}: broken PO syntax: no msgstr[0] follows")
            for source, target in _forms(entry):
                missing = "" if target.strip() else NO_TARGET
                sides = on_one_line(source), on_one_line(target)
                yield Pair(*sides, origin, int(entry.linenum or 1), fault or missing)


def _forms(entry: polib.POEntry) -> Iterator[tuple[str, str]]:
    """Source and target of an entry: the singular, then each plural form."""
    if not entry.msgid_plural:
        yield entry.msgid, entry.msgstr
        return
    forms = [text for _, text in sorted(entry.msgstr_plural.items())]
    if len(forms) == 1:
        yield entry.msgid_plural, forms[0]
        return
    yield entry.msgid, forms[0]
    for form in forms[1:]:
        yield entry.msgid_plural, form


def _decoded(path: Path) -> str:
    """The text of a catalogue: UTF-8 if it is that, else what its header says.

    Headers lie: catalogues in UTF-8 whose header names another charset are common, the reverse
    would not decode.
    """
    data = b"".join(read_blocks(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        named = re.search(rb"charset=([A-Za-z0-9_.:-]+)", data)
        charset = named[1].decode("ascii") if named else "none"
    try:
        return data.decode(charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path}: neither UTF-8 nor the charset its header names ({charset})",
            hint="Convert the file to UTF-8 (msgconv does that)",
        ) from error
