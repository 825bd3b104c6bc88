"""Directions as people write them."""

from __future__ import annotations

import pytest

from mt.directions import Direction, known_code, parse_directions


@pytest.mark.parametrize(
    ("text", "directions"),
    [
        ("de-en", ["de-en"]),
        ("de-en,en-de,sw-en", ["de-en", "en-de", "sw-en"]),
        ("de,sw-en", ["de-en", "sw-en"]),
        ("en-de,sw, fr", ["en-de", "en-sw", "en-fr"]),
        ("zh-Hant:en,en:zh-Hant", ["zh-Hant:en", "en:zh-Hant"]),
        ("eng_Latn-swh_Latn", ["eng_Latn-swh_Latn"]),
    ],
)
def test_directions_are_read_and_written_alike(text: str, directions: list[str]) -> None:
    found = parse_directions(text)
    assert list(map(str, found)) == directions
    assert parse_directions(",".join(directions)) == found


@pytest.mark.parametrize(
    "text", ["", "de", "de,en", "de-en-fr", "-en", "de-en,de-en", "de-en,en-en", "de-en,", "d e-en"]
)
def test_what_is_no_direction_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"form|no direction|twice|itself"):
        parse_directions(text)


def test_a_code_is_known_by_itself_or_by_its_language() -> None:
    known = ("de", "swh_Latn", "zh-Hans", "zh-Hant")
    assert known_code("deu", known) == "de"
    assert known_code("sw", known) == "swh_Latn"
    assert known_code("zh-hant", known) == "zh-Hant"
    assert known_code("zh", known) is None  # it may be either
    assert known_code("fr", known) is None


def test_a_direction_goes_both_ways_as_text() -> None:
    assert Direction.parse(str(Direction("pt-BR", "en"))) == ("pt-BR", "en")
