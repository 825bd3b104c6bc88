"""The forms of translators and data sets: what is taken, what is left out, what is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.errors import ConfigError, DataError
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions, matching, on_one_line

Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, data: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(path)

    return write_file


def read(
    path: str, langs: str | None = None, columns: tuple[str, str] | None = None
) -> list[tuple[str, str, str]]:
    languages = None
    if langs is not None:
        source, _, target = langs.partition(">")
        languages = (source, target)
    opened = open_corpora([path], ReadingOptions(languages=languages, columns=columns))
    return [(p.source, p.target, p.fault) for reader in opened.readers for p in reader]


def pairs(found: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    return [(source, target) for source, target, fault in found if not fault]


def faults(found: list[tuple[str, str, str]]) -> list[str]:
    return [fault for _, _, fault in found if fault]


def tmx(*units: str, header: str = '<header srclang="en"/>', doctype: str = "") -> str:
    body = "".join(f"<tu>{unit}</tu>\n" for unit in units)
    return f'<?xml version="1.0"?>{doctype}\n<tmx version="1.4">{header}<body>{body}</body></tmx>'


def tuv(code: str, text: str, attribute: str = "xml:lang") -> str:
    return f'<tuv {attribute}="{code}"><seg>{text}</seg></tuv>'


# TMX


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "iso-8859-1"])
def test_tmx_is_read_in_its_own_encoding(write: Write, encoding: str) -> None:
    name = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16"}.get(encoding, encoding)
    text = tmx(tuv("en-US", 'kilo <ph x="1"/>léma') + tuv("es", "adún", "lang"))
    text = text.replace('version="1.0"', f'version="1.0" encoding="{name}"')
    data = text.encode(encoding)
    if encoding == "utf-16-le":
        data = b"\xff\xfe" + data
    assert read(write("m.tmx", data), "en>es") == [("kilo léma", "adún", "")]


def test_tmx_codes_go_text_stays_and_lines_are_joined(write: Write) -> None:
    unit = (
        tuv("en-GB", '<bpt i="1">&lt;b></bpt>kilo<ept i="1">&lt;/b></ept> <hi>lema</hi>\nnora')
        + tuv("fr", "f")
        + tuv("es-ES", 'adun <ph>code <sub>hidden</sub></ph>obel <it pos="begin">x</it>irak')
    )
    assert read(write("m.tmx", tmx(unit)), "en>es") == [("kilo lema nora", "adun obel irak", "")]


def test_tmx_languages_match_whatever_their_case_and_region(write: Write) -> None:
    path = write("m.TMX", tmx(tuv("En-uS", "a") + tuv("FR-CA", "b")))
    for langs in ("en>fr", "EN-us>fr-CA", "en_US>fr"):
        assert read(path, langs) == [("a", "b", "")]
    assert read(path, "fr>en") == [("b", "a", "")]


@pytest.mark.parametrize("langs", ["eng>deu", "eng_Latn>ger", "en>de", "en-GB>deu-AT"])
@pytest.mark.parametrize("codes", [("en", "de"), ("eng", "deu"), ("en-US", "ger_DE")])
def test_languages_have_two_letters_or_three(
    write: Write, langs: str, codes: tuple[str, str]
) -> None:
    english, german = codes
    declared = f'source-language="{german}" target-language="{english}"'
    turned = f'{{"translation": {{"{german}": "b", "{english}": "a"}}}}\n'
    paths = [
        write("m.tmx", tmx(tuv(german, "b") + tuv(english, "a"))),
        write("m.xlf", xliff1(unit1("b", "a"), languages=declared)),
        write("m.tsv", f"{german}\t{english}\nb\ta\n"),
        write("m.csv", f"id,{german},{english}\n1,b,a\n"),
        write("m.jsonl", turned),
    ]
    for path in paths:
        assert read(path, langs) == [("a", "b", "")]
    missing = write("n.jsonl", f'{{"{english}": "a"}}\n{{"{german}": "b"}}\n')
    assert faults(read(missing, langs)) == ["no target", "no source"]


def test_norwegian_is_bokmal_or_nynorsk_where_nothing_fits_better(write: Write) -> None:
    path = write("m.tmx", tmx(tuv("no", "a") + tuv("nn", "b") + tuv("en", "c")))
    assert pairs(read(path, "nb>en")) == [("a", "c")]
    assert pairs(read(path, "nno>en")) == [("b", "c")]
    assert pairs(read(path, "nb>nn")) == [("a", "b")]
    assert faults(read(path, "sv>en")) == ["no source"]


def test_aligned_files_are_put_in_the_order_of_the_languages(write: Write) -> None:
    for german, english in (("de", "en"), ("deu", "eng"), ("ger", "en-us")):
        files = [write(f"a.{german}", "b\n"), write(f"a.{english}", "a\n")]
        for paths in (files, files[::-1]):
            opened = open_corpora(paths, ReadingOptions(languages=("en", "deu_Latn")))
            ((pair,),) = opened.readers
            assert (pair.source, pair.target) == ("a", "b")
    # The same language on both sides has regions to tell them.
    files = [write("a.pt-br", "a\n"), write("a.pt-pt", "b\n")]
    (reader,) = open_corpora(files, ReadingOptions(languages=("pt-PT", "pt-BR"))).readers
    assert [pair.source for pair in reader] == ["b"]


def test_tmx_variants_of_a_side_are_pairs_each_and_exact_codes_win(write: Write) -> None:
    path = write("m.tmx", tmx(tuv("en-US", "color") + tuv("en-GB", "colour") + tuv("de", "Farbe")))
    assert pairs(read(path, "en>de")) == [("color", "Farbe"), ("colour", "Farbe")]
    assert pairs(read(path, "en-GB>de")) == [("colour", "Farbe")]
    assert pairs(read(path, "en-US>en-GB")) == [("color", "colour")]


def test_tmx_units_that_lack_a_side_are_counted(write: Write) -> None:
    path = write(
        "m.tmx",
        tmx(tuv("en", "a") + tuv("de", "b"), tuv("en", "c") + tuv("fr", "d"), tuv("de", "e")),
    )
    found = read(path, "en>de")
    assert pairs(found) == [("a", "b")]
    assert faults(found) == ["no target", "no source"]


def test_tmx_gives_its_languages_when_there_are_two(write: Write) -> None:
    two = tmx(tuv("de", "b") + tuv("en", "a"))
    opened = open_corpora([write("two.tmx", two)])
    assert (opened.source_language, opened.target_language) == ("en", "de")
    assert pairs(read(write("two.tmx", two))) == [("a", "b")]
    many = write("many.tmx", tmx(tuv("de", "b") + tuv("en", "a") + tuv("fr", "c")))
    with pytest.raises(DataError, match=r"not hold just two languages\. Say which: --langs"):
        read(many)


def test_the_corpora_of_a_mixture_all_go_the_same_way(write: Write) -> None:
    """A memory whose header says en, beside files that say de first, is read from de to en."""
    memory = write("m.tmx", tmx(tuv("en", "Yes") + tuv("de", "Ja")))
    german, english = write("a.de", "Nein\n"), write("a.en", "No\n")
    for paths in ([german, english, memory], [german, english, memory, english, german]):
        opened = open_corpora(paths)
        assert (opened.source_language, opened.target_language) == ("de", "en")
        found = [(pair.source, pair.target) for reader in opened.readers for pair in reader]
        assert set(found) == {("Nein", "No"), ("Ja", "Yes")}


def test_tmx_with_a_namespace_is_read_alike(write: Write) -> None:
    text = tmx(tuv("de", "b") + tuv("en", "a")).replace("<tmx ", '<tmx xmlns="urn:x" ')
    opened = open_corpora([write("m.tmx", text)])
    assert (opened.source_language, opened.target_language) == ("en", "de")
    assert [(pair.source, pair.target) for pair in opened.readers[0]] == [("a", "b")]


def test_xml_expands_no_entity_and_fetches_nothing(write: Write, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SECRET")
    doctype = (
        f'<!DOCTYPE tmx SYSTEM "tmx14.dtd" [<!ENTITY lol "lol"><!ENTITY lots "&lol;&lol;&lol;">'
        f'<!ENTITY file SYSTEM "file://{tmp_path}/secret">]>'
    )
    unit = tuv("en", "a &lots; &file; &amp; b") + tuv("de", "c")
    ((source, _, _),) = read(write("m.tmx", tmx(unit, doctype=doctype)), "en>de")
    assert "lol" not in source
    assert "SECRET" not in source
    assert "& b" in source


@pytest.mark.parametrize("cut", [30, 90, 130])
def test_broken_xml_is_named_with_its_line(write: Write, cut: int) -> None:
    text = tmx(tuv("en", "a") + tuv("de", "b"), tuv("en", "a") + tuv("de", "b"))
    with pytest.raises(DataError, match=r"m\.tmx:\d+: not well-formed XML"):
        read(write("m.tmx", text[:cut]), "en>de")


@pytest.mark.parametrize("name", ["m.tmx", "m.xliff"])
@pytest.mark.parametrize("data", [b"", b"kilo\n", b"<html/>", b"\0\0", b"PK\x03\x04"])
def test_what_is_no_such_xml_is_refused(write: Write, name: str, data: bytes) -> None:
    with pytest.raises(DataError, match=name):
        read(write(name, data), "en>de")


def test_a_large_memory_is_read_in_a_stream(write: Write) -> None:
    import tracemalloc

    text = tmx(*(tuv("en", f"a {i} " * 20) + tuv("de", f"b {i}") for i in range(4000)))
    path = write("m.tmx", text)
    tracemalloc.start()
    opened = open_corpora([path], ReadingOptions(languages=("en", "de")))
    assert sum(1 for reader in opened.readers for _ in reader) == 4000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(text) / 2


# XLIFF


def xliff1(*units: str, languages: str = 'source-language="en-US" target-language="de"') -> str:
    body = "".join(units)
    return (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
        f'<file original="x" datatype="plaintext" {languages}><body>{body}</body></file></xliff>'
    )


def unit1(source: str, target: str | None, attributes: str = "", more: str = "") -> str:
    side = "" if target is None else f"<target {attributes}>{target}</target>"
    return f'<trans-unit id="1"><source>{source}</source>{more}{side}</trans-unit>'


def test_xliff_1_takes_units_and_leaves_suggestions_and_codes(write: Write) -> None:
    alternative = "<alt-trans><source>wrong</source><target>falsch</target></alt-trans>"
    text = xliff1(
        unit1('a <g id="1">b</g><x id="2"/> c<ph id="3">code</ph>', "d") + alternative,
        unit1("e", None),
        unit1("f", ""),
        unit1("g", "g", 'state="needs-translation"'),
        unit1("h", "i", 'state="translated"'),
        f"<group>{unit1('j', 'k')}</group>",
    )
    found = read(write("m.xlf", text))
    assert pairs(found) == [("a b c", "d"), ("h", "i"), ("j", "k")]
    assert faults(found) == ["no target", "no target", "marked as not translated"]


def test_xliff_1_units_are_cut_where_they_are_marked(write: Write) -> None:
    marks = [
        "".join(f'<mrk mid="{i}" mtype="seg">{text}</mrk> ' for i, text in enumerate(texts))
        for texts in (["A b.", "C d."], ["E.", "F."], ["only one"])
    ]
    cut = unit1("A b. C d.", marks[1], more=f"<seg-source>{marks[0]}</seg-source>")
    uneven = unit1("A b. C d.", marks[2], more=f"<seg-source>{marks[0]}</seg-source>")
    found = pairs(read(write("m.sdlxliff", xliff1(cut, uneven))))
    assert found == [("A b.", "E."), ("C d.", "F."), ("A b.", "only one")]


def test_xliff_2_takes_segments(write: Write) -> None:
    text = (
        '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" '
        'trgLang="de"><file id="f"><group id="g"><unit id="u">'
        '<segment><source>a <pc id="1">b</pc><cp hex="0041"/></source><target>c</target></segment>'
        "<ignorable><source> </source></ignorable>"
        '<segment state="initial"><source>d</source><target>d</target></segment>'
        '<segment><source><sc id="2"/>e</source></segment></unit></group></file></xliff>'
    )
    found = read(write("m.xlf", text))
    assert pairs(found) == [("a bA", "c")]
    assert faults(found) == ["marked as not translated", "no target"]


def test_xliff_can_be_read_the_other_way_and_other_languages_are_counted(write: Write) -> None:
    path = write("m.xliff", xliff1(unit1("a", "b")))
    assert read(path, "en>de") == [("a", "b", "")]
    assert read(path, "de>en") == [("b", "a", "")]
    assert read(path, "fr>de") == [("", "", "other languages")]


# PO

PO = """# head
msgid ""
msgstr ""
"Content-Type: text/plain; charset={charset}\\n"

