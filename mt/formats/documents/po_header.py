"""The header of a catalogue: what it says of language, charset and plural forms, and new values."""

from __future__ import annotations

import re

from mt.formats.documents.plural_forms import PluralForms, plural_forms, plural_forms_of
from mt.formats.documents.po_strings import escaped
from mt.formats.documents.splice import Edit
from mt.formats.po_entries import Entry

_CHARSET = re.compile(r"charset\s*=\s*([\w.:()-]+)", re.IGNORECASE)
_TEMPLATE = "CHARSET"
_GAP = re.compile(r'"\s*"')  # where a string goes on in the next


class Header:
    """The first entry of a catalogue, which tells of it; there may be none."""

    def __init__(self, text: str, entry: Entry | None, newline: str) -> None:
        self._text = text
        self.entry = entry
        self._newline = newline
        strings = entry.strings.get(0, []) if entry else []
        self._span = (strings[0][0], strings[-1][1]) if strings else None

    @property
    def is_template(self) -> bool:
        """Whether it is that of a POT, of no language and no charset yet."""
        return self.charset == _TEMPLATE

    @property
    def charset(self) -> str:
        """The name of the encoding that it gives."""
        found = _CHARSET.search(self.field("Content-Type") or "")
        return found[1] if found else ""

    def field(self, name: str) -> str | None:
        """The value of a field; None if it is missing."""
        found = self._found(name)
        return None if found is None else _GAP.sub("", found[1]).strip()

    def plural_forms(self, language: str, *, is_translated: bool) -> PluralForms | None:
        """The forms that entries have: those of the header if something `is_translated` by them.

        Else those of the language, else those of the header, if it has some.
        """
        declared = plural_forms(self.field("Plural-Forms") or "")
        if declared and is_translated:
            return declared
        known = plural_forms_of(language)
        if declared and known and declared.number == known.number:
            return declared
        return known or declared

    def set_field(self, name: str, value: str) -> list[Edit]:
        """What changes when a field gets a value; a field that is missing is added at the end."""
        if self._span is None or self.field(name) == value:
            return []
        found = self._found(name)
        if found is None:
            end = self._span[1]
            edits = [(end, end, f'{self._newline}"{name}: {escaped(value)}\\n"')]
            if not self._text.endswith(('\\n"', '""'), 0, end):
                edits.append((end - 1, end - 1, "\\n"))
            return edits
        return [(*found.span(1), f" {escaped(value)}")]

    def set_charset(self, charset: str) -> list[Edit]:
        """What changes when the charset is another."""
        content_type = self.field("Content-Type")
        if content_type is None:
            return self.set_field("Content-Type", f"text/plain; charset={charset}")
        if _CHARSET.search(content_type):
            new = _CHARSET.sub(f"charset={charset}", content_type, count=1)
        else:
            new = f"{content_type.rstrip('; ')}; charset={charset}"
        return self.set_field("Content-Type", new)

    def _found(self, name: str) -> re.Match[str] | None:
        if self._span is None:
            return None
        field = re.compile(rf'(?:(?<=")|(?<=\\n)){name}:((?:[^\\"]|\\[^n]|"\s*")*)', re.IGNORECASE)
        return field.search(self._text, *self._span)
