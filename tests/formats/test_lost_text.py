"""F01 to F06, F09, F11, F13: no text is lost, compared with what other parsers find."""

from __future__ import annotations

import gettext
import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from xml.dom import minidom

import polib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from mt.errors import DataError
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.formats.po_entries import read_entries
from tests.formats.test_forms import faults, pairs, read, tmx, tuv, unit1, xliff1

DTD = (
    '<!DOCTYPE tmx SYSTEM "tmx14.dtd" '
    '[<!ENTITY owner "Müller &amp; S&#246;hne"><!ENTITY b "<b/>">]>'
)


def written(path: Path, data: str | bytes) -> str:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


# F01, F13


@pytest.mark.parametrize("doctype", ["", DTD, "<!DOCTYPE tmx>"])
def test_entities_of_html_are_text_with_and_without_a_doctype(tmp_path: Path, doctype: str) -> None:
    unit = tuv("en", "caf&eacute; here &amp; &lt;3") + tuv("de", "hier&nbsp;oben &#233;&#x1F600;")
    found = read(written(tmp_path / "m.tmx", tmx(unit, doctype=doctype)), "en>de")
    assert found == [("café here & <3", "hier oben é😀", "")]


def test_declared_entities_are_text_as_expat_has_it(tmp_path: Path) -> None:
    text = tmx(tuv("en", "by &owner; only") + tuv("de", "von &owner;"), doctype=DTD)
    document = minidom.parseString(text.encode())
    expected = tuple(
        "".join(node.nodeValue or "" for node in seg.childNodes)
        for seg in document.getElementsByTagName("seg")
    )
    assert pairs(read(written(tmp_path / "m.tmx", text), "en>de")) == [expected]


@pytest.mark.parametrize(
    "bad", ["&nobody;", "&b;", "&#x1F;", "&#0;", "\x1f", "&#xFFFE;", "&#55296;"]
)
@pytest.mark.parametrize("doctype", ["", DTD])
@pytest.mark.parametrize("size", [1, 700])
def test_one_unit_that_cannot_be_read_is_counted_and_the_others_are_read(
    tmp_path: Path, bad: str, doctype: str, size: int
) -> None:
    good = tuv("en", "one apple") + tuv("de", "ein Apfel")
    text = tmx(
        *[good] * size, tuv("en", f"two{bad} pears") + tuv("de", "zwei"), good, doctype=doctype
    )
    found = read(written(tmp_path / "m.tmx", text), "en>de")
    assert pairs(found) == [("one apple", "ein Apfel")] * (size + 1)
    assert faults(found) == ["unreadable character"]
    unit = xliff1(unit1(f"two{bad} pears", "zwei"), unit1("one", "eins"))
    found = read(written(tmp_path / "m.xlf", unit), "en>de")
    assert (pairs(found), faults(found)) == ([("one", "eins")], ["unreadable character"])


def test_references_in_cdata_and_comments_are_no_references(tmp_path: Path) -> None:
    unit = tuv("en", "<![CDATA[a &nobody; &#x1F; b]]><!-- &nobody; & -->") + tuv("de", "c")
    assert pairs(read(written(tmp_path / "m.tmx", tmx(unit)), "en>de")) == [
        ("a &nobody; &#x1F; b", "c")
    ]


@pytest.mark.parametrize("bad", ["a & b", "<b>", "&;", "</seg></tuv>"])
def test_broken_xml_is_told_by_its_line(tmp_path: Path, bad: str) -> None:
    good = tuv("en", "one") + tuv("de", "eins")
    text = tmx(*[good] * 500, tuv("en", bad) + tuv("de", "x"), *[good] * 500)
    with pytest.raises(DataError, match=r"m\.tmx:50[23]: not well-formed"):
        read(written(tmp_path / "m.tmx", text), "en>de")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "é",
                "&eacute;",
                "&amp;",
                "&lt;",
                "&#228;",
                "<![CDATA[",
                "]]>",
                "<!--",
                "-->",
                "<x>",
            ]
        )
    ).map("".join),
    st.integers(1, 12),
)
def test_what_is_mended_is_what_lxml_reads_however_it_is_cut(text: str, size: int) -> None:
    from mt.formats.xml_text import mended_blocks

    document = f'<!DOCTYPE r [<!ENTITY eacute "é">]><r>{text}</r>'.encode()
    blocks = [document[i : i + size] for i in range(0, len(document), size)]
    mended = b"".join(mended_blocks(blocks, name="x"))
    try:
        expected = etree.fromstring(document)
    except etree.XMLSyntaxError:
        with pytest.raises(etree.XMLSyntaxError):
            etree.fromstring(mended)
        return
    assert etree.tostring(etree.fromstring(mended), method="c14n") == etree.tostring(
        expected, method="c14n"
    )


