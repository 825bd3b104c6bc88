"""PO catalogues of gettext: which pairs of texts they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mt.formats.file_reader import FileReader
from mt.formats.options import matching, on_one_line
from mt.formats.pair import INVALID, NO_TARGET, Pair
from mt.formats.po_entries import Entry, read_entries
from mt.formats.standard_input import shown

FUZZY = "fuzzy entry"
OBSOLETE = "obsolete entry"
OTHER_LANGUAGES = "other languages"
ENGLISH = "en"
"""The language of msgid where a header does not say (X-Source-Language), as gettext has it."""

_UNDECODED = re.compile("[\udc80-\udcff]")


class Po(FileReader):
    """A catalogue: msgid is the source, msgstr the target, the plural forms are pairs too.

    The header names the language of msgstr. Where it is the source that was asked for, the
    catalogue is read the other way round.
    """

    @property
    def languages(self) -> tuple[str, str] | None:
        """English, or what the header names as the source, and the language of the header."""
        for entry in self._entries():
            return _languages(entry)
        return None

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; fuzzy, obsolete and untranslated entries are pairs with a fault.

        Raises DataError, with the line, where the syntax is broken.
        """
        origin = shown(self._path)
        direction = 1
        for number, entry in enumerate(self._entries()):
            if entry.is_header:
                declared = _languages(entry) if number == 0 else None
                direction = self._direction(declared) if declared else direction
                continue
            fault = OBSOLETE if entry.is_obsolete else FUZZY if entry.is_fuzzy else ""
            for source, target in _forms(entry):
                if direction == 0:
                    yield Pair("", "", origin, entry.line, OTHER_LANGUAGES)
                    continue
                if _UNDECODED.search(source + target):
                    yield Pair("", "", origin, entry.line, INVALID)
                    continue
                missing = "" if target.strip() else NO_TARGET
                left, right = (source, target)[::direction]
                sides = on_one_line(left), on_one_line(right)
                yield Pair(*sides, origin, entry.line, fault or missing)

    def _entries(self) -> Iterator[Entry]:
        return read_entries(self._path, keep_invalid=self._options.keep_invalid)

    def _direction(self, declared: tuple[str, str]) -> int:
        """1 if the catalogue goes as asked, -1 if the other way, 0 if it is in another language."""
        asked = self._options.languages
        if asked is None or matching(asked[1], declared[1:]):
            return 1
        return -1 if matching(asked[0], declared[1:]) else 0


def _languages(header: Entry) -> tuple[str, str] | None:
    """The languages that a header names, if it names that of msgstr."""
    if not header.is_header:
        return None
    lines = (line.partition(":") for line in header.msgstr[0].split("\n"))
    fields = {name.strip().lower(): value.strip() for name, _, value in lines}
    # sr@latin, de_DE.UTF-8
    target = re.split("[.@]", fields.get("language", ""))[0]
    return (fields.get("x-source-language") or ENGLISH, target) if target else None


def _forms(entry: Entry) -> Iterator[tuple[str, str]]:
    """Source and target of an entry: the singular, then each plural form."""
    if entry.msgid_plural is None:
        yield entry.msgid, entry.msgstr[0]
        return
    forms = [text for _, text in sorted(entry.msgstr.items())]
    if len(forms) == 1:
        yield entry.msgid_plural, forms[0]
        return
    yield entry.msgid, forms[0]
    for form in forms[1:]:
        yield entry.msgid_plural, form
