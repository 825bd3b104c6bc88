"""Corpora of communities and test sets: spreadsheets, scripture, SGML and XML, subtitles."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from mt.errors import ConfigError, DataError
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from tests.formats.test_forms import faults, pairs, read

Found = list[tuple[str, str, str]]


def read_two(*paths: Path, langs: tuple[str, str] | None = None) -> Found:
    (reader,) = open_corpora([str(path) for path in paths], ReadingOptions(languages=langs)).readers
    return [(pair.source, pair.target, pair.fault) for pair in reader]


# Spreadsheets


def xlsx(*sheets: Sequence[Sequence[str]], inline: bool = False) -> bytes:
    strings: list[str] = []
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        links, names = "", ""
        for number, rows in enumerate(sheets, start=1):
            body = ""
            for r, row in enumerate(rows, start=1):
                cells = ""
                for c, text in enumerate(row):
                    place = f"{chr(65 + c)}{r}"
                    if not text:
                        continue
                    if inline:
                        cells += f'<c r="{place}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'
                    else:
                        strings.append(text)
                        cells += f'<c r="{place}" t="s"><v>{len(strings) - 1}</v></c>'
                body += f'<row r="{r}">{cells}</row>'
            archive.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f'<worksheet xmlns="urn:m"><sheetData>{body}</sheetData></worksheet>',
            )
            links += f'<Relationship Id="r{number}" Target="worksheets/sheet{number}.xml"/>'
            names += f'<sheet name="S{number}" sheetId="{number}" r:id="r{number}"/>'
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{links}</Relationships>")
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="urn:m" xmlns:r="urn:r"><sheets>{names}</sheets></workbook>',
        )
        shared = "".join(
            f"<si><r><t>{escape(text[:2])}</t></r><r><t xml:space='preserve'>{escape(text[2:])}</t>"
            "</r><rPh><t>reading</t></rPh></si>"
            for text in strings
        )
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="urn:m">{shared}</sst>')
    return file.getvalue()


def ods(rows: Sequence[Sequence[str]], *, repeated: str = "1") -> bytes:
    body = ""
    for row in rows:
        cells = "".join(
            "<table:table-cell><office:annotation><text:p>note</text:p></office:annotation>"
            + "".join(f"<text:p>{part}</text:p>" for part in escape(cell).split("\n"))
            + "</table:table-cell>"
            if cell
            else '<table:table-cell table:number-columns-repeated="1"/>'
            for cell in row
        )
        empty = '<table:table-cell table:number-columns-repeated="16000"/>'
        row_start = f'<table:table-row table:number-rows-repeated="{repeated}">'
        body += f"{row_start}{cells}{empty}</table:table-row>"
    row_end = "<table:table-cell/></table:table-row>"
    empty_rows = f'<table:table-row table:number-rows-repeated="1048000">{row_end}'
    names = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "table", "text"))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>"
            f'<table:table table:name="A">{body}{empty_rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return file.getvalue()


TABLE = [
    ("id", "de", "en"),
    ("1", "Guten Tag & so", "Good day"),
    ("", "", ""),
    ("2", "Zwei\nZeilen", "Two\nlines"),
    ("3", "nur deutsch", ""),
    ("4", "", "English only"),
    ("5", "<007>", "null"),
]
EXPECTED = [
    ("Guten Tag & so", "Good day", ""),
    ("Zwei Zeilen", "Two lines", ""),
    ("nur deutsch", "", "no target"),
    ("", "English only", "no source"),
    ("<007>", "null", ""),
]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("m.xlsx", xlsx(TABLE)),
        ("n.xlsx", xlsx(TABLE, inline=True)),
        ("m.ods", ods(TABLE)),
    ],
)
def test_the_columns_of_a_spreadsheet_are_sides(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert read(str(path), "de>en") == EXPECTED
    assert read(str(path), columns=("de", "en")) == EXPECTED
    assert pairs(read(str(path), columns=("3", "2")))[1] == ("Good day", "Guten Tag & so")
    with pytest.raises(DataError, match=r":1 \(\w+\): cannot tell the columns"):
        read(str(path))
    reversed_ = [(b, a) for a, b in pairs(EXPECTED)]
    assert pairs(read(str(path), "en>de")) == reversed_


def test_rows_of_another_sheet_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    more = [("en", "de"), ("More", "Mehr")]
    path.write_bytes(xlsx(TABLE[:2], [("only notes",), ("here",)], more))
    found = read(str(path), "de>en")
    assert pairs(found) == [("Guten Tag & so", "Good day"), ("Mehr", "More")]
    assert faults(found) == ["rows of a sheet without the columns"] * 2


@pytest.mark.parametrize("name", ["m.xlsx", "m.ods"])
@pytest.mark.parametrize("cut", [0, 10, 200, -20])
def test_a_damaged_spreadsheet_is_one_error(tmp_path: Path, name: str, cut: int) -> None:
    path = tmp_path / name
    path.write_bytes((xlsx(TABLE) if name == "m.xlsx" else ods(TABLE))[:cut])
    with pytest.raises(DataError, match=name):
        read(str(path), "de>en")


@pytest.mark.parametrize("repeated", ["9999999999", "often"])
def test_a_row_that_stands_too_often_is_one_error(tmp_path: Path, repeated: str) -> None:
    path = tmp_path / "m.ods"
    path.write_bytes(ods(TABLE, repeated=repeated))
    with pytest.raises(DataError, match=r"m\.ods"):
        read(str(path), "de>en")


# Scripture

ENGLISH = r"""\id RUT A translation
\h Ruth
\mt1 Ruth
\c 1
\s1 A title
\p
\v 1 In the days of \w judges|lemma="judge"\w*, a \nd man\nd*\f + \ft a note\f* went.
\v 2-3 His name,\x - \xt Gen 1:1\x* and hers:
\q1 a line
\q2 another~line
\c 2
\p \v 1 Naomi  // had
\v 2a She went
\p
\v 2b and stayed
\v 3 Missing there
"""
GERMAN = r"""\id RUT
\c 1
\p
\v 1 In den Tagen der Richter ging ein Mann.
\v 2 Sein Name
\v 3 und ihrer: eine Zeile, noch eine
\c 2
\v 1 Naomi hatte
\v 2 Sie ging und blieb
\v 4 Fehlt dort
"""


def test_verses_are_pairs_and_joined_ones_are_joined_on_the_other_side(tmp_path: Path) -> None:
    source, target = tmp_path / "eng.usfm", tmp_path / "deu.SFM"
    source.write_text(ENGLISH, "utf-8")
    target.write_bytes(GERMAN.encode("utf-8-sig"))
    found = read_two(source, target, langs=("en", "de"))
    assert pairs(found) == [
        ("In the days of judges, a man went.", "In den Tagen der Richter ging ein Mann."),
        (
            "His name, and hers: a line another line",
            "Sein Name und ihrer: eine Zeile, noch eine",
        ),
        ("Naomi had", "Naomi hatte"),
        ("She went and stayed", "Sie ging und blieb"),
    ]
    assert sorted(faults(found)) == ["no source", "no target"] + ["text outside of verses"] * 3
    with pytest.raises(ConfigError, match=r"is USFM scripture, its partner .* is plain text"):
        other = tmp_path / "other.de"
        other.write_text("x\n")
        read_two(source, other)


# Test sets

SOURCE_SET = """<srcset setid="s" srclang="{langs}">
<doc docid="a" genre="news">
<hl><seg id="1">Caf&eacute; &amp; more</seg></hl>
<p>
<seg id="2"> Two
lines </seg>
</p></doc>
<DOC docid=b><seg id=1>Other</seg><seg id=2>Lost</seg></DOC>
</srcset>
"""
REFERENCE_SET = """<refset setid="s" srclang="en" trglang="de">
<doc docid="b" sysid="ref"><seg id="1">Andere</seg></doc>
<doc docid="a" sysid="ref">
<seg id="2">Zwei Zeilen</seg>
<seg id="1">Café &amp; mehr</seg><seg id="9">Nur hier</seg></doc>
<doc docid="a" sysid="ref2"><seg id="2">2 Zeilen</seg></doc>
</refset>
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_segments_of_sgml_are_paired_by_document_and_number(tmp_path: Path, encoding: str) -> None:
    source, target = tmp_path / "s-src.en.sgm", tmp_path / "s-ref.de.sgm"
    source.write_bytes(SOURCE_SET.format(langs="any").encode(encoding))
    target.write_bytes(REFERENCE_SET.encode(encoding))
    found = read_two(source, target)
    assert pairs(found) == [
        ("Café & more", "Café & mehr"),
        ("Two lines", "Zwei Zeilen"),
        ("Two lines", "2 Zeilen"),
        ("Other", "Andere"),
    ]
    assert faults(found) == ["no target", "no source"]
    opened = open_corpora([str(source), str(target)])
    assert (opened.source_language, opened.target_language) == ("en", "de")


