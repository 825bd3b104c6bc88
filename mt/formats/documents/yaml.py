"""Catalogues in YAML (Rails and the like): values in place, each in the style that it has.

A catalogue whose only outermost key is the language of the source gets that of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mt.formats.documents.message import Message
from mt.formats.documents.message_cell import MessageCell
from mt.formats.documents.splice import Edit
from mt.formats.documents.spliced import SplicedDocument
from mt.formats.documents.text_file import TextFile, read_text_file
from mt.formats.documents.unit import Document, DocumentOptions
from mt.formats.documents.values import reason_against
from mt.formats.documents.yaml_scalars import Scalar, scalars_of, written
from mt.languages import is_same_language

OTHER_TYPE = "value of another type"
WITH_ANCHOR = "value with an anchor or a tag"


def read_yaml(path: Path, options: DocumentOptions) -> Document:
    """Read a catalogue; raises DataError, with the line, for broken YAML."""
    file = read_text_file(path)
    scalars = list(scalars_of(file))
    cells = []
    skipped: dict[str, int] = {}
    for scalar in scalars:
        if scalar.is_key:
            continue
        reason = "" if scalar.is_string else OTHER_TYPE
        if scalar.is_string:
            reason = reason_against(scalar.text) if scalar.is_plain_node else WITH_ANCHOR
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        cells.append(_cell(file, scalar))
    return SplicedDocument(file, cells, skipped, when_filled=_language(scalars, options))


def _cell(file: TextFile, scalar: Scalar) -> MessageCell:
    name = ".".join(map(str, scalar.path))

    def write(text: str) -> str:
        return written(text, scalar, file.newline)

    message = Message(scalar.text, is_icu=True)
    return MessageCell(name, message, scalar.start, scalar.end, write)


def _language(scalars: Sequence[Scalar], options: DocumentOptions) -> list[Edit]:
    """What changes in the outermost key."""
    outermost = [each for each in scalars if each.is_key and len(each.path) == 1]
    if len(outermost) != 1 or not options.source_language or not options.target_language:
        return []
    key = outermost[0]
    if not is_same_language(key.text, options.source_language):
        return []
    return [(key.start, key.end, written(options.target_language, key, "\n"))]
