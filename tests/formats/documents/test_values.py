"""Properties, strings, YAML, tables and paragraphs as documents."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.errors import DataError
from mt.formats.documents.paragraphs import read_paragraphs
from mt.formats.documents.text_file import TextFile
from mt.formats.documents.unit import Code, DocumentOptions, State
from mt.formats.documents.yaml_scalars import scalars_of
from mt.formats.documents.yaml_scalars import written as yaml_written
from tests.formats.documents.filling import fill_all, opened, shown, sources, upper, written

PROPERTIES = r"""# A comment = not text \
! another
simple=One word
with\ space : Two words   \
    and\: more \
    of them
empty=
unicode = caf\u00e9 \ud83d\ude00
format = It''s {0} files
lone = It's {name} here
id = a.b.c
	tab	Tab\tand\nline
"""
STRINGS = r"""/* A comment "x" = "y"; */
"key" = "A \"value\" with \U00e9";
// more
bare = "Second
line";
"same";
"%@" = "%@";
"""
CATALOGUE = """# comment
en:
  plain: A plain text # comment
  single: 'It''s here'
  double: "Say \\"hi\\"\\nnow"
  folded: >-
    Some text that
    goes on

    and on
  literal: |
    First line
      second line

  list: [one thing, "two things"]
  long: "A text that goes
    on over lines"
  number: 3
  yes: true
  anchored: &a Some text
  alias: *a
  date: 2024-01-01
  items:
    - Item one
    - "%{count} items"
"""


def test_what_is_not_filled_stays_byte_for_byte(tmp_path: Path) -> None:
    for name, text in (
        ("a.properties", PROPERTIES),
        ("a.strings", STRINGS),
        ("a.yml", CATALOGUE),
        ("a.csv", 'source,target\n"a ""b""",\n\nc,"d\ne"\n'),
        ("a.tsv", 'source\ttarget\tnote\n"a\t\tx\n'),
    ):
        for newline in ("\n", "\r\n"):
            for encoding in ("utf-8", "utf-8-sig", "utf-16"):
                data = text.replace("\n", newline).encode(encoding)
                assert written(opened(tmp_path / name, data)) == data