def test_a_test_set_in_xml_has_both_sides(tmp_path: Path) -> None:
    def side(name: str, lang: str, *texts: str) -> str:
        segs = "".join(f'<seg id="{i}">{t}</seg>' for i, t in enumerate(texts, start=1))
        return f'<{name} lang="{lang}" translator="{lang}"><p>{segs}</p></{name}>'

    path = tmp_path / "wmt.xml"
    path.write_text(
        "<?xml version='1.0' encoding='utf-8'?>\n<dataset id='x'><doc id='a'>"
        + side("src", "en", "One", "Two &amp; three")
        + side("ref", "de", "Eins", "Zwei &amp; drei")
        + side("ref", "de", "1")
        + side("hyp", "de", "falsch")
        + "</doc></dataset>",
        "utf-8",
    )
    found = read(str(path))
    assert pairs(found) == [("One", "Eins"), ("Two & three", "Zwei & drei"), ("One", "1")]
    assert faults(found) == ["no target"]
    assert pairs(read(str(path), "de>en"))[0] == ("Eins", "One")
    opened = open_corpora([str(path)])
    assert (opened.source_language, opened.target_language) == ("en", "de")


# Subtitles


def srt(*cues: tuple[int, int, str], mark: str = ",") -> str:
    def time(ms: int) -> str:
        return (
            f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{mark}{ms % 1000:03}"
        )

    return "".join(
        f"{i}\n{time(start)} --> {time(end)}\n{text}\n\n"
        for i, (start, end, text) in enumerate(cues, start=1)
    )


