"""What a file is, by its name and by its first bytes: the one place that decides.

Names are believed unless the first bytes say otherwise, and bytes are believed by structure: not by
one character, but by a declaration, a root element that more markup follows, a cue with its times.
Plain text may begin with `<`, `{`, `#` or a number.
"""

from __future__ import annotations

import codecs
import re
from enum import StrEnum
from pathlib import Path

from mt.formats.json_text import looks_like_json


class Kind(StrEnum):
    """A kind of file, by the name that messages give it."""

    TEXT = "plain text"
    PARAGRAPHS = "plain text by paragraphs"
    TSV = "tab-separated text"
    CSV = "comma-separated text"
    JSON = "JSON"
    CATALOGUE = "a catalogue in JSON"
    PARQUET = "Parquet"
    TMX = "TMX"
    XLIFF = "XLIFF"
    PO = "PO"
    XLSX = "an Excel workbook"
    ODS = "an OpenDocument spreadsheet"
    TEST_SET = "a test set in XML"
    SGML = "a test set in SGML"
    SRT = "SubRip subtitles"
    VTT = "WebVTT subtitles"
    USFM = "USFM scripture"
    ASS = "SubStation subtitles"
    TTML = "TTML subtitles"
    TBX = "TBX"
    QT = "a Qt translation file"
    ANDROID = "resources of Android"
    TTX = "Trados TTX"
    TXML = "Wordfast TXML"
    HTML = "HTML"
    XML = "XML"
    MARKDOWN = "Markdown"
    PROPERTIES = "Java properties"
    STRINGS = "Apple strings"
    YAML = "YAML"
    RTF = "RTF"
    PDF = "PDF"
    DOCX = "a Word document"
    PPTX = "a PowerPoint presentation"
    ODT = "an OpenDocument text"
    ODP = "an OpenDocument presentation"
    EPUB = "EPUB"
    OLD_OFFICE = "an Office document of the old form"
    ZIP = "a ZIP archive"
    TAR = "a tar archive"
    SEVEN_ZIP = "a 7-Zip archive"
    MO = "a compiled gettext catalogue"
    IMAGE = "an image"


_SUFFIXES = {
    Kind.TSV: "tsv",
    Kind.CSV: "csv",
    Kind.JSON: "json jsonl ndjson",
    Kind.CATALOGUE: "arb xcstrings",
    Kind.PARQUET: "parquet",
    Kind.TMX: "tmx",
    Kind.XLIFF: "xliff xlf xlf2 sdlxliff mxliff mqxliff txlf",
    Kind.PO: "po pot",
    Kind.XLSX: "xlsx xlsm xltx",
    Kind.ODS: "ods",
    Kind.SGML: "sgm sgml",
    Kind.SRT: "srt",
    Kind.VTT: "vtt",
    Kind.USFM: "usfm sfm ptx",
    Kind.ASS: "ass ssa",
    Kind.TTML: "ttml dfxp",
    Kind.TBX: "tbx",
    Kind.QT: "ts",
    Kind.TTX: "ttx",
    Kind.TXML: "txml",
    Kind.HTML: "html htm xhtml",
    Kind.XML: "xml resx stringsdict dita ditamap idml",
    Kind.MARKDOWN: "md markdown",
    Kind.PROPERTIES: "properties",
    Kind.STRINGS: "strings",
    Kind.YAML: "yml yaml",
    Kind.RTF: "rtf",
    Kind.PDF: "pdf",
    Kind.DOCX: "docx docm",
    Kind.PPTX: "pptx pptm",
    Kind.ODT: "odt",
    Kind.ODP: "odp",
    Kind.EPUB: "epub",
    Kind.OLD_OFFICE: "doc xls ppt",
    Kind.ZIP: "zip",
    Kind.TAR: "tar tgz",
    Kind.SEVEN_ZIP: "7z",
    Kind.MO: "mo gmo",
}
_BY_SUFFIX = {suffix: kind for kind, names in _SUFFIXES.items() for suffix in names.split()}

_CODES_TOO = frozenset({"ts", "srt", "vtt", "ass", "ssa", "mo", "doc", "sgm"})
"""Suffixes that are codes of languages as well (Tsonga, Sauri, …): these need the bytes, too."""