#: a.c:1
msgid "Open"
msgstr "Öffnen"

msgid "One\\n"
"two\\tthree"
msgstr "Eins\\nzwei"

#, fuzzy
msgid "Close"
msgstr "Klose"

msgid "Untranslated"
msgstr ""

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] "%d Dateien"

#~ msgid "Old"
#~ msgstr "Alt"
"""


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [("UTF-8", "utf-8"), ("CP1251", "utf-8"), ("ISO-8859-1", "latin-1"), ("utf-8", "utf-8-sig")],
)
def test_po_entries_plurals_and_what_is_left_out(write: Write, charset: str, encoding: str) -> None:
    found = read(write("m.po", PO.format(charset=charset).encode(encoding)))
    assert pairs(found) == [
        ("Open", "Öffnen"),
        ("One two three", "Eins zwei"),
        ("%d file", "%d Datei"),
        ("%d files", "%d Dateien"),
    ]
    assert faults(found) == ["fuzzy entry", "no target", "obsolete entry"]


def test_po_without_plural_in_the_target_pairs_the_plural(write: Write) -> None:
    text = 'msgid "file"\nmsgid_plural "files"\nmsgstr[0] "ファイル"\n'
    assert pairs(read(write("m.po", text))) == [("files", "ファイル")]


def test_broken_po_is_named_with_its_line(write: Write) -> None:
    with pytest.raises(DataError, match=r"m\.po:3: broken PO syntax"):
        read(write("m.po", 'msgid "a"\nmsgstr "b"\nnonsense\n'))
    with pytest.raises(DataError, match="neither UTF-8 nor the charset"):
        read(write("m.po", PO.format(charset="ASCII").encode("latin-1")))


# CSV and TSV


def test_csv_reads_quotes_headers_and_columns(write: Write) -> None:
    path = write("m.csv", 'id,de,en\n1,"Hallo, ""du""","Hello\nyou"\n007,null,True\n')
    expected = [('Hallo, "du"', "Hello you"), ("null", "True")]
    assert pairs(read(path, "de>en")) == expected
    assert pairs(read(path, columns=("de", "en"))) == expected
    assert pairs(read(path, columns=("3", "2")))[0] == ("en", "de")
    with pytest.raises(DataError, match=r"m\.csv:1: cannot tell .* 'de' and 'fr' among 'id'"):
        read(path, columns=("de", "fr"))


