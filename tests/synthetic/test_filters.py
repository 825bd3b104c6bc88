"""Flags are those of `mt translate`; a language counts only where it is surely another one."""

from __future__ import annotations

import pytest

from mt.config import Config, TokenizerConfig
from mt.config.filters import DOUBTS, FilterConfig
from mt.errors import ConfigError
from mt.synthetic.filters import Filters
from mt.synthetic.made import Made
from mt.translation.flags import flags_of

GERMAN = "Die alte Frau kauft am Samstag immer frisches Brot auf dem Markt."
ENGLISH = "The old woman always buys fresh bread at the market on Saturdays."
DE_EN = Config(source_language="de", target_language="en")


def reason(source: str, text: str, config: Config, **settings: object) -> str:
    filters = Filters(FilterConfig(**settings), config, [])  # type: ignore[arg-type]
    made = Made(text, -0.5, False)
    return filters.reason(source, made, filters.flags(source, made))


@pytest.mark.parametrize(
    ("source", "text", "config", "expected"),
    [
        (GERMAN, ENGLISH, DE_EN, ""),
        (ENGLISH, GERMAN, DE_EN, "language"),
        (GERMAN, "Le vieux chien dort toujours devant la porte de la maison.", DE_EN, "language"),
        (GERMAN, "Ja.", Config(source_language="de", target_language="de"), "unusual_length"),
        (ENGLISH, GERMAN, Config(source_language="eng", target_language="deu_Latn"), ""),
        (ENGLISH, GERMAN, Config(), ""),  # nobody knows what they should be
        (GERMAN, ENGLISH, Config(source_language="de", target_language="x-own"), ""),
    ],
)
def test_a_side_that_is_surely_in_another_language_is_left_out(
    source: str, text: str, config: Config, expected: str
) -> None:
    assert reason(source, text, config) == expected


def test_each_sign_can_be_kept() -> None:
    assert reason(GERMAN, GERMAN, DE_EN) == "copied_source"
    assert reason(GERMAN, GERMAN, DE_EN, drop=("language",)) == "language"
    assert reason(GERMAN, GERMAN, DE_EN, drop=()) == ""


def test_flags_are_those_of_the_text_and_lengths_are_judged_by_examples() -> None:
    source, text = "a" * 10, "b" * 60
    for examples in ([], [("a" * 100, "b" * 400)]):
        filters = Filters(FilterConfig(drop=()), Config(), examples)
        usual = 0.0 if not examples else 1.3
        expected = flags_of(source, text, usual=usual)
        assert filters.flags(source, Made(text, -1.0, False)) == expected
    assert filters.flags(source, Made(text, -1.0, True)) == (*expected, "truncated")


def test_of_symbols_only_whether_a_translation_was_ended_counts() -> None:
    config = Config(tokenizer=TokenizerConfig(kind="symbols"), source_language="de")
    filters = Filters(FilterConfig(), config, [])
    assert filters.flags("a a a a", Made("a a a a a a a", -1.0, False)) == ()
    assert filters.flags("a a a a", Made("a a a a a a a", -1.0, True)) == ("truncated",)


def test_a_threshold_that_is_no_number_is_refused() -> None:
    for number in (float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="finite"):
            FilterConfig(min_score=number)


def test_what_is_dropped_by_default_can_be_dropped() -> None:
    assert set(FilterConfig().drop) < set(DOUBTS)
