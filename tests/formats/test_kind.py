"""What a file is: real beginnings of each kind, and plain text that resembles them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.formats.kind import Kind, kind_of, kind_of_name, kind_of_start

CUE = "1\n00:00:01,000 --> 00:00:02,500\nEin Apfel\n"
FOUND: list[tuple[str, Kind]] = [
    ('<?xml version="1.0"?>\n<tmx version="1.4"><header/></tmx>', Kind.TMX),
    ("\n<?xml version='1.0' encoding='UTF-8'?><!-- a > b --><tmx\n version='1.1'>", Kind.TMX),
    ('<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n<header>', Kind.TMX),
    ('<tmx version="1.4">\n<header srclang="en"/>', Kind.TMX),
    ('<?xml version="1.0"?><xliff version="1.2" xmlns="urn:x">\n<file>', Kind.XLIFF),
    ('<x:xliff xmlns:x="urn:x" version="2.0"><x:file>', Kind.XLIFF),
    ('<xliff xmlns="urn:x">\n  <file/></xliff>\n', Kind.XLIFF),
    ('<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS version="2.1" language="de">', Kind.QT),
    ('<!DOCTYPE TS [<!ENTITY nbsp "&#160;">]><TS><context>', Kind.QT),
    ('<?xml version="1.0"?><TRADOStag Version="2.0">', Kind.TTX),
    ('<?xml version="1.0"?><txml version="1.0" locale="EN">', Kind.TXML),
    ('<?xml version="1.0"?><!DOCTYPE martif SYSTEM "x.dtd"><martif type="TBX">', Kind.TBX),
    ('<?xml version="1.0"?>\n<whatever>', Kind.XML),
    ('<?xml version="1.0"?>\n<resources>', Kind.ANDROID),
    ('<srcset setid="x" srclang="any">\n<doc docid=1>\n<seg id=1>Ja.</seg>', Kind.SGML),
    ("<?xml version='1.0'?>\n<dataset id='wmt'><doc>", Kind.TEST_SET),
    ("<!DOCTYPE html>\n<html lang=de><head>", Kind.HTML),
    ("<html>\n<body>\n<p>Ja.</p>", Kind.HTML),
    (CUE, Kind.SRT),
    (CUE.replace("\n", "\r\n"), Kind.SRT),
    ("WEBVTT\n\n00:01.000 --> 00:02.000 align:start\nJa\n", Kind.VTT),
    ("WEBVTT - a film\nKind: captions\n\nintro\n00:00:01.000 --> 00:00:02.000\nJa\n", Kind.VTT),
    ("[Script Info]\nTitle: x\nScriptType: v4.00+\n", Kind.ASS),
    ('# head\n#, fuzzy\nmsgid ""\nmsgstr ""\n"Language: de\\n"\n', Kind.PO),
    ('#~ msgid "a"\n#~ msgstr "b"\n', Kind.PO),
    ('msgid\t"one"\nmsgid_plural "two"\nmsgstr[0] "eins"\n', Kind.PO),
    ('msgctxt "x"\n"y"\nmsgid "one"\nmsgstr "eins"\n', Kind.PO),
    ('{"de": "Ja", "en": "Yes"}\n{"de": "Nein", "en": "No"}\n', Kind.JSON),
    ('[\n {"de": "Ja", "en": "Yes"}\n]\n', Kind.JSON),
    ('{\n "data": [\n  {"de": "Ja", "e', Kind.JSON),
    ('[{"de": "Ja"}, {"de": "Nein"}]', Kind.JSON),
    ("\\id MRK - a translation\n\\h Markus\n\\c 1\n\\v 1 Text", Kind.USFM),
    ("{\\rtf1\\ansi\\deff0", Kind.RTF),
]


@pytest.mark.parametrize(("text", "kind"), FOUND)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_kind_is_known_by_its_first_bytes(text: str, kind: Kind, encoding: str) -> None:
    assert kind_of_start(text.encode(encoding)) == kind


PLAIN = [
    "<b>Achtung</b>: Ja.\nNein.\n",
    "<html><head/><body><p>Ein Hinweis</p></body></html>\nEine Zeile\n",
    "<tmx> is a root element\nxliff is one, too\n",
    "<tmx version='1.4'> is how it begins\n",
    "<resources> sind knapp\n",
    "<3 you\n",
    "<!-- a comment --> and text\n",
    "<?php echo 1; ?>\n",
    '<?xml version="1.0"?> is a declaration\nand this is text\n',
    "{name} hat gewonnen\n{0} Dateien\n",
    "{count, plural, one {# Datei} other {# Dateien}}\nNein\n",
    '{"a": 1} is an object\n',
    '{"a": 1}\nis JSON\n',
    '["Ja", "Nein"]\n',
    "[1] Siehe oben.\n[2] Siehe unten.\n",
    "[Script Info] is a heading\n",
    "{}\n[]\n",
    "# Überschrift\nmsgid ist ein Wort\n",
    'msgid "Ja" steht am Anfang,\nund mehr nicht\n',
    "1\n2\n3\n",
    "1\n00:00:01 ist eine Zeit\n",
    "von 00:00:01,000 --> 00:00:02,000\n",
    "WEBVTT is a form of subtitles\n",
    "WEBVTT\nis a word\n",
    "\\id is a marker of USFM\n\\c too\n",
    "PK ist eine Abkürzung\n",
    "BZh ist keine\n",
    "PAR1 ist ein Wort\n",
    "srcset=1\n",
    "",
    "\n\n",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_that_resembles_a_kind_is_plain_text(text: str) -> None:
    assert kind_of_start(text.encode()) is None
    assert kind_of(Path("x.de"), text.encode()) == Kind.TEXT


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<", "{", "[", "#", "1", "\n", " ", "wort", "-->", '"', "msgid", "tmx"]),
        max_size=12,
    ).map("".join)
)
def test_pieces_of_markup_in_any_order_are_no_kind(text: str) -> None:
    assert kind_of_start(text.encode()) in (None, Kind.PO)
    if kind_of_start(text.encode()) is Kind.PO:
        raise AssertionError(text)


@given(st.lists(st.dictionaries(st.text(), st.text(), min_size=1), min_size=2))
def test_any_json_lines_and_arrays_of_objects_are_json(records: list[dict[str, str]]) -> None:
    lines = "".join(f"{json.dumps(each)}\n" for each in records)
    assert kind_of_start(lines.encode()) == Kind.JSON
    for indent in (None, 1):
        text = json.dumps(records, indent=indent, ensure_ascii=False)
        assert kind_of_start(text.encode("utf-8", "surrogatepass")) == Kind.JSON


def zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            name, _, content = name.partition("=")
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (zipped("[Content_Types].xml", "word/document.xml"), Kind.DOCX),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), Kind.XLSX),
        (zipped("mimetype=application/vnd.oasis.opendocument.text"), Kind.ODT),
        (zipped("mimetype=application/vnd.oasis.opendocument.spreadsheet"), Kind.ODS),
        (zipped("a.txt"), Kind.ZIP),
        (b"%PDF-1.7\n%\xe2", Kind.PDF),
        (b"\x89PNG\r\n\x1a\n\0", Kind.IMAGE),
        (b"PAR1\x15\x04", Kind.PARQUET),
        (b"\xde\x12\x04\x95\0\0", Kind.MO),
    ],
)
def test_binary_kinds_are_known_by_their_first_bytes(data: bytes, kind: Kind) -> None:
    assert kind_of(Path("x.de"), data) == kind


def test_a_name_decides_where_the_bytes_say_nothing() -> None:
    for name, kind in {
        "m.TMX": Kind.TMX, "de.po.gz": Kind.PO, "x.md": Kind.MARKDOWN, "a.docx": Kind.DOCX,
        "train.de": Kind.TEXT, "train": Kind.TEXT, "notes.txt": Kind.TEXT, "x.de.zst": Kind.TEXT,
    }.items():  # fmt: skip
        assert kind_of_name(Path(name)) == kind_of(Path(name), b"") == kind


def test_bytes_decide_against_a_name() -> None:
    assert kind_of(Path("m.xml"), FOUND[0][0].encode()) == Kind.TMX
    assert kind_of(Path("m.txt"), FOUND[0][0].encode()) == Kind.TMX
    assert kind_of(Path("m.csv"), zipped("xl/workbook.xml")) == Kind.XLSX
    assert kind_of(Path("m.docx"), zipped("a.txt")) == Kind.DOCX  # more exact than the bytes
    assert kind_of(Path("m.resx"), b'<?xml version="1.0"?><root>') == Kind.XML


def test_suffixes_that_are_languages_as_well_need_the_bytes() -> None:
    """Tsonga is ts, as Qt's translations are; Sauri is srt."""
    for name in ("train.ts", "train.srt", "train.mo"):
        assert kind_of(Path(name), b"Xana u njhani?\n") == Kind.TEXT
    assert kind_of(Path("app.ts"), b'<!DOCTYPE TS><TS version="2.1">') == Kind.QT
    assert kind_of(Path("film.srt"), CUE.encode()) == Kind.SRT