def test_an_entity_bomb_and_deep_nesting_do_no_harm(tmp_path: Path) -> None:
    bomb = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    doctype = f'<!DOCTYPE tmx [<!ENTITY e0 "x">{bomb}]>'
    unit = tuv("en", "&e11;") + tuv("de", "b")
    found = read(written(tmp_path / "m.tmx", tmx(unit, doctype=doctype)), "en>de")
    assert faults(found) == ["unreadable character"]
    deep = tuv("en", "<hi>" * 2000 + "a" + "</hi>" * 2000) + tuv("de", "b")
    path = written(tmp_path / "d.tmx", tmx(deep))
    with suppress(DataError):  # of a parser that has a limit
        assert pairs(read(path, "en>de")) == [("a", "b")]


# F02


@pytest.mark.parametrize(
    "code",
    [
        '<x id="LINE_BREAK" ctype="lb" equiv-text="&lt;br/>"/>',
        '<x id="1" ctype="lb"/>',
        '<x id="1" equiv-text="&lt;br&gt;"/>',
        '<x id="CLOSE_PARAGRAPH"/>',
        '<x id="1" ctype="x-tab"/>',
        '<ph id="1">&lt;br /&gt;</ph>',
        '<ph id="1">\\n</ph>',
        '<ph id="1">&amp;nbsp;</ph>',
        '<bx id="1" equiv-text="&lt;p&gt;"/>',
        '<it id="1" pos="open">{\\line }</it>',
        '<ph id="1"> </ph>',
    ],
)
def test_a_code_that_stands_for_a_break_parts_words(tmp_path: Path, code: str) -> None:
    path = written(tmp_path / "m.xlf", xliff1(unit1(f"Line one{code}Line two", f"Eins{code}zwei")))
    assert pairs(read(path)) == [("Line one Line two", "Eins zwei")]


@pytest.mark.parametrize(
    "code",
    [
        '<x id="START_BOLD_TEXT" ctype="x-b" equiv-text="&lt;b>"/>',
        '<ph id="1">&lt;b&gt;</ph>',
        '<bpt id="1">&lt;bridge&gt;</bpt>',
        '<ph id="1">\\nn</ph>',
        '<x id="1"/>',
    ],
)
def test_another_code_parts_no_word(tmp_path: Path, code: str) -> None:
    path = written(tmp_path / "m.xlf", xliff1(unit1(f"fire{code}fly", f"Glüh{code}wurm")))
    assert pairs(read(path)) == [("firefly", "Glühwurm")]


def test_breaks_of_tmx_and_xliff_2_part_words(tmp_path: Path) -> None:
    unit = tuv("en", 'a<ph type="lb"/>b') + tuv("de", "c<ut>&lt;br&gt;</ut>d")
    assert pairs(read(written(tmp_path / "m.tmx", tmx(unit)), "en>de")) == [("a b", "c d")]
    text = (
        '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" '
        'srcLang="en" trgLang="de">'
        '<file id="f"><unit id="u"><segment><source>a<ph id="1" type="fmt" subType="xlf:lb"/>b'
        '</source><target>c<pc id="2" dispStart="&lt;p&gt;">d</pc>'
        "</target></segment></unit></file></xliff>"
    )
    assert pairs(read(written(tmp_path / "m.xlf", text))) == [("a b", "c d")]


# F03


def two_files(first: str, second: str) -> str:
    head, tail = '<xliff version="1.2">', "</xliff>"
    body = "".join(
        f'<file original="x" source-language="{codes[:2]}" target-language="{codes[3:]}">'
        f"<body>{unit1(codes[:2], codes[3:])}</body></file>"
        for codes in (first, second)
    )
    return head + body + tail


def test_files_of_several_languages_need_the_languages(tmp_path: Path) -> None:
    path = written(tmp_path / "m.xliff", two_files("en-de", "en-fr"))
    with pytest.raises(DataError, match=r"en-de and en-fr\. Say which: --langs"):
        read(path)
    found = read(path, "en>fr")
    assert (pairs(found), faults(found)) == ([("en", "fr")], ["other languages"])
    assert pairs(read(written(tmp_path / "n.xliff", two_files("en-de", "de-en")))) == [
        ("en", "de"),
        ("en", "de"),
    ]


