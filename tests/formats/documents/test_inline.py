"""Pairs of codes, edges, and markup within text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.formats.documents.codes import require_codes
from mt.formats.documents.embedded import embedded
from mt.formats.documents.inline import (
    CLOSING,
    ISOLATED,
    OPENING,
    Mark,
    Stream,
    coded,
    written,
)
from mt.formats.documents.unit import Code, CodeForm, Content
from tests.formats.documents.markup_filling import shown


def mark(form: CodeForm, key: str = "", *, is_element: bool = False, text: str = "") -> Mark:
    raw = f"[{form}{key}]"
    return Mark(
        form=form, markup=raw, parts=(raw.encode(),), key=key, is_element=is_element, text=text
    )


def joined(stream: Stream) -> bytes:
    return b"".join(
        part for part in written(stream, lambda text: [text.encode()]) if isinstance(part, bytes)
    )


marks = st.builds(
    mark, st.sampled_from([OPENING, CLOSING, ISOLATED]), st.sampled_from(["a", "b", "c"])
)
streams = st.lists(marks | st.sampled_from(["one", " ", "two ", "\n", ""]), max_size=12)


@given(streams)
def test_any_marks_become_well_nested_codes_and_come_back(stream: list[str | Mark]) -> None:
    found = coded(stream)
    require_codes(found.content, found.content)  # well nested
    assert joined(found.stream(found.content)) == joined(stream)
    names = [item.name for item in found.content if isinstance(item, Code)]
    halves = [
        item.name for item in found.content if isinstance(item, Code) and item.form is not ISOLATED
    ]
    assert len(names) == len(set(names)) + len(halves) // 2
    for first, second in zip(found.content, found.content[1:], strict=False):
        assert isinstance(first, Code) or isinstance(second, Code)
    if found.content and isinstance(found.content[0], str):
        assert not found.content[0][0].isspace()


def test_a_pair_that_would_cross_is_isolated() -> None:
    stream: Stream = [
        mark(OPENING, "a"),
        "x",
        mark(OPENING, "b"),
        mark(CLOSING, "a"),
        mark(CLOSING, "b"),
    ]
    assert shown(coded(stream).content) == "<1>x<2/></1><3/>"


def test_an_element_is_a_pair_whatever_crosses_it() -> None:
    stream: Stream = [
        mark(OPENING, "a"),
        mark(OPENING, "e", is_element=True),
        mark(CLOSING, "a"),
        "x",
        mark(CLOSING, "e", is_element=True),
    ]
    assert shown(coded(stream).content) == "<1/><2><3/>x</2>"


def test_white_space_at_the_edges_is_set_apart() -> None:
    found = coded([" ", "\tone ", mark(ISOLATED), " two\n"])
    assert shown(found.content) == "one <1/> two"
    assert (found.lead, found.trail) == (" \t", "\n")


@pytest.mark.parametrize(
    "target",
    [
        ("x",),
        ("<1>", "x", "</1>", "<1>"),
        ("</1>", "x", "<1>", "<2/>"),
        ("<1>", "<2/>", "</1>", "<2/>"),
        ("<1>", "</1>", "<3/>"),
    ],
)
def test_other_codes_than_those_of_the_source_are_refused(target: tuple[str, ...]) -> None:
    forms = {"</": CLOSING, "/>": ISOLATED}
    source: Content = coded([mark(OPENING, "a"), "x", mark(CLOSING, "a"), mark(ISOLATED)]).content
    other = tuple(
        Code(
            form=forms.get(item[:2], forms.get(item[-2:], OPENING)),
            name=item.strip("</>"),
            markup=item,
        )
        if item.startswith("<")
        else item
        for item in target
    )
    with pytest.raises(ValueError, match="codes"):
        require_codes(source, other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <b>bold</b> word", "a <1>bold</1> word"),
        ("one<br>two<br/>three", "one<1/>two<2/>three"),
        ("a < b and c > d, x <b and c> y", "a < b and c > d, x <b and c> y"),
        ("use <file> here", "use <1 <file>/> here"),
        ('<a href=\\"x\\">y</a>', "<1>y</1>"),
        ("<!-- no -->x", "<1/>x"),
        ("caf&eacute; &amp; bar&nbsp;x &nothing;", "café <1 &/> bar<2/>x <3/>"),
        ("one\ntwo", "one<1/>two"),
        ("<p>unclosed", "<1/>unclosed"),
        ("<input disabled>x", "<1/>x"),
    ],
)
def test_markup_within_text_becomes_codes(text: str, expected: str) -> None:
    stream = embedded(text, str.encode)
    assert shown(coded(stream).content) == expected
    if "&eacute;" not in text:
        assert joined(stream) == text.encode()


def test_an_indented_line_goes_on_with_a_space() -> None:
    stream = embedded("one\n    two\nthree", str.encode, keeps_spaces=False)
    assert shown(coded(stream).content) == "one two<1/>three"