def films(tmp_path: Path, source: str, target: str, suffix: str = "srt") -> Found:
    paths = tmp_path / f"a.en.{suffix}", tmp_path / f"a.de.{suffix}"
    for path, text in zip(paths, (source, target), strict=True):
        path.write_text(text, "utf-8")
    return read_two(*paths)


def test_cues_of_one_time_are_a_pair_whatever_their_number(tmp_path: Path) -> None:
    source = srt(
        (1000, 2500, "<i>One apple</i>\nis red."),
        (3000, 4000, "Two"),
        (4000, 5000, "{\\an8}pears."),
        (9000, 9500, "Alone."),
        (20_000, 21_000, "- Yes.\n\n- No."),
    )
    target = srt(
        (0, 500, "Vorspann"),
        (1100, 2600, "Ein Apfel ist rot."),
        (3050, 4980, "Zwei Birnen."),
        (20_100, 20_900, "- Ja.\n- Nein."),
    )
    found = films(tmp_path, source, target)
    assert found == [
        ("", "Vorspann", "no source"),
        ("One apple is red.", "Ein Apfel ist rot.", ""),
        ("Two pears.", "Zwei Birnen.", ""),
        ("Alone.", "", "no target"),
        ("- Yes. - No.", "- Ja. - Nein.", ""),
    ]


def test_webvtt_has_notes_styles_and_names_of_cues(tmp_path: Path) -> None:
    text = (
        "WEBVTT - a film\n\nSTYLE\n::cue { color: red }\n\nNOTE hidden\nhidden too\n\n"
        "intro\n00:01.000 --> 00:02.000 align:start\n<v Roger>One &amp; two\n\n"
        "NOTE again\n\nsecond\n01:00:02.500 --> 01:00:03.000\n<c.red>Three</c> <00:19.000>four\n"
    )
    found = films(tmp_path, text, text, suffix="vtt")
    assert pairs(found) == [("One & two", "One & two"), ("Three four", "Three four")]


def test_cues_of_any_cut_are_paired_whole(tmp_path: Path) -> None:
    """Words with their times are cut into cues at random on each side; no word is lost."""
    draw = random.Random(1)
    words = [f"w{i}" for i in range(60)]

    def cues() -> str:
        cuts = sorted({0, 60, *draw.sample(range(60), 25)})
        return srt(*((1000 * a, 1000 * b - 10, " ".join(words[a:b])) for a, b in pairwise(cuts)))

    for _ in range(20):
        found = films(tmp_path, cues(), cues())
        for side in (0, 1):
            assert " ".join(each[side] for each in found if each[side]).split() == words
        shared = sum(len(set(a.split()) & set(b.split())) for a, b, _ in found)
        assert shared >= 45
