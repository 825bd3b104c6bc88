"""Translators are measured in turns, on the same lines, and by the median of their rounds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mt.evaluation.scores import Score
from mt.tasks.compare_speed import Contender, Measurement, measured_in_turns
from mt.translation.translation import Translation
from tests.synthetic.shouting import shouted


def test_all_take_turns_after_all_are_warm() -> None:
    calls: list[tuple[str, int]] = []

    def contender(name: str) -> Contender:
        def translate(lines: Sequence[str]) -> list[Translation]:
            calls.append((name, len(lines)))
            return [shouted(line) for line in lines]

        return Contender(name=name, beam=5, translate=translate)

    def scores_of(texts: list[str]) -> list[Score]:
        assert texts == [f"LINE {number}" for number in range(20)]
        return [Score(name="BLEU", score=7.0, signature="s")]

    lines = [f"line {number}" for number in range(20)]
    found = measured_in_turns([contender("a"), contender("b")], lines, scores_of)
    assert calls == [("a", 8), ("b", 8), *[("a", 20), ("b", 20)] * 3]
    assert [(each.name, each.num_lines, len(each.seconds)) for each in found] == [
        ("a", 20, 3),
        ("b", 20, 3),
    ]


def test_the_rate_is_that_of_the_median_round() -> None:
    found = Measurement(name="a", beam=1, scores=(), seconds=(1.0, 100.0, 2.0), num_lines=20)
    assert found.lines_per_second == 10.0


def test_no_lines_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="one line at least"):
        measured_in_turns([], [], lambda texts: [])
