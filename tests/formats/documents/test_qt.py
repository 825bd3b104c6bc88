"""Translation files of Qt."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from mt.errors import DataError
from mt.formats.documents.unit import State
from tests.formats.documents.markup_filling import filled, opened, output, sources, states

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'


def ts(messages: str, *, language: str = 'language="de_DE"') -> str:
    return (
        f'{HEAD}<TS version="2.1" {language} sourcelanguage="en">\n<context>\n'
        f"    <name>Main</name>\n{messages}\n</context>\n</TS>\n"
    )


def message(translation: str, source: str = "One &amp; &lt;b&gt;two&lt;/b&gt;") -> str:
    return (
        f"    <message>\n        <source>{source}</source>\n        {translation}\n    </message>"
    )


@pytest.mark.parametrize(
    ("translation", "state"),
    [
        ("", State.EMPTY),
        ('<translation type="unfinished"></translation>', State.EMPTY),
        ('<translation type="unfinished"/>', State.EMPTY),
        ('<translation type="unfinished">Eins</translation>', State.DOUBTFUL),
        ("<translation>Eins</translation>", State.FILLED),
    ],
)
@pytest.mark.parametrize("marked", [True, False])
def test_messages(tmp_path: Path, translation: str, state: State, marked: bool) -> None:
    data = ts(message(translation))
    document = opened(tmp_path, "a.ts", data)
    assert states(document) == [state]
    assert sources(document) == ["One & <1>two</1>"]
    assert document.units[0].name == "Main One & <b>two</b>"
    assert output(document) == data.encode()
    new = filled(document, marked=marked)
    mark = ' type="unfinished"' if marked else ""
    made = f"<translation{mark}>ONE &amp; &lt;b>TWO&lt;/b></translation>"
    if translation:
        expected = data.replace(translation, made)
    else:
        expected = data.replace("        \n", "", 1).replace(
            "</source>\n", f"</source>\n        {made}\n", 1
        )
        new = new.replace(b"        \n", b"", 1)
    assert new.decode() == expected


def test_plural_forms_are_units_and_those_that_are_there_stay(tmp_path: Path) -> None:
    translation = (
        '<translation type="unfinished">\n            <numerusform>%n Datei</numerusform>\n'
        "            <numerusform></numerusform>\n        </translation>"
    )
    plural = message(translation, "%n file(s)").replace("<message", '<message numerus="yes"')
    data = ts(plural)
    document = opened(tmp_path, "a.ts", data)
    assert [(unit.name, unit.state) for unit in document.units] == [
        ("Main %n file(s) [0]", State.DOUBTFUL),
        ("Main %n file(s) [1]", State.EMPTY),
    ]
    new = filled(document, lambda _: ("%n 'Dateien'",), only=lambda s: s is State.EMPTY)
    expected = data.replace(
        "<numerusform></numerusform>", "<numerusform>%n &apos;Dateien&apos;</numerusform>"
    ).replace(' type="unfinished"', "")
    assert new.decode() == expected


def test_a_plural_stays_unfinished_while_a_form_is_empty(tmp_path: Path) -> None:
    translation = "<translation type='unfinished'><numerusform/><numerusform/></translation>"
    plural = message(translation, "%n").replace("<message", '<message numerus="yes"')
    document = opened(tmp_path, "a.ts", ts(plural))
    document.fill(1, ("x",), marked=False)
    translated = etree.fromstring(output(document)).find(".//translation")
    assert translated is not None
    assert translated.get("type") == "unfinished"
    assert [each.text for each in translated] == [None, "x"]


def test_what_is_skipped(tmp_path: Path) -> None:
    messages = "\n".join(
        [
            message('<translation type="vanished">x</translation>'),
            message('<translation type="obsolete">x</translation>'),
            message("<translation/>", ""),
            message('<translation variants="yes"><lengthvariant>x</lengthvariant></translation>'),
            message("<translation/>").replace("<message", '<message numerus="yes"'),
            message("<translation/>", 'a<byte value="x9"/>b'),
        ]
    )
    document = opened(tmp_path, "a.ts", ts(messages))
    assert sources(document) == ["a<1/>b"]
    assert document.skipped == {
        "vanished": 1,
        "obsolete": 1,
        "without text": 1,
        "variants of lengths": 1,
        "plurals without forms to fill": 1,
    }
    assert b'<translation>A<byte value="x9"/>B</translation>' in filled(document)


def test_the_language_is_said_or_refused(tmp_path: Path) -> None:
    data = ts(message("<translation/>"), language="")
    new = filled(opened(tmp_path, "a.ts", data))
    assert etree.fromstring(new).get("language") == "de"
    french = ts(message("<translation/>"), language='language="fr"')
    with pytest.raises(DataError, match="is en-fr, and not en-de"):
        opened(tmp_path, "b.ts", french)


@pytest.mark.parametrize("data", [ts("<message>"), ts("&x;"), ts("")[:-5]])
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, data: str) -> None:
    with pytest.raises(DataError) as error:
        opened(tmp_path, "a.ts", data)
    assert "\n" not in str(error.value)