def test_a_third_language_in_a_later_unit_needs_the_languages(tmp_path: Path) -> None:
    two, three = tuv("en", "a") + tuv("de", "b"), tuv("en", "a") + tuv("fr", "c")
    for later in (three, two + tuv("fr", "c")):
        path = written(tmp_path / "m.tmx", tmx(two, two, later))
        with pytest.raises(DataError, match=r"m\.tmx:\d+: there is 'fr' beside 'en' and 'de'"):
            read(path)
        assert len(pairs(read(path, "en>de"))) >= 2
    regions = tmx(two, tuv("en-GB", "c") + tuv("de-AT", "d"))
    assert pairs(read(written(tmp_path / "r.tmx", regions))) == [("a", "b"), ("c", "d")]


# F04


def cut(sources: list[str], targets: list[str], numbers: bool, more: str = "") -> str:
    def marks(texts: list[str]) -> str:
        return " ".join(
            f'<mrk mtype="seg"{f" mid={chr(34)}{i}{chr(34)}" if numbers else ""}>{text}</mrk>'
            for i, text in enumerate(texts)
        )

    seg_source = f"<seg-source>{marks(sources)}</seg-source>"
    text = unit1(" ".join(sources), marks(targets), more=seg_source)
    return text.replace("</trans-unit>", f"{more}</trans-unit>")


def test_segments_without_numbers_go_in_order(tmp_path: Path) -> None:
    text = xliff1(cut(["A.", "B."], ["a.", "b."], numbers=False))
    assert pairs(read(written(tmp_path / "m.xlf", text))) == [("A.", "a."), ("B.", "b.")]
    text = xliff1(cut(["A.", "B."], ["a."], numbers=False))
    assert read(written(tmp_path / "m.xlf", text)) == [("", "", "segments that do not fit")]


def test_segments_with_numbers_go_by_them(tmp_path: Path) -> None:
    text = xliff1(cut(["A.", "B.", "C."], ["a."], numbers=True))
    found = read(written(tmp_path / "m.xlf", text))
    assert (pairs(found), faults(found)) == ([("A.", "a.")], ["no target", "no target"])
    text = xliff1(cut(["A."], ["a.", "b."], numbers=True))
    found = read(written(tmp_path / "m.xlf", text))
    assert (pairs(found), faults(found)) == ([("A.", "a.")], ["no source"])


@pytest.mark.parametrize(
    ("conf", "is_used"),
    [("Translated", True), ("ApprovedTranslation", True), ("ApprovedSignOff", True)]
    + [(each, False) for each in ("Draft", "RejectedTranslation", "RejectedSignOff", "")],
)
def test_segments_of_trados_are_used_once_they_are_confirmed(
    tmp_path: Path, conf: str, is_used: bool
) -> None:
    said = f'conf="{conf}"' if conf else ""
    definitions = (
        '<sdl:seg-defs xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0">'
        f'<sdl:seg id="0" conf="Translated"/><sdl:seg id="1" {said}/>'
        "</sdl:seg-defs>"
    )
    text = xliff1(cut(["A.", "B."], ["a.", "b."], numbers=True, more=definitions))
    found = read(written(tmp_path / "m.sdlxliff", text))
    assert pairs(found) == [("A.", "a."), ("B.", "b.")][: 1 + is_used]
    assert faults(found) == ["not confirmed"] * (not is_used)


@pytest.mark.parametrize(
    ("attributes", "is_used"),
    [
        ('xmlns:m="http://www.memsource.com/mxlf/2.0" m:confirmed="0"', False),
        ('xmlns:m="http://www.memsource.com/mxlf/2.0" m:confirmed="1"', True),
        ('xmlns:mq="http://www.memoq.com/x" mq:status="Pretranslated"', False),
        ('xmlns:mq="http://www.memoq.com/x" mq:status="ManuallyConfirmed"', True),
    ],
)
def test_units_of_other_tools_are_used_once_they_are_confirmed(
    tmp_path: Path, attributes: str, is_used: bool
) -> None:
    text = xliff1(unit1("A.", "a.").replace("<trans-unit ", f"<trans-unit {attributes} "))
    found = read(written(tmp_path / "m.mxliff", text))
    assert bool(pairs(found)) == is_used
    assert faults(found) == ["not confirmed"] * (not is_used)


@pytest.mark.parametrize("qualifier", ["mt-suggestion", "leveraged-mt", "rejected-inaccurate"])
def test_drafts_and_what_was_rejected_are_no_pairs(tmp_path: Path, qualifier: str) -> None:
    state = f'state="needs-review-translation" state-qualifier="{qualifier}"'
    found = read(written(tmp_path / "m.xlf", xliff1(unit1("A.", "a.", state))))
    assert (pairs(found), faults(found)) == ([], ["not confirmed"])


