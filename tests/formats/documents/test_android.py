"""Resources of Android: escapes, quotation marks, CDATA, tags; read again by other rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from mt.errors import DataError
from mt.formats.documents.unit import State
from tests.formats.documents.markup_filling import filled, opened, output, sources, states

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


def resources(inner: str) -> str:
    return (
        f'{HEAD}<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">\n{inner}\n'
        "</resources>\n"
    )


def displayed(raw: str) -> str:
    """What Android shows of a string without elements, by its documentation."""
    out, in_quotes, place = "", False, 0
    while place < len(raw):
        character = raw[place]
        if character == "\\":
            following = raw[place + 1]
            if following == "u":
                out += chr(int(raw[place + 2 : place + 6], 16))
                place += 6
                continue
            out += {"n": "\n", "t": "\t"}.get(following, following)
            place += 2
            continue
        if character == '"':
            in_quotes = not in_quotes
        elif character in " \t\r\n" and not in_quotes:
            if not out.endswith((" ", "\n")):
                out += " "
        else:
            out += character
        place += 1
    return out


STRINGS = r"""    <!-- A comment -->
    <string name="a" translatable="true">It\'s \"here\" \u00e9 &amp; <b>bold</b>\nnext</string>
    <string name="b">"  It's   quoted "</string>
    <string name="c">Hi <xliff:g id="name" example="Bob">%1$s</xliff:g>, two
        lines</string>
    <string name="d" translatable="false">ACME</string>
    <string name="e">@string/other</string>
    <string name="f"><![CDATA[Read <a href=\"x\">this</a> now]]></string>
    <string name="g">Escaped &lt;i>tags&lt;/i></string>
    <string name="h">100 %</string>
    <string-array name="i"><item>One</item><item>@string/a</item></string-array>
    <plurals name="j"><item quantity="one">%d day</item><item quantity="other">%d days</item>
    </plurals>
    <integer name="k">1</integer><style name="l"><item name="m">big</item></style>
    <string name="o"/>"""


def test_what_is_text_and_what_stays(tmp_path: Path) -> None:
    data = resources(STRINGS)
    document = opened(tmp_path, "strings.xml", data)
    assert sources(document) == [
        'It\'s "here" é & <1>bold</1><2/>next',
        "It's   quoted",
        "Hi <1 %1$s/>, two lines",
        "ACME",
        "Read <1>this</1> now",
        "Escaped <1>tags</1>",
        "100 %",
        "One",
        "%d day",
        "%d days",
    ]
    assert [unit.name for unit in document.units][-3:] == ["i 0", "j one", "j other"]
    assert states(document)[3] is State.LOCKED
    assert document.skipped == {
        "references": 2,
        "resources that are no strings": 1,
    }
    assert output(document) == data.encode()


def test_targets_are_escaped_as_android_wants_them(tmp_path: Path) -> None:
    new = filled(opened(tmp_path, "strings.xml", resources(STRINGS))).decode()
    expected = {
        'It\\\'s \\"here\\" \\u00e9 &amp; <b>bold</b>\\nnext': (
            'IT\\\'S \\"HERE\\" É &amp; <b>BOLD</b>\\nNEXT'
        ),
        '"  It\'s   quoted "': '"  IT\\\'S   QUOTED "',
        "Hi <x": "HI <x",
        "</xliff:g>, two\n        lines": "</xliff:g>, TWO LINES",
        "Read <a": "READ <a",
        ">this</a> now": ">THIS</a> NOW",
        "Escaped &lt;i>tags&lt;/i>": "ESCAPED &lt;i>TAGS&lt;/i>",
        "<item>One": "<item>ONE",
        "%d day<": "%D DAY<",
        "%d days": "%D DAYS",
    }
    text = resources(STRINGS)
    for before, after in expected.items():
        assert before in text
        text = text.replace(before, after)
    assert new == text


@given(
    st.text(st.sampled_from("ab'\"\\@?<&>{}%é\u00a0\u3000 n"), min_size=1, max_size=12).filter(
        lambda text: text == " ".join(text.split(" ")) and bool(text.strip())
    ),
    st.sampled_from(["x", '"x y"', "<![CDATA[x]]>"]),
)
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_target_is_shown_as_it_is(tmp_path: Path, text: str, source: str) -> None:
    text = text.strip()
    data = resources(f'<string name="a">{source}</string>')
    new = filled(opened(tmp_path, "strings.xml", data), lambda _: (text,))
    (string,) = etree.fromstring(new)
    assert displayed(string.text or "") == text
    assert not re.match(r"[@?]", string.text or "")


@pytest.mark.parametrize(
    "data",
    [
        resources("<string>"),
        f'{HEAD}<!DOCTYPE resources [<!ENTITY app "X">]><resources/>',
        resources("<string name='a'>&app;</string>"),
        resources("<a>" * 400),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, data: str) -> None:
    with pytest.raises(DataError) as error:
        opened(tmp_path, "strings.xml", data)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("data", [f"{HEAD}<other/>", f"{HEAD}<plist><dict/></plist>"])
def test_other_xml_is_no_document(tmp_path: Path, data: str) -> None:
    with pytest.raises(DataError, match="XML is not translated as a document"):
        opened(tmp_path, "a.xml", data)
