"""Glossaries: how files are read, and where terms are found in texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import DataError
from mt.text.terms import Term, TermFinder, count_term, merged, read_terms


def read(tmp_path: Path, content: bytes) -> dict[str, tuple[str, ...]]:
    path = tmp_path / "terms.tsv"
    path.write_bytes(content)
    return {term.source: term.targets for term in merged(read_terms(path))}


def found(text: str, *sources: str) -> list[str]:
    finder = TermFinder(Term(source=source, targets=("x",)) for source in sources)
    return [each.term.source for each in finder.find(text)]


@pytest.mark.parametrize(
    ("content", "terms"),
    [
        (b"dog\tHund\ncat\tKatze", {"dog": ("Hund",), "cat": ("Katze",)}),
        (b"\xef\xbb\xbfdog\tHund\r\n\r\n", {"dog": ("Hund",)}),
        (b"man\tMann\nman\tHerr\nman\tMann\n", {"man": ("Mann", "Herr")}),
        (b"Acme Ltd\n", {"Acme Ltd": ("Acme Ltd",)}),
        (b"# animals\n#\n#x\t#y\n", {"#x": ("#y",)}),
        (
            b"#Begriff\tterm\tnote\nTisch\tdesk\t\nBaum\ttree\ta note\n#x\n",
            {
                "Tisch": ("desk",),
                "Baum": ("tree",),
                "#x": ("#x",),
            },
        ),
        ("cafe\u0301  au\tlait \n".encode(), {"caf\u00e9 au": ("lait",)}),
    ],
)
def test_a_line_is_a_term(content: bytes, terms: dict[str, object], tmp_path: Path) -> None:
    assert read(tmp_path, content) == terms


@pytest.mark.parametrize(
    ("content", "terms"),
    [
        (b"dog,Hund\ncat,Katze\n", {"dog": ("Hund",), "cat": ("Katze",)}),
        (b"source;target;note\ndog;Hund;a, b\ncat;Katze;\n", {"dog": ("Hund",), "cat": ("Katze",)}),
        (b'"a ""b""; c";x\ndog;Hund\n', {'a "b"; c': ("x",), "dog": ("Hund",)}),
        (b"sep=;\nde;en\nHund;dog\n", {"dog": ("Hund",)}),
    ],
)
def test_csv_is_a_glossary_of_its_columns(
    content: bytes, terms: dict[str, object], tmp_path: Path
) -> None:
    """F10: not each line a term."""
    path = tmp_path / "terms.csv"
    path.write_bytes(content)
    found = {term.source: term.targets for term in merged(read_terms(path, ("en", "de")))}
    assert found == terms


TBX = """<?xml version='1.0'?>
<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX" xml:lang="en"><text><body>
<termEntry id="c1"><langSet xml:lang="en-US"><tig><term>branch</term></tig>
<ntig><termGrp><term>limb</term></termGrp></ntig>
<tig><term>twig</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig>
</langSet><langSet xml:lang="de"><tig><term>Ast</term></tig></langSet></termEntry>
<termEntry id="c2"><langSet xml:lang="fr"><tig><term>chien</term></tig></langSet>
<langSet xml:lang="en"><tig><term>dog</term></tig></langSet></termEntry>
</body></text></martif>"""


def test_tbx_is_a_glossary_in_two_of_its_languages(tmp_path: Path) -> None:
    """F10."""
    path = tmp_path / "terms.tbx"
    path.write_text(TBX, "utf-8")
    assert read_terms(path, ("en", "de")) == [("branch", "Ast"), ("limb", "Ast")]
    assert read_terms(path, ("fr", "en")) == [("chien", "dog")]
    with pytest.raises(DataError, match="holds de, en, en-US, fr, not en and es"):
        read_terms(path, ("en", "es"))
    with pytest.raises(DataError, match=r"is PO, not plain text"):
        po = tmp_path / "terms.txt"
        po.write_text('msgid "a"\nmsgstr "b"\n')
        read_terms(po)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\t\n", ":1: the translation is empty"),
        (b"\tb\n", ":1: the source term is empty"),
        (b"a\tb\nc\t\xff\n", ":2: byte 0xff at position 3 is not UTF-8"),
        (b"\n# nothing\n", " holds no term"),
    ],
)
def test_what_is_no_glossary_is_refused_by_line(
    content: bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"terms\.tsv") as error:
        read(tmp_path, content)
    assert message in str(error.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_terms(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("the fire truck", ["fire", "fire truck", "truck"], ["fire truck"]),
        ("a firetruck", ["fire", "truck"], []),
        ("fire-truck, (fire) fire's", ["fire"], ["fire", "fire", "fire"]),
        ("Polish it, POLISH IT", ["polish", "IT"], ["polish", "polish", "IT"]),
        ("polish", ["Polish"], []),
        ("Polish", ["polish", "Polish"], ["Polish"]),
        ("foo_bar foo", ["foo"], ["foo"]),
        ("cafe\u0301s", ["cafe"], []),
        ("我喜欢小猫和狗", ["小猫", "猫", "狗"], ["小猫", "狗"]),
        ("ISO 9001 und 900", ["900", "ISO 9001"], ["ISO 9001", "900"]),
        ("", ["a"], []),
    ],
)
def test_terms_are_found_as_whole_words_longest_first(
    text: str, sources: list[str], expected: list[str]
) -> None:
    assert found(text, *sources) == expected


_TEXTS = st.sampled_from("abAB -猫")


@given(st.text(_TEXTS, max_size=20), st.lists(st.text(_TEXTS, min_size=1, max_size=4)))
def test_what_is_found_stands_there_side_by_side(text: str, sources: list[str]) -> None:
    terms = [Term(source=source, targets=("x",)) for source in sources]
    last = 0
    for each in TermFinder(terms).find(text):
        assert last <= each.start < each.end
        assert text[each.start : each.end].lower() == each.term.source.lower()
        last = each.end
    for term in terms:
        assert count_term(text, term.source) == len(list(TermFinder([term]).find(text)))


@pytest.mark.parametrize(
    ("text", "term", "count"),
    [
        ("Ein Haus, HAUS und Hausmeister", "Haus", 2),
        ("haus", "Haus", 0),
        ("aa aa", "aa aa", 1),
        ("ha ha ha", "ha ha", 1),
    ],
)
def test_targets_are_counted_as_whole_words(text: str, term: str, count: int) -> None:
    assert count_term(text, term) == count


def test_a_term_without_text_is_misuse() -> None:
    for pair in (("", "x"), ("x", " \u200b")):
        with pytest.raises(ValueError, match="without text"):
            merged([pair])
