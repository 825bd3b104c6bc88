"""The declared normalisation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.text.normalise import is_blank, normalise

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(ANY_TEXT)
def test_normal_text_is_one_line_of_valid_unicode(text: str) -> None:
    result = normalise(text)
    result.encode("utf-8")
    assert len(result.splitlines()) <= 1
    assert result == " ".join(result.split())
    assert "▁" not in result


@pytest.mark.parametrize("text", ["½ ™ x² ﬁ ＡＢＣ …", "Straße", "नमस्ते", "🦊👨‍👩‍👧"])
def test_nothing_compatible_is_folded(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize(
    "separator",
    [
        "\u2028",
        "\u2029",
        "\x85",
        "\f",
        "\v",
        "\x1c",
        "\x1e",
        "\r",
        "\t",
        "\0",
        "\x08",
        "\x7f",
        "\x9d",
        "\u3164",
        "▁",
    ],
)
def test_separators_and_controls_become_one_space(separator: str) -> None:
    assert normalise(f"a{separator}{separator}b{separator}") == "a b"


def test_decomposed_letters_are_composed() -> None:
    assert normalise("e\u0301") == "é"


@pytest.mark.parametrize("text", ["", " \t", "\u3000\u200b", "\ufeff", "\0", "▁▁"])
def test_what_nobody_sees_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(text + "x")
