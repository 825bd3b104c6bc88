"""What is read of a content: what is protected, and which tags of plain strings are codes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.documents.passage import read_passage
from mt.documents.words import _any_word_spans, word_spans
from mt.formats.documents.unit import CodeForm
from tests.documents.memory_document import content


@pytest.mark.parametrize(
    ("text", "protected"),
    [
        ("%s von %1$d, %(name)s", ["%s", "%1$d", "%(name)s"]),
        ("%@ und %1$@, %#@count@", ["%@", "%1$@", "%#@count@"]),
        ("50 % der %d%%", ["%d", "%%"]),
        ("{} {0:.2f} {name}", ["{}", "{0:.2f}", "{name}"]),
        ("am { when, date, short } um {n, number}", ["{ when, date, short }", "{n, number}"]),
        ("{{ user.name }} ${x} ${ y } %{z}", ["{{ user.name }}", "${x}", "${ y }", "%{z}"]),
        ("siehe https://a.org/b?c=1. Oder a@b.org!", ["https://a.org/b?c=1", "a@b.org"]),
        ("&brand; &#228; AT&T", ["&brand;", "&#228;"]),
        ("keine [Ada] hier", ["Ada"]),
        ("nur Text.", []),
    ],
)
def test_placeholders_are_protected(text: str, protected: list[str]) -> None:
    passage = read_passage(content(text))
    assert [passage.text[each.start : each.end] for each in passage.protected] == protected


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("ein <b>Tag</b>", "oc"),
        ("eins<br>zwei<br/>drei", "ii"),
        ("<a href='x y'><i>tief</i></a>", "oocc"),
        ("offen <b> bleibt", "i"),
        ("zu </b> viel", "i"),
        ("<b>kreuz <i>und</b> quer</i>", "ioic"),
        ("⟨x⟩<b>kreuz⟨/x⟩</b>", "oici"),
        ("1 < 2 und 3 > 2", ""),
    ],
)
def test_tags_of_plain_strings_are_codes(text: str, forms: str) -> None:
    letters = {CodeForm.OPENING: "o", CodeForm.CLOSING: "c", CodeForm.ISOLATED: "i"}
    passage = read_passage(content(text))
    assert "".join(letters[mark.form] for mark in passage.marks) == forms


@given(st.text(st.characters(max_codepoint=0x530)), st.text(alphabet="a1_.,:'’² \xa0é\u00ad-é—"))
def test_the_fast_way_finds_the_same_words(one: str, other: str) -> None:
    for text in (one, other):
        assert list(word_spans(text)) == _any_word_spans(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't, l’été!", ["Don't", ",", "l’été", "!"]),
        ("1,000.5 kg.", ["1,000.5", "kg", "."]),
        ("E-Mail", ["E", "-", "Mail"]),
        ("漢字かな", ["漢", "字", "か", "な"]),
        ("นี่", ["นี่"]),
        ("un\u00adsicht\u00adbar", ["un\u00adsicht\u00adbar"]),
        ("e\u0301a", ["e\u0301a"]),
        (" \u200b x \u2009", ["x"]),
    ],
)
def test_words_are_what_no_code_may_stand_inside(text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == words