def test_values_of_properties_are_units(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.properties", PROPERTIES.encode())
    assert [(unit.name, shown(unit.source)) for unit in document.units] == [
        ("simple", "One word"),
        ("with space", "Two words   and: more of them"),
        ("unicode", "café 😀"),
        ("format", "It's {0} files"),
        ("lone", "It's {name} here"),
        ("tab", "Tab⟦\t⟧and line"),
    ]
    assert document.skipped == {"value without words": 1, "identifier": 1}
    result = fill_all(document).decode()
    assert "unicode = CAF\\u00c9 \\ud83d\\ude00\n" in result
    assert "format = IT''S {0} FILES\n" in result
    assert "lone = IT'S {NAME} HERE\n" in result
    assert "with\\ space : TWO WORDS   \\\n    AND\\: MORE \\\n    OF THEM\n" in result
    assert result.startswith(PROPERTIES[: PROPERTIES.index("One word")])


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8"])
def test_properties_stay_in_the_encoding_of_their_bytes(tmp_path: Path, encoding: str) -> None:
    document = opened(tmp_path / "a.properties", "a=Schöne Grüße\n".encode(encoding))
    document.fill(0, ("Żółw ä",), marked=False)
    expected = r"a=\u017b\u00f3\u0142w ä" if encoding != "utf-8" else "a=Żółw ä"
    assert written(document).decode(encoding) == expected.replace(r"\u00f3", "ó") + "\n"


JAVA = """
import java.util.*; import java.io.*; import java.nio.charset.*;
public class Show { public static void main(String[] a) throws Exception {
  Properties p = new Properties(); p.load(new FileInputStream(a[0]));
  PrintStream out = new PrintStream(System.out, true, "UTF-8");
  for (String k : new TreeSet<String>(p.stringPropertyNames()))
    out.print(k + "\\u0001" + p.getProperty(k) + "\\u0002"); } }
"""


@pytest.mark.slow
def test_java_reads_the_values_that_were_written(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("java is not installed")
    document = opened(tmp_path / "a.properties", PROPERTIES.encode())
    values = {}
    for index, unit in enumerate(document.units):
        values[unit.name] = f" # = : \\ ! é 😀 \f word {'more ' * 9}{index}".strip()
        codes = [p for p in unit.source if isinstance(p, Code)]
        document.fill(index, (values[unit.name], *codes), marked=False)
    (tmp_path / "b.properties").write_bytes(written(document))
    (tmp_path / "Show.java").write_text(JAVA)
    command = ["java", str(tmp_path / "Show.java"), str(tmp_path / "b.properties")]
    shown_by = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    found = dict(item.split("\x01") for item in shown_by.split("\x02")[:-1])
    assert {key: " ".join(found[key].split()) for key in values} == {
        key: " ".join(value.split()) for key, value in values.items()
    }
    assert len(found) == len(values) + 2


def test_values_of_apple_strings_are_units(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.strings", STRINGS.encode("utf-16"))
    assert [(unit.name, shown(unit.source)) for unit in document.units] == [
        ("key", 'A "value" with é'),
        ("bare", "Second line"),
    ]
    result = fill_all(document)
    assert result[:2] == STRINGS.encode("utf-16")[:2]
    expected = STRINGS.replace(r"A \"value\" with \U00e9", r"A \"VALUE\" WITH \U00c9")
    assert result.decode("utf-16") == expected.replace("Second\nline", "SECOND\nLINE")


def test_yaml_reads_the_new_texts_in_their_styles(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.yml", CATALOGUE.encode())
    names = [unit.name for unit in document.units]
    assert names == [
        *("en.plain", "en.single", "en.double", "en.folded", "en.literal", "en.list.0"),
        *("en.list.1", "en.long", "en.items.0", "en.items.1"),
    ]
    assert document.skipped == {
        "value of another type": 3,
        "value with an anchor or a tag": 1,
    }
    text = fill_all(document).decode()
    old, new = yaml.safe_load(CATALOGUE)["en"], yaml.safe_load(text)["de"]
    assert list(new) == list(old)
    assert new["items"] == ["ITEM ONE", "%{COUNT} ITEMS"]
    for key in ("plain", "single", "double", "folded", "long", "literal"):
        assert new[key] == old[key].upper()
    assert "plain: A PLAIN TEXT # comment\n" in text
    assert "single: 'IT''S HERE'\n" in text
    assert '[ONE THING, "TWO THINGS"]' in text
    assert "literal: |\n    FIRST LINE\n      SECOND LINE\n\n" in text


@settings(deadline=None, max_examples=200)
@given(
    st.text(
        st.sampled_from("ab :#-'\"\n\t[]{},&*!|>%@`\\é?=\x85\u2028\u200c"), min_size=1, max_size=20
    ),
    st.sampled_from(["plain text", "'x y'", '"x y"', ">-\n    x y", "|\n    x y\n", "x\n    y"]),
)
def test_any_text_comes_back_from_a_scalar_of_any_style(text: str, style: str) -> None:
    file = TextFile(name="test", text=f"k:\n  j: {style}\n  l: z\n")
    scalar = next(each for each in scalars_of(file) if not each.is_key)
    new = file.text[: scalar.start] + yaml_written(text, scalar, "\n") + file.text[scalar.end :]
    assert yaml.safe_load(new) == {"k": {"j": text, "l": "z"}}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_keeps_quotes_and_other_cells(tmp_path: Path, delimiter: str) -> None:
    text = 'id,"source",target,note\n1,"a, ""b""\nC",,"x"\n2,plain,"",y\n3,kept,"da",\n4,,,\n\n'
    text = text.replace(",", delimiter)
    name = "a.tsv" if delimiter == "\t" else "a.csv"
    document = opened(tmp_path / name, text.encode())
    assert written(document) == text.encode()
    assert [unit.state for unit in document.units] == [State.EMPTY, State.EMPTY, State.FILLED]
    assert document.skipped == {"row without source": 1}
    result = fill_all(document).decode()
    old, new = (
        list(csv.reader(io.StringIO(each, newline=""), delimiter=delimiter))
        for each in (text, result)
    )
    header, *rows = old
    assert new[0] == header
    for before, after in zip(rows, new[1:], strict=True):
        assert after == (
            [*before[:2], before[1].upper(), before[3]] if before and before[1] else before
        )
    assert f'{delimiter}"PLAIN"{delimiter}' in result  # quotes where there were some


def test_a_tab_separated_file_without_quotes_has_none(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.tsv", b'en\tde\n"a" b\t\n', columns=("en", "de"))
    document.fill(0, ('"x"\ty\nz',), marked=False)
    assert written(document) == b'en\tde\n"a" b\t"x" y z\n'


def test_columns_are_found_by_number_language_and_name(tmp_path: Path) -> None:
    data = b"de,en,x\nA,B,C\n"
    assert sources(opened(tmp_path / "a.csv", data)) == ["B"]
    assert sources(opened(tmp_path / "a.csv", data, columns=("x", "de"))) == ["C"]
    assert sources(opened(tmp_path / "a.csv", data, columns=("3", "1"))) == ["x", "C"]
    with pytest.raises(DataError, match="'fr' among 'de', 'en', 'x'"):
        opened(tmp_path / "a.csv", data, columns=("en", "fr"))


TEXT = """A heading

It was a dark and stormy night; the rain fell in torrents, except at
occasional intervals, when it was checked by a gust.

  - an item that is
    on two lines
  - another

12

> quoted words that are long enough
> to go on
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_paragraphs_are_units_and_keep_their_lines(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.replace("\n", newline).encode())
    document = read_paragraphs(path, DocumentOptions(source_language="en"))
    assert written(document) == path.read_bytes()
    assert sources(document) == [
        "A heading",
        "It was a dark and stormy night; the rain fell in torrents, except at occasional "
        "intervals, when it was checked by a gust.",
        "an item that is on two lines",
        "another",
        "quoted words that are long enough to go on",
    ]
    assert document.skipped == {"line without words": 1}
    assert fill_all(document, upper).decode() == TEXT.upper().replace("\n", newline)


@pytest.mark.parametrize(
    ("name", "data", "where"),
    [
        ("a.properties", b"a=b\nc=\\u12", ":2: \\u without four"),
        ("a.strings", b'"a" = "b"\n"c" = "d";', ":2: broken .strings syntax at '\"c\"'"),
        ("a.strings", b'"a" = "b";\n/* ', ":2: broken .strings syntax at '/* '"),
        ("a.strings", b'"a" = "b";\n"c" =', ":2: an entry that does not end"),
        ("a.yml", b"a: b\n  c: [d\n", ":2: broken YAML"),
        ("a.yml", b"a: \xff", ":1: byte 0xff"),
        ("a.yml", b"a: " + b"[" * 300, ":1: nested too deeply"),
        ("a.csv", b'source,target\n"a,b\n', ":2: broken CSV: a quote is not closed"),
        ("a.csv", b'source,target\n"a"b,c\n', ":2: broken CSV: text behind"),
        ("a.csv", b"source,target\na\n", ":2: 1 column, but the source is column 1"),
        ("a.tsv", b"only one\n", "the columns of source and target among 'only one'"),
    ],
)
def test_broken_files_are_one_line(tmp_path: Path, name: str, data: bytes, where: str) -> None:
    with pytest.raises(DataError, match=re.escape(where)) as caught:
        opened(tmp_path / name, data)
    assert "\n" not in str(caught.value)
