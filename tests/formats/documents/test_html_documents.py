"""HTML: units between block tags, codes within them, attributes; compared with lxml's parser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import html

from mt.errors import DataError
from mt.formats.documents.html_tokens import tokens_of
from mt.formats.documents.unit import DocumentOptions
from tests.formats.documents.markup_filling import filled, opened, output, sources

PAGE = """<!DOCTYPE html>
<!-- a <p>comment</p> -->
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>My &amp; your page</title>
  <meta name="description" content="What it's about">
  <meta name="viewport" content="width=device-width">
  <script>if (a < b) document.write("<p>no</p>");</script>
  <style>p { color: red }</style>
</head>
<body>
  <p class=x>Some <b>bold</b>, <i>very <b>bold</b></i> text<br>
     over   two lines, <code>if x</code> and <a href="/a?b&c" title="A title">a link</a>.</p>
  <pre>untouched   text</pre>
  <ul><li>One<li>Two <img src="a.png" alt='Some "alt" text'> images</ul>
  <input type="submit" value="Send"><input value="data" placeholder=Name aria-label="Your name">
  <p translate="no" title="stays">Acme <b>Ltd</b></p>
  <p>by <span class="notranslate">Acme Ltd</span> today</p>
  <div>Text <em>in a block<p>crossing</em> tags</p></div>
  <p>12 + 3</p>
  <textarea>my text</textarea><button>Press &lt;here&gt;&nbsp;now</button>