def test_csv_without_a_header_has_two_columns(write: Write) -> None:
    assert pairs(read(write("m.csv", "a,b\nc,d\n"))) == [("a", "b"), ("c", "d")]
    with pytest.raises(DataError, match=r"m\.csv:2: 3 columns, but there must be 2"):
        read(write("m.csv", "a,b\nc,d,e\n"))
    with pytest.raises(DataError, match=r"m\.csv:\d+: broken CSV"):
        read(write("m.csv", 'a,"b\nc,d\n'))


def test_tsv_columns_by_name_and_number(write: Write) -> None:
    path = write("m.tsv", "id\tde\ten\tnote\n1\tHallo\tHello\tx\n2\tJa\tYes\t\n")
    assert pairs(read(path, columns=("de", "en"))) == [("Hallo", "Hello"), ("Ja", "Yes")]
    assert pairs(read(path, columns=("2", "3")))[1] == ("Hallo", "Hello")
    assert pairs(read(write("l.tsv", "de\ten\nJa\tYes\n"), "de>en")) == [("Ja", "Yes")]
    assert pairs(read(write("l.tsv", "de\ten\nJa\tYes\n")))[0] == ("de", "en")
    named = write("s.tsv", "score\tSource\ttarget\n-1\tJa\tYes\n")
    assert pairs(read(named)) == pairs(read(named, "de>en")) == [("Ja", "Yes")]
    assert pairs(read(write("t.tsv", "source\ttarget\n")))[0] == ("source", "target")
    with pytest.raises(DataError, match=r"m\.tsv:1: 4 columns, but there must be 2"):
        read(path)
    with pytest.raises(DataError, match=r"n\.tsv:2: 1 column, but there must be at least 3"):
        read(write("n.tsv", "a\tb\tc\nd\n"), columns=("1", "3"))