# F06


def test_an_embedded_document_of_any_size_is_passed_over(tmp_path: Path) -> None:
    file = f"<internal-file>{'QUJD' * 3_000_000}</internal-file>"
    embedded = f"<header><reference>{file}</reference></header>"
    text = xliff1(unit1("A.", "a.")).replace("<body>", f"{embedded}<body>")
    assert pairs(read(written(tmp_path / "m.sdlxliff", text))) == [("A.", "a.")]


# F05

HEADER = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
)
CATALOGUES = {
    "wrapped": 'msgid\n"one apple"\nmsgstr\n"ein Apfel"\n',
    "plural": 'msgid "%d file"\nmsgid_plural "%d files"\n'
    'msgstr[0]\n"%d Datei"\nmsgstr[1]\n"%d "\n"Dateien"\n',
    "spaces": 'msgid "file"\nmsgid_plural "files"\nmsgstr[ 0 ] "Datei"\nmsgstr [1] "Dateien"\n',
    "tabs": 'msgid\t"one"\nmsgstr\t"eins"\n',
    "none": 'msgid"one"msgstr"eins"\nmsgid "two" msgstr "zwei"\n',
    "indented": '  msgid "one"\n\t msgstr "eins"\n',
    "parts": 'msgid "one " "apple"\nmsgstr "ein " "Apfel" ""\n',
    "no blank": 'msgid "one"\nmsgstr "eins"\nmsgctxt "x"\nmsgid "one"\nmsgstr "zwei"\n',
    "comments": '#note\n#\n#. a\n#: b:1\n#| msgid "old"\nmsgid "one"\nmsgstr "eins"\n#end',
    "escapes": 'msgid "a\\tb \\"c\\" \\\\ d\\n"\nmsgstr "x\\x41\\101 \\a\\n"\n',
    "flags": '#, c-format,fuzzy\nmsgid "one"\nmsgstr "eins"\n'
    '#, no-wrap\n#, fuzzy\nmsgid "two"\nmsgstr "zwei"\n',
    "obsolete": '#~| msgid "x"\n#~ msgid "old"\n#~ msgstr ""\n#~ "alt"\n\n'
    'msgid "one"\nmsgstr "eins"\n',
    "crlf": 'msgid "one"\r\nmsgstr ""\r\n"eins"\r\n',
    "domain": 'domain "other"\nmsgid "one"\nmsgstr "eins"\n',
}


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="msgfmt (gettext) is not installed")
@pytest.mark.parametrize("name", CATALOGUES)
def test_a_catalogue_is_read_as_msgfmt_reads_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.po"
    path.write_text(HEADER + CATALOGUES[name], "utf-8", newline="")
    made = tmp_path / "m.mo"
    command = ["msgfmt", "-o", str(made), str(path)]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if name == "domain":
        command = ["msgfmt", f"--directory={tmp_path}", str(path)]
        made = tmp_path / "other.mo"
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True)
    with made.open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    expected = {}
    for key, value in compiled.items():
        text, index = key if isinstance(key, tuple) else (key, 0)
        if text:
            expected[text.rpartition("\x04")[2], text.rpartition("\x04")[0], index] = value
    found = {
        (entry.msgid, entry.context or "", index): text
        for entry in read_entries(path)
        if not (entry.is_header or entry.is_fuzzy or entry.is_obsolete)
        for index, text in entry.msgstr.items()
    }
    assert found == expected


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), min_size=1)] * 2),
        min_size=1,
        max_size=5,
        unique_by=lambda pair: pair[0],
    )
)
def test_what_polib_writes_is_read_back(
    texts: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts = [pair for pair in texts if not {"\r", "\x85", "\u2028", "\u2029"} & set("".join(pair))]
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    catalogue.extend(polib.POEntry(msgid=source, msgstr=target) for source, target in texts)
    path = tmp_path_factory.getbasetemp() / "polib.po"
    path.write_text(str(catalogue), "utf-8", newline="")
    found = [(e.msgid, e.msgstr[0]) for e in read_entries(path) if not e.is_header]
    assert found == texts


def test_the_language_of_the_header_is_that_of_the_target(tmp_path: Path) -> None:
    head = HEADER.replace("charset=UTF-8", 'charset=UTF-8\\n"\n"Language: de_AT')
    path = written(tmp_path / "m.po", head + 'msgid "one"\nmsgstr "eins"\n')
    opened = open_corpora([path])
    assert (opened.source_language, opened.target_language) == ("en", "de_AT")
    assert pairs(read(path, "en>de")) == [("one", "eins")]
    assert pairs(read(path, "de>en")) == [("eins", "one")]
    assert faults(read(path, "en>fr")) == ["other languages"]


@pytest.mark.parametrize("line", ['msgstr "b"', 'msgid "a" x', 'msgid "open', "msgstr[0]"])
def test_what_is_no_catalogue_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"m\.po:[47]: broken PO syntax"):
        read(written(tmp_path / "m.po", f'msgid "x"\nmsgstr "y"\n\n{line}\n'))


