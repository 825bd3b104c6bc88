"""Where systems differ: each number against one counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics.chrf import CHRF

from mt.evaluation.comparison import (
    FREQUENCIES,
    LENGTHS,
    Outcome,
    count_words,
    gains,
    most_different,
    outcome,
    range_name,
    score_by_group,
    words_by_frequency,
)
from mt.evaluation.metrics import Recipe, measure, metrics_for
from mt.evaluation.scores import word_splitter

REFERENCE = ["a b c d", "e f g h", "i j k l", "m n o p"]
FIRST = ["a b c d", "e f x h", "i j k l", "x x x x"]
SECOND = ["a b c d", "e f g h", "i j k x", "m x x x"]


@pytest.mark.parametrize("metric", ["ter", "chrf"])
def test_better_is_better_whether_more_or_fewer(metric: str) -> None:
    metrics = metrics_for([REFERENCE], Recipe(metrics=(metric,)))
    (first,), (second,) = measure(FIRST, metrics), measure(SECOND, metrics)
    gained = gains(first, second)
    assert outcome(gained) == Outcome(wins=2, ties=1, losses=1)
    assert outcome(-gained) == Outcome(wins=1, ties=1, losses=2)
    assert most_different(gained, 5)[1] == [2]
    assert set(most_different(gained, 5)[0]) == {1, 3}
    assert most_different(np.array([1.0, 3.0, 3.0, -1.0]), 2) == ([1, 2], [3])


@pytest.mark.parametrize("size", [0.0, 1e-10, 1e-9, 1.1e-9, 1.0])
def test_the_sentences_that_differ_are_those_that_are_won_and_lost(size: float) -> None:
    """At the bound below which two scores are the same, too."""
    gained = np.array([size, -size, 0.0])
    counted = outcome(gained)
    best, worst = most_different(gained, 3)
    assert (len(best), len(worst)) == (counted.wins, counted.losses)
    assert set(best) <= {0} and set(worst) <= {1}


def test_groups_are_scored_by_themselves() -> None:
    (chrf,) = measure(FIRST, metrics_for([REFERENCE], Recipe(metrics=("chrf",))))
    found = score_by_group(chrf, ["x", "y", "x", "y"])
    for name, places in {"x": (0, 2), "y": (1, 3)}.items():
        some = ([lines[place] for place in places] for lines in (FIRST, REFERENCE))
        hypotheses, reference = some
        assert found[name] == pytest.approx(CHRF().corpus_score(hypotheses, [reference]).score)


@pytest.mark.parametrize(
    ("value", "bounds", "name"),
    [
        (0, LENGTHS, "0"),
        (1, LENGTHS, "1–4"),
        (4, LENGTHS, "1–4"),
        (60, LENGTHS, "60+"),
        (0, FREQUENCIES, "0"),
        (1, FREQUENCIES, "1"),
        (99, FREQUENCIES, "10–99"),
        (5000, FREQUENCIES, "1000+"),
    ],
)
def test_ranges_are_named_by_their_ends(value: int, bounds: tuple[int, ...], name: str) -> None:
    assert range_name(value, bounds) == name


def test_words_are_matched_once_each() -> None:
    split = word_splitter("13a")
    frequencies = count_words(["the the the", "cat the the"], split)
    assert frequencies == {"the": 5, "cat": 1}
    found = words_by_frequency(
        ["the the the cat.", "dog"], ["the cat sat.", "the dog"], frequencies, split
    )
    # "the": 1 match, 3 in hypotheses, 2 in references; "cat": 1, 1, 1; ".", "sat", "dog": 2, 2, 3
    assert {name: each.num_words for name, each in found.items()} == {"0": 3, "1": 1, "5–9": 2}
    assert found["5–9"].f1 == pytest.approx(200 * 1 / 5)
    assert found["1"].f1 == 100.0
    assert found["0"].f1 == pytest.approx(200 * 2 / 5)
