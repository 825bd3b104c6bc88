"""What a line asks of its translation, and whether a text has it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import ConfigError
from mt.text.glossary import Glossary
from mt.text.normalise import normalise
from mt.text.placeholders import USUAL_PLACEHOLDERS, find_placeholders, parse_placeholders


def placeholders(text: str) -> list[str]:
    return [text[start:end] for start, end in find_placeholders(text, USUAL_PLACEHOLDERS)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello {name}, you have {{count}} new ${x}", ["{name}", "{{count}}", "${x}"]),
        ("%s of %(total)d, %5.2f, %1$s and %@.", ["%s", "%(total)d", "%5.2f", "%1$s", "%@"]),
        ("50 % der, 50%der", []),
        ("100%% of %%s", ["%%", "%%"]),
        (
            "%-5d %ld %lu %(name)s {0:.2f} %.*f",
            ["%-5d", "%ld", "%lu", "%(name)s", "{0:.2f}", "%.*f"],
        ),
        ("{{ of {{name}} }} $$5", ["{{", "{{name}}", "}}", "$$"]),
        (r"one\ntwo\tthree \"x\" \u00e4", [r"\n", r"\t", r"\"", r"\"", r"\u00e4"]),
        ("Tom &amp; J&#228;n &#xE4; & Co; AT&T;", ["&amp;", "&#228;", "&#xE4;"]),
        ("%1 of %L2, #{x} %{y} {% if %}", ["%1", "%L2", "#{x}", "%{y}", "{% if %}"]),
        ('<b>bold</b> <br/> <a href="x">', ["<b>", "</b>", "<br/>", '<a href="x">']),
        ("1 < 2 > 0, a<b", []),
        ("See https://a.b/c?d=1. Or (http://x.y/z), ok", ["https://a.b/c?d=1", "http://x.y/z"]),
        ("Mail a.b+c@d-e.org.", ["a.b+c@d-e.org"]),
        ("__PH1__ and __init__.py", ["__PH1__", "__init__"]),
        ("{ not one }, {}", ["{}"]),
    ],
)
def test_the_usual_placeholders(text: str, expected: list[str]) -> None:
    assert placeholders(text) == expected


def test_of_overlapping_placeholders_the_first_then_the_longest_counts() -> None:
    patterns = parse_placeholders(["ab", "bcd", "abc"])
    assert list(find_placeholders("xabcdab", patterns)) == [(1, 4), (5, 7)]


@pytest.mark.parametrize(
    ("expression", "message"),
    [("(", "is not a regular expression"), ("a*", "matches the empty text")],
)
def test_wrong_expressions_are_refused(expression: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_placeholders(["default", expression])


GLOSSARY = Glossary(
    [("dog", "Hund"), ("dog", "Köter"), ("a", "ein")],
    placeholders=USUAL_PLACEHOLDERS,
)


def test_a_line_asks_once_for_a_term_and_for_placeholders_as_often_as_they_stand_there() -> None:
    asked = GLOSSARY.asked("Dog, dog {a} {a} {b}s a{a}")
    assert [(each.source, each.times, each.is_placeholder) for each in asked] == [
        ("Dog", 1, False),
        ("{a}", 3, True),
        ("{b}", 1, True),
        ("a", 1, False),
    ]
    assert [each.is_joined for each in asked] == [False, True, True, False]


@pytest.mark.parametrize(
    ("line", "text", "missed"),
    [
        ("A dog.", "Ein Hund.", []),
        ("A dog.", "Ein Köter.", []),
        ("A dog.", "Ein Hundehalter.", ["dog"]),
        ("A dog.", "EIN HUND", []),
        ("dog dog", "Hund", []),
        ("{x} dog", "Hund {x}{x}", ["{x}"]),
        ("{x} {x}", "{x}{x}", []),
        ("{x}", "{ x }", ["{x}"]),
        ("x@y.de", "Ax@y.de", ["x@y.de"]),
        ("", "", []),
    ],
)
def test_the_text_alone_says_what_is_missed(line: str, text: str, missed: list[str]) -> None:
    assert [each.source for each in GLOSSARY.missed(GLOSSARY.asked(line), text)] == missed


@given(st.text(st.sampled_from("ab d{}%s_<>.@:/ \t\u200b"), max_size=30))
def test_a_line_that_is_copied_keeps_its_placeholders(line: str) -> None:
    glossary = Glossary(placeholders=(*USUAL_PLACEHOLDERS, re.compile("a.")))
    assert glossary.missed(glossary.asked(line), normalise(line)) == ()


@pytest.mark.parametrize(
    ("line", "protected", "asked"),
    [
        ("Ada hat 3 %s und 33", ("3", "%s", "Ada"), [("Ada", 1), ("3", 1), ("%s", 1)]),
        ("Ehttps://a.b/cE und Adas", ("https://a.b/c", "Ada"), [("https://a.b/c", 1)]),
        ("%s %s", ("%s",), [("%s", 2)]),
        ("nichts", (), []),
    ],
)
def test_a_line_protects_texts_of_its_own(
    line: str, protected: tuple[str, ...], asked: list[tuple[str, int]]
) -> None:
    """A word only where it is no part of a longer one; what has signs in it everywhere."""
    glossary = Glossary()
    assert glossary.is_empty
    found = glossary.asked(line, protected)
    assert [(each.source, each.times) for each in found] == asked
    assert all(each.is_placeholder for each in found)
    assert not glossary.missed(found, line)
    assert glossary.missed(found, "") == found
    assert glossary.asked(line) == ()