def test_a_charset_in_any_spelling_is_used(tmp_path: Path) -> None:
    text = HEADER.replace("charset=UTF-8", "charset= ISO-8859-15") + 'msgid "a"\nmsgstr "Tür €"\n'
    assert pairs(read(written(tmp_path / "m.po", text.encode("iso-8859-15")))) == [("a", "Tür €")]


# F09


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("header", ["de{}en\n", "", "sep={}\nde{}en\n"])
def test_the_delimiter_of_a_csv_file_is_found(tmp_path: Path, delimiter: str, header: str) -> None:
    rows = [("rot, und Apfel", "red, and apple"), ("gelb, Birne", "yellow, pear")]
    if delimiter == ",":
        rows = [("rot; und", "red"), ("gelb", "yellow; and")]
    begin = header.replace("{}", delimiter)
    text = begin + "".join(f"{a}{delimiter}{b}\r\n" for a, b in rows)
    assert pairs(read(written(tmp_path / "m.csv", text), "de>en")) == rows


def test_one_comma_in_each_row_is_text_where_semicolons_separate(tmp_path: Path) -> None:
    text = "der rote, süße Apfel;the red apple\ndie gelbe, reife Birne;the yellow pear\n"
    assert pairs(read(written(tmp_path / "m.csv", text))) == [
        ("der rote, süße Apfel", "the red apple"),
        ("die gelbe, reife Birne", "the yellow pear"),
    ]
    quoted = '"gelbe; Birne";"yellow, pear"\n"a\nb";c\n'
    assert pairs(read(written(tmp_path / "m.csv", quoted))) == [
        ("gelbe; Birne", "yellow, pear"),
        ("a b", "c"),
    ]


def test_a_csv_file_that_may_be_cut_in_two_ways_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"whether , or ; separates the columns\. .*sep="):
        read(written(tmp_path / "m.csv", "a,b;c\nd,e;f\n"))


def test_a_field_of_any_length_is_read(tmp_path: Path) -> None:
    long = "wort " * 40_000
    found = pairs(read(written(tmp_path / "m.csv", f'"{long}",b\n')))
    assert found == [(long, "b")]


# F11

RECORDS = [{"de": "Ja", "en": "Yes"}, {"de": "Ä\n7", "en": "No"}]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("shape", [RECORDS, {"data": RECORDS}, {"version": 1, "rows": RECORDS}])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_document_of_json_is_read(
    tmp_path: Path, indent: int | None, shape: object, encoding: str
) -> None:
    text = json.dumps(shape, indent=indent, ensure_ascii=False)
    found = pairs(read(written(tmp_path / "m.json", text.encode(encoding)), "de>en"))
    assert found == [("Ja", "Yes"), ("Ä 7", "No")]


def test_a_nested_translation_within_a_document_is_read(tmp_path: Path) -> None:
    text = json.dumps({"data": [{"translation": each} for each in RECORDS]}, indent=1)
    assert len(pairs(read(written(tmp_path / "m.json", text), "de>en"))) == 2


def test_faults_of_a_document_are_told_by_their_line(tmp_path: Path) -> None:
    text = json.dumps(RECORDS, indent=2).replace('"en": "No"', '"en" "No"')
    with pytest.raises(DataError, match=r"m\.json:8: not JSON"):
        read(written(tmp_path / "m.json", text))
    for deep in ("[" * 100_000, '{"a":' * 100_000, "[\n" * 100_000):
        with pytest.raises(DataError, match=r"m\.json:\d+: not JSON"):
            read(written(tmp_path / "m.json", deep))
    with pytest.raises(DataError, match="not a JSON object, but list"):
        read(written(tmp_path / "m.json", "[1, 2]\n"))
    with pytest.raises(DataError, match=r"m\.json:2: not UTF-8"):
        opened = open_corpora(
            [written(tmp_path / "m.json", b'[\n{"a": "\xff"}\n]')],
            ReadingOptions(keep_invalid=True),
        )
        list(opened.readers[0])