_STARTS: tuple[tuple[bytes, Kind], ...] = (
    (b"%PDF-", Kind.PDF),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind.OLD_OFFICE),
    (b"7z\xbc\xaf\x27\x1c", Kind.SEVEN_ZIP),
    (b"\xde\x12\x04\x95", Kind.MO),
    (b"\x95\x04\x12\xde", Kind.MO),
    (b"\x89PNG\r\n\x1a\n", Kind.IMAGE),
    (b"\xff\xd8\xff", Kind.IMAGE),
    (b"PAR1\x15", Kind.PARQUET),
)
_IN_ZIP: tuple[tuple[bytes, Kind], ...] = (
    (b"application/vnd.oasis.opendocument.spreadsheet", Kind.ODS),
    (b"application/vnd.oasis.opendocument.text", Kind.ODT),
    (b"application/vnd.oasis.opendocument.presentation", Kind.ODP),
    (b"application/epub+zip", Kind.EPUB),
    (b"word/", Kind.DOCX),
    (b"xl/", Kind.XLSX),
    (b"ppt/", Kind.PPTX),
)
_ROOTS = {
    "tmx": Kind.TMX,
    "xliff": Kind.XLIFF,
    "TS": Kind.QT,
    "tbx": Kind.TBX,
    "martif": Kind.TBX,
    "TRADOStag": Kind.TTX,
    "txml": Kind.TXML,
    "dataset": Kind.TEST_SET,
    "mteval": Kind.SGML,
    "srcset": Kind.SGML,
    "refset": Kind.SGML,
    "tstset": Kind.SGML,
    "html": Kind.HTML,
    "HTML": Kind.HTML,
    "tt": Kind.TTML,
    "resources": Kind.ANDROID,
    "plist": Kind.XML,
    "svg": Kind.XML,
}
_BOMS = (  # the longer ones first: UTF-32 begins as UTF-16 does
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)

HEAD = 1 << 16
"""Bytes by which a file is known."""

