"""Catalogues in JSON (i18next and the like, ARB, messages.json of WebExtensions): values in place.

Keys, numbers, what is no text by `mt.formats.documents.values`, and white space stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mt.formats.documents.json_spans import Strings, Value, values_of
from mt.formats.documents.message import Message
from mt.formats.documents.message_cell import MessageCell
from mt.formats.documents.spliced import SplicedDocument
from mt.formats.documents.text_file import read_text_file
from mt.formats.documents.unit import Document, DocumentOptions
from mt.formats.documents.values import reason_against
from mt.formats.documents.xcstrings import read_xcstrings
from mt.formats.kind import suffix_of_name
from mt.languages import is_same_language

METADATA = "metadata of the catalogue"


def read_json(path: Path, options: DocumentOptions) -> Document:
    """Read a catalogue; raises DataError, with the line, for what is no JSON."""
    file = read_text_file(path)
    values = list(values_of(file))
    suffix = suffix_of_name(path)
    if suffix == "xcstrings":
        return read_xcstrings(file, values, options)
    is_metadata = _metadata(path, suffix, values)
    strings = Strings(file.text)
    cells, edits = [], []
    skipped: dict[str, int] = {}
    for value in values:
        if value.text is None:
            continue
        if suffix == "arb" and value.path == ("@@locale",):
            if options.target_language and is_same_language(value.text, options.source_language):
                language = options.target_language.replace("-", "_")
                edits.append((value.start, value.end, strings.written(language)))
            continue
        reason = METADATA if is_metadata(value) else reason_against(value.text)
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        message = Message(value.text, is_icu=True)
        cells.append(MessageCell(value.name, message, value.start, value.end, strings.written))
    return SplicedDocument(file, cells, skipped, when_filled=edits)


def _metadata(path: Path, suffix: str, values: Sequence[Value]) -> Callable[[Value], bool]:
    """What tells the metadata of a catalogue of its form from its text."""
    if suffix == "arb":
        return lambda value: any(str(key).startswith("@") for key in value.path)
    messages = {
        value.path[0] for value in values if len(value.path) == 2 and value.path[1] == "message"
    }
    entries = {value.path[0] for value in values if value.path}
    if path.name.startswith("messages.json") or (messages and messages == entries):
        return lambda value: value.path[1:] != ("message",)
    return lambda value: False
