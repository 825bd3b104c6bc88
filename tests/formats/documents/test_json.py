"""Catalogues in JSON as documents, against the json of the standard library."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import DataError
from mt.formats.documents.icu import arguments
from mt.formats.documents.json_spans import Strings
from mt.formats.documents.message import Message
from mt.formats.documents.unit import Code, State
from mt.formats.documents.values import reason_against
from tests.formats.documents.filling import fill_all, forms, opened, shown, sources, upper, written

CATALOGUE = """{
  "about" : {"title": "About \\"us\\"", "Link.": "https://example.org/a", "n":3, "on": true},
\t"list": [ "one thing", ["two\\nlines", null], "#ff00aa" ],
  "tags": "We <b>like</b> <0>{{name}}</0><br/> a lot",
  "icu": "{n, plural, =0 {No files} one {# file in <b>it</b>} other {# files}}",
  "around": "In {n, plural, one {# house} other {# houses}} of {name}.",
  "only": "{{count}}", "": "no key", "title": "same key", "title": "same key"
}
"""


def leaves(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, object]]:
    items: list[tuple[object, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, (list, tuple)):
        items = list(enumerate(value))
    else:
        yield path, value
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def pairs(text: str | bytes) -> list[tuple[object, object]]:
    """All values with their keys, repeated keys too."""
    parsed: object = json.loads(text, object_pairs_hook=lambda items: dict(enumerate(items)))
    return list(leaves(parsed))


def test_what_is_not_filled_stays_byte_for_byte(tmp_path: Path) -> None:
    for text in (CATALOGUE, CATALOGUE.replace("\n", "\r\n")):
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            data = text.encode(encoding)
            assert written(opened(tmp_path / "a.json", data)) == data


def test_strings_that_are_text_are_units(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.json", CATALOGUE.encode())
    found = [(unit.name, shown(unit.source)) for unit in document.units]
    plural = "{n, plural, one {# house} other {# houses}}"
    assert found == [
        ("about.title", 'About "us"'),
        ("list[0]", "one thing"),
        ("list[1][0]", "two lines"),
        ("tags", "We ⟦<b>⟧like⟦</b>⟧ ⟦<0>⟧{{name}}⟦</0>⟧⟦<br/>⟧ a lot"),
        ("icu[=0]", "No files"),
        ("icu[one]", "⟦#⟧ file in ⟦<b>⟧it⟦</b>⟧"),
        ("icu[other]", "⟦#⟧ files"),
        ("around", f"In ⟦{plural}⟧ of {{name}}."),
        ("around[one]", "⟦#⟧ house"),
        ("around[other]", "⟦#⟧ houses"),
        ("", "no key"),
        ("title", "same key"),
        ("title", "same key"),
    ]
    assert document.skipped == {"address or path": 1, "value without words": 2}


def test_json_reads_the_new_texts_under_the_same_keys(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.json", CATALOGUE.encode())
    result = fill_all(document, upper)
    changed = {
        'About "us"': 'ABOUT "US"',
        "one thing": "ONE THING",
        "two\nlines": "TWO\nLINES",
        "no key": "NO KEY",
        "same key": "SAME KEY",
        "We <b>like</b> <0>{{name}}</0><br/> a lot": "WE <b>LIKE</b> <0>{{NAME}}</0><br/> A LOT",
        "{n, plural, =0 {No files} one {# file in <b>it</b>} other {# files}}": (
            "{n, plural, =0 {NO FILES} one {# FILE IN <b>IT</b>} other {# FILES}}"
        ),
        "In {n, plural, one {# house} other {# houses}} of {name}.": (
            "IN {n, plural, one {# HOUSE} other {# HOUSES}} OF {NAME}."
        ),
    }
    expected = [(key, changed.get(str(value), value)) for key, value in pairs(CATALOGUE)]
    assert pairs(result) == expected


def test_arms_are_filled_apart_and_the_argument_moves_whole(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.json", CATALOGUE.encode())
    argument = next(p for p in document.units[7].source if isinstance(p, Code))
    document.fill(7, ("von {name} in ", argument), marked=False)
    number = next(p for p in document.units[9].source if isinstance(p, Code))
    document.fill(9, (number, " Häusern"), marked=False)
    expected = "von {name} in {n, plural, one {# house} other {# Häusern}}"
    assert json.loads(written(document))["around"] == expected


def test_each_of_several_arguments_gets_its_own_texts() -> None:
    message = Message("{n, plural, other {a}} and {m, plural, one {b} other {c}}", is_icu=True)
    assert [name for name, _ in message.contents] == ["", "[other]", "[one]", "[other]"]
    again = message.written({1: ("A",), 2: ("B",), 3: ("C",)})
    assert again == "{n, plural, other {A}} and {m, plural, one {B} other {C}}"


def test_a_file_that_escapes_slashes_goes_on_to() -> None:
    assert Strings(r'"\/"').written("a/b") == r'"a\/b"'
    assert Strings(r'"/"').written("a/b") == '"a/b"'


@given(st.text())
def test_a_message_without_targets_is_as_it_was(text: str) -> None:
    assert Message(text, is_icu=True).written({}) == text


@given(st.text("ab {}',plur#<>/&;\n\t", max_size=40))
def test_a_message_filled_with_its_source_says_the_same(text: str) -> None:
    message = Message(text, is_icu=True)
    again = message.written({i: each for i, (_, each) in enumerate(message.contents)})
    assert " ".join(again.split()) == " ".join(text.split())


def test_entities_are_characters_where_a_string_is_html() -> None:
    message = Message("Terms &amp; &lt;b&gt; it&#39;s <i>on</i>")
    assert shown(message.content) == "Terms & <b> it's ⟦<i>⟧on⟦</i>⟧"
    assert message.written({0: ("Ä & <",)}) == "Ä &amp; &lt;"
    assert Message("A &amp; B").written({0: ("R&D <x>",)}) == "R&amp;D <x>"
    plain = Message("AT&T & <file> &c; &nope;")
    assert plain.written({0: ("R&D <x>",)}) == "R&D <x>"


def test_tags_that_cross_or_never_end_are_text_or_stand_alone() -> None:
    assert forms(Message("<b>a <i>b</b> c</i>").content) == ["opening", "closing"]
    assert forms(Message("Usage: <file> [b]").content) == []
    assert forms(Message("a<br>b<hr/>").content) == ["isolated", "isolated"]


def test_icu_that_is_not_complete_is_text() -> None:
    assert arguments("{n, plural, one {a} other {b}") == []
    assert arguments("{n, number} {x}") == []
    assert [a.name for a in arguments("x {n,select,m{'{'}f{b {c}}}")[0].arms] == ["m", "f"]


def test_arb_translates_no_metadata_and_names_the_new_language(tmp_path: Path) -> None:
    text = (
        '{"@@locale": "en", "@@author": "some one", "hello": "Hello {name}", '
        '"@hello": {"description": "Say it", "placeholders": {"name": {"type": "String"}}}}'
    )
    document = opened(tmp_path / "a.arb", text.encode(), target="pt-BR")
    assert sources(document) == ["Hello {name}"]
    assert written(document) == text.encode()
    result = json.loads(fill_all(document))
    assert (result["@@locale"], result["hello"]) == ("pt_BR", "HELLO {NAME}")
    assert result["@hello"]["description"] == "Say it"


def test_of_a_web_extension_only_messages_are_text(tmp_path: Path) -> None:
    text = (
        '{"a": {"message": "Open $URL$", "description": "d e", '
        '"placeholders": {"url": {"content": "$1"}}}}'
    )
    document = opened(tmp_path / "messages.json", text.encode())
    assert sources(document) == ["Open $URL$"]
    assert document.skipped == {"metadata of the catalogue": 2}


XCSTRINGS = """{
  "sourceLanguage" : "en",
  "strings" : {
    "Hello %@" : {

    },
    "brand" : { "shouldTranslate" : false },
    "greeting" : {
      "localizations" : {
        "en" : { "stringUnit" : { "state" : "translated", "value" : "Good day" } }
      }
    },
    "done" : {
      "localizations" : {
        "de" : { "stringUnit" : { "state" : "needs_review", "value" : "Fertig" } }
      }
    },
    "many things" : {
      "localizations" : { "de" : { "variations" : { "plural" : {} } } }
    }
  },
  "version" : "1.0"
}"""


def test_a_string_catalogue_gets_the_target_language_beside_the_others(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.xcstrings", XCSTRINGS.encode())
    assert written(document) == XCSTRINGS.encode()
    assert sources(document) == ["Hello %@", "Good day", "done"]
    assert [unit.state for unit in document.units] == [State.EMPTY, State.EMPTY, State.DOUBTFUL]
    assert document.skipped == {"shouldTranslate is false": 1, "string with variations": 1}
    document.fill(0, ("Hallo %@",), marked=True)
    document.fill(1, ("Guten Tag",), marked=False)
    document.fill(2, ("erledigt",), marked=False)
    result = json.loads(written(document))
    expected = json.loads(XCSTRINGS)

    def unit(state: str, value: str) -> dict[str, dict[str, str]]:
        return {"stringUnit": {"state": state, "value": value}}

    strings = expected["strings"]
    strings["Hello %@"]["localizations"] = {"de": unit("needs_review", "Hallo %@")}
    strings["greeting"]["localizations"]["de"] = unit("translated", "Guten Tag")
    strings["done"]["localizations"]["de"] = unit("translated", "erledigt")
    assert result == expected


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["é", r"\u00e9 \/"]))
def test_any_text_comes_back_from_a_string(text: str, style: str) -> None:
    string = Strings(f'"{style}"').written(text)
    assert json.loads(string) == text
    assert string.isascii() or style == "é"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Save file", ""),
        ("GitHub", ""),
        ("e.g.", ""),
        ("{n, plural, one {x} other {y}}", ""),
        ("%d %s {name} {{x}} ${y} %(z)s", "value without words"),
        ("2024-01-01", "value without words"),
        ("#fff", "value without words"),
        ("mailto:a@b.org", "address or path"),
        ("/usr/share/x", "address or path"),
        ("img/logo.png", "address or path"),
        ("user_name", "identifier"),
        ("MAX_SIZE", "identifier"),
        ("a\ud800b", "half of a surrogate pair"),
    ],
)
def test_what_is_no_text_is_known_by_plain_rules(text: str, reason: str) -> None:
    assert reason_against(text) == reason


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{"a": "b",\n"c"}', ":2: not JSON"),
        (b'{"a": "b"', ":1: not JSON"),
        (b'{"a": "b\xff"}', ":1: byte 0xff"),
        (b'{"a":' * 100_000, "not JSON that can be read"),
        (b'{"a": "b"}\n{"a": "c"}\n', ":2: not JSON"),
        ("{}".encode("utf-16-le") * 9, "UTF-16 without a byte order mark"),
    ],
)
def test_broken_json_is_one_line(tmp_path: Path, data: bytes, where: str) -> None:
    with pytest.raises(DataError, match=re.escape(where)) as caught:
        opened(tmp_path / "a.json", data)
    assert "\n" not in str(caught.value)