_DECLARATION = re.compile(r"\s*<\?xml\s+version\s*=[^>]{1,200}\?>")
_BETWEEN = re.compile(r"\s+|<!--.*?-->|<\?.*?\?>", re.DOTALL)
_DOCTYPE = re.compile(r"<!DOCTYPE\s+([A-Za-z_][\w.:-]*)[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.I)
_ATTRIBUTE = r"""\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'|[\w.-]+)"""
_ROOT = re.compile(rf"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)(?:{_ATTRIBUTE})*\s*>(?=\s*<|\s*$)")
_CUE_TIME = r"(?:\d{1,3}:)?\d\d:\d\d[,.]\d{1,3}"
_CUE = re.compile(rf"^[ \t]*{_CUE_TIME}[ \t]*-->[ \t]*{_CUE_TIME}", re.M)
_FIRST_CUE = re.compile(rf"\s*(?:\d+[ \t]*\r?\n[ \t]*)?{_CUE_TIME}[ \t]*-->[ \t]*{_CUE_TIME}")
_WEBVTT = re.compile(r"WEBVTT(?=[ \t\r\n]|$)")
_SUBSTATION = re.compile(r"\s*\[Script Info\][ \t]*\r?\n(?=(?:.*\n)*?(?:ScriptType|\[V4))", re.I)
_STRINGS = r'(?:\s*"(?:[^"\\\n]|\\.)*")+'
_ENTRY = re.compile(
    rf"(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*(?:domain{_STRINGS}\s*)?(?:msgctxt{_STRINGS}\s*)?"
    rf"msgid{_STRINGS}\s*(?:#.*\n\s*)*msg(?:str|id_plural)\b"
)
_OBSOLETE = re.compile(r'(?:[ \t]*(?:#.*)?\r?\n)*?#~\s*msgid\s*".*\n(?:#~.*\n)*?#~\s*msgstr')
_USFM = re.compile(
    r"\s*\\id\s+[A-Z0-9]{3}\b(?=(?:.*\n)*?[ \t]*\\(?:ide|h|toc\d?|mt\d?|c|p|usfm|rem)\b)"
)
_RTF = re.compile(r"\{\\rtf\d")


def kind_of(path: Path, start: bytes) -> Kind:
    """What a file is, by its name and its first bytes (unpacked)."""
    named, found = kind_of_name(path), kind_of_start(start)
    if found is None:
        if suffix_of_name(path) in _CODES_TOO:
            return Kind.TEXT
        return named
    is_xml = found == Kind.XML and named not in (Kind.TEXT, Kind.TSV, Kind.CSV)
    is_zip = found == Kind.ZIP and named != Kind.TEXT
    return named if is_xml or is_zip else found


def kind_of_name(path: Path) -> Kind:
    """What a name says; plain text unless it is known."""
    return _BY_SUFFIX.get(suffix_of_name(path), Kind.TEXT)


def is_form(suffix: str) -> bool:
    """Whether a suffix, in small letters, that follows another one names a form."""
    return (suffix in _BY_SUFFIX and suffix not in _CODES_TOO) or suffix in ("srt", "vtt", "sgm")


def suffixes_of(kind: Kind) -> list[str]:
    """The suffixes of a kind, without their dots."""
    return _SUFFIXES.get(kind, "").split()


def suffix_of(kind: Kind) -> str:
    """The suffix of a kind, with its dot."""
    return f".{_SUFFIXES[kind].split()[0]}" if kind in _SUFFIXES else ""


def is_code_too(path: Path) -> bool:
    """Whether the suffix of a path may name a language as well as a form."""
    return suffix_of_name(path) in _CODES_TOO


def kind_of_start(start: bytes) -> Kind | None:
    """What the first bytes (up to `HEAD`, unpacked) show; None where they may be plain text."""
    start = start[:HEAD]
    for magic, kind in _STARTS:
        if start.startswith(magic):
            return kind
    if start.startswith(b"PK\x03\x04"):
        return next((kind for mark, kind in _IN_ZIP if mark in start), Kind.ZIP)
    if start[257:262] == b"ustar":
        return Kind.TAR
    return kind_of_text(decoded_start(start))


def kind_of_text(text: str) -> Kind | None:
    """What the beginning of a text shows; None where it may be plain text."""
    begin = text[:400].lstrip()
    if begin.startswith("<"):
        return _markup(text)
    if begin.startswith(("{", "[")):
        if _RTF.match(begin):
            return Kind.RTF
        if _SUBSTATION.match(text):
            return Kind.ASS
        return Kind.JSON if looks_like_json(text) else None
    if _FIRST_CUE.match(text):
        return Kind.SRT
    if _WEBVTT.match(text) and (_CUE.search(text) or not text[6:].strip()):
        return Kind.VTT
    if "msgid" in text and (_ENTRY.match(text) or _OBSOLETE.match(text)):
        return Kind.PO
    return Kind.USFM if _USFM.match(text) else None


def decoded_start(start: bytes) -> str:
    """The text of some first bytes, however they are encoded; the last character may be broken."""
    for mark, encoding in _BOMS:
        if start.startswith(mark):
            return start.decode(encoding, "replace")
    if start[:4] in (b"<\0?\0", b"\0<\0?"):  # XML may say it within
        return start.decode("utf-16-le" if start[0] else "utf-16-be", "replace")
    return start.decode("utf-8", "replace")


def encoding_by_mark(start: bytes) -> str | None:
    """utf-16 or utf-32, where a text begins with their byte order mark."""
    for mark, encoding in _BOMS[:4]:
        if start.startswith(mark):
            return encoding
    return None


def may_be_mark(start: bytes) -> bool:
    """Whether more bytes could make a byte order mark of these."""
    return any(mark.startswith(start) and mark != start for mark, _ in _BOMS)


def _markup(text: str) -> Kind | None:
    """The kind of XML, HTML or SGML, by what stands before the root and by the root."""
    declaration = _DECLARATION.match(text)
    place = declaration.end() if declaration else 0
    doctype = ""
    while found := (_BETWEEN.match(text, place) or _DOCTYPE.match(text, place)):
        doctype = doctype or (found[1] if found.re is _DOCTYPE else "")
        place = found.end()
    is_known = bool(declaration or doctype)
    if place >= len(text):
        return _ROOTS.get(doctype, Kind.XML) if is_known else None
    root = _ROOT.match(text, place)
    if is_known:
        if root is None and not text.startswith("<", place):
            return None
        name = root[1] if root else _name_at(text, place)
        return _ROOTS.get(name) or _ROOTS.get(doctype) or _ROOTS.get(doctype.lower(), Kind.XML)
    if root is None or root[1] not in _ROOTS:
        return None
    # A line of a text may be markup as a whole; what follows it is text then.
    first, _, rest = text[place:].lstrip().partition("\n")
    return None if f"</{root[1]}>" in first and rest.strip() else _ROOTS[root[1]]


def _name_at(text: str, place: int) -> str:
    """The local name of a tag that is not complete, or not of that form."""
    name = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)").match(text, place)
    return name[1] if name else ""


def suffix_of_name(path: Path) -> str:
    """The last suffix of a name that is none of a packing, in small letters and without its dot."""
    suffixes = [suffix for suffix in path.suffixes if suffix.lower() not in PACKED]
    return suffixes[-1][1:].lower() if suffixes else ""


PACKED = frozenset({".gz", ".xz", ".zst", ".bz2"})
"""Suffixes of packed files, which say nothing of what is packed."""