# JSON lines, Parquet, Hub


def test_json_lines_flat_nested_and_by_key(write: Write) -> None:
    rows = [
        {"translation": {"de": "Hallo\ndu", "en": "Hello\tyou"}},
        {"de": "2020-01-02", "en": "null", "id": "7"},
    ]
    path = write("m.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert pairs(read(path, "de>en")) == [("Hallo du", "Hello you"), ("2020-01-02", "null")]
    assert pairs(read(path, "en>de"))[0] == ("Hello you", "Hallo du")
    plain = write("p.json", '{"src": "a", "tgt": "b", "n": 1}\n\n{"tgt": "d", "src": "c"}\n')
    assert pairs(read(plain)) == [("a", "b"), ("c", "d")]
    keyed = write("k.jsonl", '{"q": "a", "r": "b", "s": 1.50}\n')
    assert pairs(read(keyed, columns=("r", "s"))) == [("b", "1.50")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "m.jsonl:2: not JSON"),
        ("[1, 2]", "m.jsonl:2: not a JSON object, but list"),
        ('{"de": ["x"], "en": "y"}', "m.jsonl:2: a side is no text, but list"),
        ('{"de": true, "en": "y"}', "m.jsonl:2: a side is no text, but bool"),
        ('{"a": "x", "b": "y", "c": "z"}', "m.jsonl:2: cannot tell the columns"),
        ('{"de": "\\u00"}', "m.jsonl:2: not JSON"),
    ],
)
def test_json_lines_faults_are_named(write: Write, line: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(write("m.jsonl", '{"de": "a", "en": "b"}\n' + line + "\n"), "de>en")


def test_json_lines_without_a_side_are_counted(write: Write) -> None:
    path = write("m.jsonl", '{"de": null, "en": "b"}\n{"de": "a"}\n{"en": "b"}\n')
    assert faults(read(path, "de>en")) == ["no source", "no target", "no source"]


def test_half_a_surrogate_pair_in_json_is_a_mark_of_broken_text(write: Write) -> None:
    path = write("m.jsonl", '{"de": "\\ud800x", "en": "\\ud83d\\ude00 \\udfff"}\n')
    assert pairs(read(path, "de>en")) == [("\ufffdx", "\U0001f600 \ufffd")]


def test_parquet_by_language_and_as_translations(write: Write, tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    flat = pyarrow.table({"id": [1, 2], "de": ["Ja", None], "en": ["Yes", "No"]})
    parquet.write_table(flat, tmp_path / "m.parquet")
    found = read(str(tmp_path / "m.parquet"), "de>en")
    assert pairs(found) == [("Ja", "Yes")]
    assert faults(found) == ["no source"]
    nested = pyarrow.table({"translation": [{"de": "Ja", "en": "Yes"}]})
    parquet.write_table(nested, tmp_path / "n.parquet")
    assert pairs(read(str(tmp_path / "n.parquet"), "en>de")) == [("Yes", "Ja")]
    with pytest.raises(DataError, match=r"x\.parquet: not a Parquet file"):
        read(write("x.parquet", b"PAR1 no"), "de>en")


def test_a_saved_dataset_is_read_with_its_languages(tmp_path: Path) -> None:
    from datasets import Dataset, DatasetDict, Features, Translation

    features = Features({"translation": Translation(languages=["de", "en"])})
    rows = [{"translation": {"de": "Ja", "en": "Yes"}}, {"translation": {"de": "Nein", "en": "No"}}]
    data = Dataset.from_list(rows, features=features)
    data.save_to_disk(str(tmp_path / "one"))
    DatasetDict({"train": data, "test": data.select([1])}).save_to_disk(str(tmp_path / "many"))
    opened = open_corpora([f"hf:{tmp_path}/one"])
    assert (opened.source_language, opened.target_language) == ("de", "en")
    assert pairs(read(f"hf:{tmp_path}/one")) == [("Ja", "Yes"), ("Nein", "No")]
    assert pairs(read(f"hf:{tmp_path}/many@test", "en>de")) == [("No", "Nein")]
    with pytest.raises(DataError, match="it has no split 'dev', but train, test"):
        read(f"hf:{tmp_path}/many@dev")


def test_a_folder_with_new_content_of_the_same_size_and_time_gives_the_new_rows(
    tmp_path: Path,
) -> None:
    """F16: and dates are text, and so is null."""
    folder = tmp_path / "data"
    folder.mkdir()
    file = folder / "train.csv"
    for row in ("null,2020-01-02", "none,2021-03-04"):
        file.write_text(f"de,en\n{row}\n")
        os.utime(file, (10**9, 10**9))
        assert pairs(read(f"hf:{folder}", "de>en")) == [tuple(row.split(","))]
    file.unlink()
    (folder / "train.jsonl").write_text('{"de": "2020-01-02", "en": "007"}\n')
    assert pairs(read(f"hf:{folder}", "de>en")) == [("2020-01-02", "007")]


def test_columns_of_dates_are_text(tmp_path: Path) -> None:
    """F16."""
    import datetime

    import pyarrow
    from pyarrow import parquet

    day = datetime.date(2020, 1, 2)
    parquet.write_table(pyarrow.table({"de": ["a"], "en": [day]}), tmp_path / "m.parquet")
    assert pairs(read(str(tmp_path / "m.parquet"), "de>en")) == [("a", "2020-01-02")]


def test_a_dataset_that_is_not_there_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"^hf:\S+ cannot be loaded: [^\n]+$"):
        read(f"hf:{tmp_path}/none")
    with pytest.raises(ConfigError, match="names no dataset"):
        open_corpora(["hf:"])


def test_an_element_with_a_colon_and_no_namespace_is_refused(write: Write) -> None:
    unit = '<trans-unit id="1"><source>a</source><target>b</target></trans-unit>'
    head = 'version="1.2"><file source-language="de" target-language="en">'
    with pytest.raises(DataError, match=r"m\.xlf:1: not well-formed XML: Namespace prefix bo"):
        read(write("m.xlf", f"<xliff {head}<bo:dy>{unit}</bo:dy></file></xliff>"))


@pytest.mark.parametrize(
    ("code", "expected"), [("0041", "A"), ("D800", "\ufffd"), ("zz", "\ufffd")]
)
def test_xliff_2_spells_characters_that_xml_cannot_hold(
    code: str, expected: str, write: Write
) -> None:
    body = (
        '<xliff version="2.0" srcLang="de" trgLang="en"><file id="1"><unit id="1"><segment>'
        f'<source>x<cp hex="{code}"/>y</source><target>z</target></segment></unit></file></xliff>'
    )
    assert pairs(read(write("m.xlf", body))) == [(f"x{expected}y", "z")]


# All forms


def _numbered() -> dict[str, bytes]:
    """A good file of each form, its pairs numbered: `quelle 3` and `ziel 3`."""
    sides = [(f"quelle {i}", f"ziel {i}") for i in range(6)]
    units = [tuv("de", s) + tuv("en", t) for s, t in sides]
    xliff = "".join(
        f'<trans-unit id="{i}"><source>{s}</source><target>{t}</target></trans-unit>'
        for i, (s, t) in enumerate(sides)
    )
    head = 'version="1.2"><file source-language="de" target-language="en"><body>'
    return {
        "m.tsv": "".join(f"{s}\t{t}\n" for s, t in sides).encode(),
        "m.csv": "".join(f'{s},"{t}"\n' for s, t in sides).encode(),
        "m.jsonl": "".join(json.dumps({"de": s, "en": t}) + "\n" for s, t in sides).encode(),
        "m.tmx": tmx(*units).encode(),
        "m.xliff": f"<xliff {head}{xliff}</body></file></xliff>".encode(),
        "m.po": "".join(f'msgid "{s}"\nmsgstr "{t}"\n\n' for s, t in sides).encode(),
        "m.de": "".join(f"{s}\n" for s, _ in sides).encode(),
        "m.en": "".join(f"{t}\n" for _, t in sides).encode(),
    }


GOOD = _numbered()
INSERTED = st.binary(max_size=3) | st.sampled_from(
    [b"\n", b"\r", b"\t", b'"', b"\0", b"<", b"\xff"]
)


def read_bytes(
    folder: Path, name: str, data: bytes, *, keep_invalid: bool
) -> tuple[list[tuple[str, str]], str]:
    """The good pairs of a file, and the error at which it ended; aligned text has a good side."""
    path = folder / name
    path.write_bytes(data)
    paths = [str(path)]
    if name.startswith("m.de"):
        (folder / "m.en").write_bytes(GOOD["m.en"])
        paths.append(str(folder / "m.en"))
    options = ReadingOptions(languages=("de", "en"), keep_invalid=keep_invalid)
    found: list[tuple[str, str]] = []
    try:
        for reader in open_corpora(paths, options).readers:
            found += [(p.source, p.target) for p in reader if not p.fault]
    except DataError as error:
        return found, str(error)
    return found, ""


def assert_one_line_that_names(name: str, error: str) -> None:
    assert not error or name in error
    assert "\n" not in error


@settings(max_examples=150, deadline=None)
@given(
    data=st.binary(max_size=60)
    | st.text(st.sampled_from('<>/"{}[]:,tmxuvseg\n\t\\ \x00é'), max_size=60).map(str.encode),
    name=st.sampled_from([*GOOD, "m.parquet", "m.tsv.gz", "m.de.xz"]),
    keep_invalid=st.booleans(),
)
def test_any_bytes_end_in_pairs_or_in_one_error_that_names_the_file(
    data: bytes, name: str, *, keep_invalid: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    if name == "m.en":
        name = "m.de"
    found, error = read_bytes(folder, name, data, keep_invalid=keep_invalid)
    assert_one_line_that_names(name, error)
    for source, target in found:
        if not name.startswith("m.de"):  # there a CR inside a line is text
            assert not {"\r", "\t"} & set(source + target)
        assert "\n" not in source + target
        (source + target).encode("utf-8")


@settings(max_examples=400, deadline=None)
@given(
    name=st.sampled_from([name for name in GOOD if name != "m.en"]),
    start=st.floats(0, 1),
    num_deleted=st.integers(0, 4),
    inserted=INSERTED,
    keep_invalid=st.booleans(),
)
def test_a_damaged_file_ends_in_an_error_or_shifts_no_pair(
    name: str,
    start: float,
    num_deleted: int,
    inserted: bytes,
    *,
    keep_invalid: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    good = GOOD[name]
    place = int(start * len(good))
    data = good[:place] + inserted + good[place + num_deleted :]
    folder = tmp_path_factory.getbasetemp()
    found, error = read_bytes(folder, name, data, keep_invalid=keep_invalid)
    if error:
        assert_one_line_that_names(name, error)
        return
    numbers = [tuple(re.findall(r"\d$", side) for side in pair) for pair in found]
    shifted = [pair for pair in numbers if all(pair) and pair[0] != pair[1]]
    assert len(shifted) <= 1, found  # the one that the damage hit


@pytest.mark.parametrize("name", [name for name in GOOD if name != "m.en"])
def test_the_good_files_are_read_whole(name: str, tmp_path: Path) -> None:
    found, error = read_bytes(tmp_path, name, GOOD[name], keep_invalid=False)
    assert (found, error) == ([(f"quelle {i}", f"ziel {i}") for i in range(6)], "")


@pytest.mark.parametrize("name", ["m.tsv", "m.csv", "m.jsonl", "m.de"])
def test_a_side_that_is_not_utf_8_is_a_fault_of_its_pair_where_that_is_wished(
    name: str, tmp_path: Path
) -> None:
    data = GOOD[name].replace(b"quelle 2", b"quelle\xff 2")
    found, error = read_bytes(tmp_path, name, data, keep_invalid=True)
    assert (found, error) == ([(f"quelle {i}", f"ziel {i}") for i in range(6) if i != 2], "")
    found, error = read_bytes(tmp_path, name, data, keep_invalid=False)
    assert ":3: byte 0xff" in error


@pytest.mark.parametrize("name", ["m.tsv", "m.csv", "m.jsonl", "m.de"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_if_it_says_so_and_else_refused(
    name: str, encoding: str, tmp_path: Path
) -> None:
    data = GOOD[name].decode().encode(encoding)
    found, error = read_bytes(tmp_path, name, data, keep_invalid=False)
    if encoding == "utf-16":
        assert (found, error) == ([(f"quelle {i}", f"ziel {i}") for i in range(6)], "")
        _, error = read_bytes(tmp_path, name, data[:-1], keep_invalid=False)
        assert "broken" in error
    else:
        assert "UTF-16 without a byte order mark" in error


@given(st.text(st.sampled_from("ab \r\n\t"), max_size=12))
def test_on_one_line_joins_lines_and_keeps_the_rest(text: str) -> None:
    joined = on_one_line(text)
    assert not {"\n", "\r", "\t"} & set(joined)
    assert joined.replace(" ", "") == text.translate(dict.fromkeys(map(ord, "\r\n\t "), None))
    if not {"\n", "\r", "\t"} & set(text):
        assert joined == text


def test_codes_match_exactly_or_by_their_base() -> None:
    codes = ["en", "en-US", "pt_BR", "zh-Hans-CN"]
    assert matching("en", codes) == [0]
    assert matching("en-GB", codes) == [0, 1]
    assert matching("pt-br", codes) == [2]
    assert matching("zh", codes) == [3]
    assert matching("eng", codes) == [0]
    assert matching("engl", codes) == []
