"""Documents: files that come back as the same kind of file, their text translated.

`open_document` finds the format; each module reads and writes one family of formats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.android import Android
from mt.formats.documents.html import Html
from mt.formats.documents.json import read_json
from mt.formats.documents.markdown import read_markdown
from mt.formats.documents.office import Office
from mt.formats.documents.opendocument import OpenDocument
from mt.formats.documents.paragraphs import read_paragraphs
from mt.formats.documents.po import read_po
from mt.formats.documents.properties import read_properties
from mt.formats.documents.qt import Qt
from mt.formats.documents.strings import read_strings
from mt.formats.documents.subtitles import read_ass, read_srt, read_vtt
from mt.formats.documents.table import read_csv, read_tsv
from mt.formats.documents.tmx import Tmx
from mt.formats.documents.unit import Document, DocumentOptions
from mt.formats.documents.xliff import Xliff
from mt.formats.documents.yaml import read_yaml
from mt.formats.kind import Kind

_READERS: dict[Kind, Callable[[Path, DocumentOptions], Document]] = {
    Kind.PARAGRAPHS: read_paragraphs,
    Kind.PO: read_po,
    Kind.SRT: read_srt,
    Kind.VTT: read_vtt,
    Kind.ASS: read_ass,
    Kind.MARKDOWN: read_markdown,
    Kind.PROPERTIES: read_properties,
    Kind.STRINGS: read_strings,
    Kind.CSV: read_csv,
    Kind.TSV: read_tsv,
    Kind.YAML: read_yaml,
    Kind.JSON: read_json,
    Kind.CATALOGUE: read_json,
    Kind.ANDROID: Android,
    Kind.HTML: Html,
    Kind.QT: Qt,
    Kind.TMX: Tmx,
    Kind.XLIFF: Xliff,
    **{kind: partial(Office, kind=kind) for kind in (Kind.DOCX, Kind.PPTX, Kind.XLSX)},
    **{kind: partial(OpenDocument, kind=kind) for kind in (Kind.ODT, Kind.ODP, Kind.ODS)},
}


def open_document(path: Path, kind: Kind, options: DocumentOptions) -> Document:
    """Read a file of a kind that is known as a document.

    Raises DataError for a kind that is none, and for a file at fault.
    """
    if kind not in _READERS:
        raise DataError(f"{path}: {kind} is not translated as a document")
    return _READERS[kind](path, options)


def is_document(kind: Kind) -> bool:
    """Whether files of a kind are translated as documents."""
    return kind in _READERS