</body>
</html>
"""


def test_the_units_of_a_page(tmp_path: Path) -> None:
    document = opened(tmp_path, "a.html", PAGE)
    assert sources(document) == [
        "My & your page",
        "What it's about",
        "Some <1>bold</1>, <2>very <3>bold</3></2> text<4/> over two lines, <5 if x/> and "
        "<6>a link</6>.",
        "A title",
        "One",
        "Two <1/> images",
        'Some "alt" text',
        "Send",
        "Name",
        "Your name",
        "by <1 Acme Ltd/> today",
        "Text <1/>in a block",
        "crossing<1/> tags",
        "12 + 3",
        "Press <here>\xa0now",
    ]
    assert document.skipped == {"preformatted": 2, "not to be translated": 1}
    assert [unit.name for unit in document.units][:4] == [
        "line 6",
        "line 7 meta content",
        "line 13",
        "line 14 a title",
    ]
    assert output(document) == PAGE.encode()


def test_what_is_not_text_stays(tmp_path: Path) -> None:
    new = filled(opened(tmp_path, "a.html", PAGE)).decode()
    expected = PAGE.replace('lang="en"', 'lang="de"')
    for text in ["page", "bold", "text<br>", "very", "a link", "A title", "One", "Two", "images"]:
        expected = expected.replace(f"{text}", text.upper().replace("<BR>", "<br>"))
    tags = re.compile(r"<[^>]*>")
    ours, theirs = tags.findall(new), tags.findall(PAGE)
    assert len(ours) == len(theirs)
    changed = [(a, b) for a, b in zip(theirs, ours, strict=True) if a != b]
    assert changed == [
        ('<html lang="en">', '<html lang="de">'),
        (
            '<meta name="description" content="What it\'s about">',
            '<meta name="description" content="WHAT IT&#39;S ABOUT">',
        ),
        ('<a href="/a?b&c" title="A title">', '<a href="/a?b&c" title="A TITLE">'),
        (
            '<img src="a.png" alt=\'Some "alt" text\'>',
            "<img src=\"a.png\" alt='SOME &quot;ALT&quot; TEXT'>",
        ),
        ('<input type="submit" value="Send">', '<input type="submit" value="SEND">'),
        (
            '<input value="data" placeholder=Name aria-label="Your name">',
            '<input value="data" placeholder="NAME" aria-label="YOUR NAME">',
        ),
    ]
    assert "<button>PRESS &lt;HERE&gt;&nbsp;NOW</button>" in new
    assert "<pre>untouched   text</pre>" in new
    assert '<p translate="no" title="stays">Acme <b>Ltd</b></p>' in new
    assert 'document.write("<p>no</p>")' in new


def test_another_parser_finds_the_same_elements_and_the_new_text(tmp_path: Path) -> None:
    new = filled(opened(tmp_path, "a.html", PAGE))
    ours, theirs = (html.document_fromstring(data.decode()) for data in (new, PAGE.encode()))
    assert [each.tag for each in ours.iter()] == [each.tag for each in theirs.iter()]
    (paragraph,) = ours.xpath("//p[@class='x']")
    assert paragraph.text_content() == (
        "SOME BOLD, VERY BOLD TEXT OVER TWO LINES, if x AND A LINK."
    )


def test_targets_may_move_codes_with_what_changes_in_them(tmp_path: Path) -> None:
    document = opened(tmp_path, "a.html", '<p>One <img alt="two"> <b>three</b></p>')
    one, image, space, opening, three, closing = document.units[0].source
    assert (one, space, three) == ("One ", " ", "three")
    document.fill(0, (opening, "drei", closing, " ", image, " eins"), marked=True)
    document.fill(1, ("zwei",), marked=True)
    assert output(document) == b'<p><b>drei</b> <img alt="zwei"> eins</p>'


def test_the_language_is_added_to_a_page_without_one(tmp_path: Path) -> None:
    new = filled(opened(tmp_path, "a.html", "<!doctype html><HTML class=a><p>One</p></HTML>"))
    assert b'<HTML lang="de" class=a>' in new
    xhtml = "<!doctype html><html xml:lang=\"en\" lang='en'><p>One</p></html>"
    assert b'<html xml:lang="de" lang="de">' in filled(opened(tmp_path, "b.html", xhtml))


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>a<b>c<p>d", ["a<1/>c", "d"]),
        ("<p></b>a<i></p>", ["<1/>a<2/>"]),
        ("<p>a<b>c<i>d</b>e</i>f</p>", ["a<1>c<2/>d</1>e<3/>f"]),
        ("<p>a < b &copy c &#65", ["a < b © c A"]),
        ("a<code>b<p>c", ["a<1/>b", "c"]),
        ("<p>x <svg><text>y</text></svg> z</p>", ["x <1/> z"]),
        ("<p>x<my-tag>y</my-tag></p>", ["x<1>y</1>"]),
        ("<p>one</p><p title='two", ["one"]),
        ("<p>one</p><!-- <p>two", ["one"]),
        ("<p>a <!-- no --> b</p>", ["a <1/> b"]),
        ("<p>one<pre>two", ["one"]),
        ("<select><option label='x'>one<option>two</select>", ["x", "one", "two"]),
        ("", []),
    ],
)
def test_no_page_breaks_it(tmp_path: Path, markup: str, expected: list[str]) -> None:
    document = opened(tmp_path, "a.html", markup)
    assert sources(document) == expected
    new = filled(document, lambda content: content).decode()
    tags = re.compile(r"</?[a-z][^>]*>")
    assert tags.findall(new) == tags.findall(markup)


PIECES = (
    "<p> </p> <b> </b> <i> </i> <br> text &amp; < > <!--x--> <code> </code> é \n </a> <script> "
    "</script> &nbsp; <pre> </pre> </div> <img\talt=x> <! </ <? ]]> <![CDATA[x]]> <title> "
    '<textarea> & &# " \' <a\ttitle="t"> <div\ttranslate=no>'
)


@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=25,
    )
)
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_tags_are_written_as_they_were(tmp_path: Path, pieces: list[str]) -> None:
    text = "".join(pieces)
    assert "".join(text[each.start : each.end] for each in tokens_of(text)) == text
    document = opened(tmp_path, "a.html", text, DocumentOptions())
    new = filled(document).decode()
    ours, theirs = ([t for t in tokens_of(each) if t.kind != "text"] for each in (new, text))
    assert [(t.kind, t.name) for t in ours] == [(t.kind, t.name) for t in theirs]
    if text.strip():
        before, after = (
            [each.tag for each in html.fromstring(f"<div>x{each}</div>").iter()]
            for each in (text, new)
        )
        assert after == before


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ('<meta charset="windows-1252"><p>Caf\xe9 \x80</p>'.encode("latin-1"), "Café €"),
        ('<meta charset="iso-8859-1"><p>\x93Caf\xe9\x94</p>'.encode("latin-1"), "“Café”"),
        ("<p>Café</p>".encode("utf-16"), "Café"),
        (b'<meta http-equiv="a" content="text/html; charset=koi8-r"><p>\xc1\xc2</p>', "аб"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str) -> None:
    document = opened(tmp_path, "a.html", data)
    assert sources(document) == [text]
    assert output(document) == data
    new = filled(document, lambda _: ("猫",))
    assert ("猫".encode("utf-16-le") if b"\xff\xfe" in data[:2] else b"&#29483;") in new


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<p>\nCaf\xe9</p>", "a.html:2: byte 0xe9 is not UTF-8"),
        (b'<meta charset="nonsense"><p>a</p>', "there is no encoding 'nonsense'"),
    ],
)
def test_a_page_in_no_encoding_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        opened(tmp_path, "a.html", data)


def test_many_unclosed_tags_take_no_long_time(tmp_path: Path) -> None:
    text = "<b><kbd>" * 5_000 + "word</i>" * 1_000
    assert len(opened(tmp_path, "a.html", text).units) == 1
