"""Markdown as documents, against markdown-it's own reading."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mt.errors import DataError
from mt.formats.documents.markdown_spans import Parser
from mt.formats.documents.markdown_text import MarkdownText
from mt.formats.documents.unit import Code, CodeForm, Content
from tests.formats.documents.filling import fill_all, opened, shown, sources, upper, written

PAGE = r"""---
title: A title
lang: en
---

# Heading with `code` {#anchor}

A paragraph with *emphasis*, __strong__ and [a link](https://example.org/a_b "Title"), that
goes on over lines,@
breaks hard and ends with ![an image](a.png) &amp; \*no emphasis\*.

> Quoted text with <b>markup</b><br>
> that goes on.
>
> - An item
>   on two lines
> - [ ] A task with <https://auto.example.org> and <kbd>Ctrl</kbd>

> [!NOTE]
> An alert.

Setext
======

1. One [reference][ref] and a note[^1].

   ```python
   print("code stays")
   ```

2. Two

| Name \| other | Value |
| :--- | ---: |
| `a\|b` | **bold** words |
| one |

    indented code

<div class="x">
HTML stays
</div>

{{< shortcode "x" >}}

[^1]: The text of a note
    goes on.
[^2]: Another

[ref]: https://example.org/ref "A title"
""".replace("@\n", "  \n")


def structure(text: str) -> list[object]:
    """What markdown-it reads, without the words."""
    found: list[object] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        found.append(token.type)
        if token.type in ("fence", "code_block", "html_block"):
            found.append(token.content)
        for child in token.children or []:
            if child.type in ("code_inline", "html_inline"):
                found.append((child.type, child.content))
            elif child.type not in ("text", "softbreak"):
                found.append((child.type, dict(child.attrs)))
    return found


def test_what_is_not_filled_stays_byte_for_byte(tmp_path: Path) -> None:
    for text in (PAGE, PAGE.replace("\n", "\r\n"), PAGE.rstrip("\n"), "", "\n\n"):
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            data = text.encode(encoding)
            assert written(opened(tmp_path / "a.md", data)) == data


def test_texts_are_units_and_markup_is_codes(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.md", PAGE.encode())
    assert sources(document) == [
        "Heading with ⟦`code`⟧",
        "A paragraph with ⟦*⟧emphasis⟦*⟧, ⟦__⟧strong⟦__⟧ and ⟦[⟧a link"
        '⟦](https://example.org/a_b "Title")⟧, that goes on over lines,⟦  \n⟧'
        "breaks hard and ends with ⟦![⟧an image⟦](a.png)⟧ & *no emphasis*.",
        "Quoted text with ⟦<b>⟧markup⟦</b>⟧⟦<br>⟧ that goes on.",
        "An item on two lines",
        "A task with ⟦<https://auto.example.org>⟧ and ⟦<kbd>Ctrl</kbd>⟧",
        "An alert.",
        "Setext",
        "One ⟦[⟧reference⟦][ref]⟧ and a note⟦[^1]⟧.",
        "Two",
        "Name | other",
        "Value",
        "⟦**⟧bold⟦**⟧ words",
        "one",
        "The text of a note goes on.",
        "Another",
    ]
    assert [unit.name for unit in document.units][:3] == ["line 6", "line 8", "line 12"]
    assert document.skipped == {
        "front matter": 1,
        "code block": 2,
        "HTML block": 1,
        "text without words": 2,
    }
    code = next(p for p in document.units[0].source if isinstance(p, Code))
    assert (code.form, code.text) == (CodeForm.ISOLATED, "code")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_markdown_it_reads_the_same_structure_and_the_new_words(
    tmp_path: Path, newline: str
) -> None:
    document = opened(tmp_path / "a.md", PAGE.replace("\n", newline).encode())
    result = fill_all(document).decode()
    assert result.count("\r\n") == (result.count("\n") if newline == "\r\n" else 0)
    result = result.replace("\r\n", "\n")
    assert structure(result.replace("lang: de", "lang: en")) == structure(PAGE)
    again = opened(tmp_path / "b.md", result.encode())
    assert [shown(unit.source) for unit in again.units] == [
        shown(upper(unit.source)) for unit in document.units
    ]
    assert "lang: de\n" in result
    assert "# HEADING WITH `code` {#anchor}\n" in result
    assert "> [!NOTE]\n> AN ALERT.\n" in result
    assert "> - AN ITEM ON\n>   TWO LINES\n> - [ ] A TASK" in result
    assert "| NAME \\| OTHER | VALUE |\n" in result
    assert PAGE[PAGE.index("    indented") : PAGE.index("[^1]: ")] in result


TRAPS = [
    "1. is not an item",
    "# no heading",
    "- no item",
    "> no quote",
    "+ no *item* either",
    "a * b * c _d_ `e` [f](g) <h> &amp; \\ i",
    "=== and ---",
    "[x]: http://example.org",
    "| a | b |",
    "<div> no block",
    "~~gone~~ ![x](y)",
    "    no code",
    "[^2]: no note",
    "***",
    "ends with #",
]


@pytest.mark.parametrize("text", TRAPS)
@pytest.mark.parametrize(
    "place", ["Word\n", "# Word\n", "- Word\n", "> Word\n", "|Word|b|\n|-|-|\n"]
)
def test_what_looks_like_markup_is_text(tmp_path: Path, text: str, place: str) -> None:
    document = opened(tmp_path / "a.md", place.encode())
    document.fill(0, (text,), marked=False)
    result = written(document).decode()
    assert structure(result) == structure(place)
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(result)
    inline = next(token for token in parsed if token.type == "inline")
    assert "".join(child.content for child in inline.children or []) == text.strip()


def test_no_more_is_escaped_than_has_to_be(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.md", b"Word\n")
    for text, expected in (("# a_b * c", r"\# a_b * c"), ("a_b [c] * d", "a_b [c] * d")):
        document.fill(0, (text,), marked=False)
        assert written(document).decode() == f"{expected}\n"


def test_wrapped_lines_begin_no_blocks(tmp_path: Path) -> None:
    data = b"One two three four\nfive six seven eight\n"
    document = opened(tmp_path / "a.md", data)
    document.fill(0, ("Eins zwei drei vier - fünf 1. sechs # sieben > acht",), marked=False)
    result = written(document).decode()
    assert len(result.splitlines()) > 1
    assert structure(result) == structure(data.decode())


def test_emphasis_inside_a_word_is_that_of_html(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.md", b"_One_ two\n")
    opening, closing = (p for p in document.units[0].source if isinstance(p, Code))
    document.fill(0, ("Zwei", opening, "eins", closing, "drei"), marked=False)
    assert written(document) == b"Zwei<em>eins</em>drei\n"


def test_codes_that_markdown_cannot_hold_are_refused(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.md", b"[a](b) and [c](d)\n")
    first, end, second, last = (p for p in document.units[0].source if isinstance(p, Code))
    with pytest.raises(ValueError, match="cannot stand there"):
        document.fill(0, (first, "x ", second, "y", last, end), marked=False)
    assert written(document) == b"[a](b) and [c](d)\n"


WORDS = st.text(st.sampled_from("ab*_`[]()<>!&#-+|~\\ 1."), min_size=1, max_size=12)


@settings(max_examples=300, deadline=None)
@given(WORDS, WORDS, st.sampled_from(["*", "**", "_", "__", "`x`", "<b>"]))
def test_any_target_is_read_as_what_it_is(before: str, inner: str, markup: str) -> None:
    parser = Parser()
    closing = "</b>" if markup == "<b>" else "" if markup == "`x`" else markup
    text = MarkdownText(f"Word {markup}two{closing}", parser, {}, between=" ", block="paragraph")
    codes = [p for p in text.content if isinstance(p, Code)]
    target: Content = (f"x{before}", codes[0], inner, *codes[1:])
    again = MarkdownText(text.written(target), parser, {}, between=" ", block="paragraph")
    readings = [
        re.sub(r"\s+", "", "".join(p for p in content if isinstance(p, str)))
        for content in (target, again.content)
    ]
    assert readings[0] == readings[1]
    assert len([p for p in again.content if isinstance(p, Code)]) == len(codes)


def test_markdown_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=":2: byte 0xe9 at position 2 is not UTF-8"):
        opened(tmp_path / "a.md", b"# A\nb\xe9\n")
