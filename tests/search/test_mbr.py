"""Minimum-Bayes-risk choice against its definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mt.search.mbr import Candidate, probabilities, rank_by_consensus


def similarity(hypothesis: str, reference: str) -> float:
    """Places that agree, over the length of the reference: not symmetric."""
    same = sum(a == b for a, b in zip(hypothesis, reference, strict=False))
    return same / max(len(reference), 1)


def utility(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[similarity(h, r) for r in texts] for h in texts])


candidates = st.lists(
    st.builds(
        Candidate,
        text=st.text(alphabet="ab", max_size=3),
        score=st.integers(-9, 0).map(float),
        weight=st.integers(1, 5).map(float),
    ),
    min_size=1,
    max_size=8,
)


@given(candidates)
def test_the_ranking_is_that_of_the_definition(given_candidates: list[Candidate]) -> None:
    """Every candidate, duplicates included, against every other, by brute force."""
    total = sum(each.weight for each in given_candidates)
    expected = [
        sum(r.weight * similarity(h.text, r.text) for r in given_candidates) / total
        for h in given_candidates
    ]
    ranked = rank_by_consensus(given_candidates, utility)
    assert {given_candidates[each.index].text for each in ranked} == {
        each.text for each in given_candidates
    }
    assert len(ranked) == len({each.text for each in given_candidates})
    for each in ranked:
        assert each.expected_utility == pytest.approx(expected[each.index])
        twins = [c.score for c in given_candidates if c.text == given_candidates[each.index].text]
        assert given_candidates[each.index].score == max(twins)
    for better, worse in itertools.pairwise(ranked):
        difference = better.expected_utility - worse.expected_utility
        assert difference > -1e-9
        if difference == 0:
            assert given_candidates[better.index].score >= given_candidates[worse.index].score


@given(candidates, st.randoms(use_true_random=False))
def test_the_order_given_and_repetitions_change_nothing(
    given_candidates: list[Candidate], random: object
) -> None:
    once = [
        Candidate(text=text, score=-i, weight=3.0)
        for i, text in enumerate(dict.fromkeys(c.text for c in given_candidates))
    ]
    thrice = [Candidate(text=c.text, score=c.score) for c in once for _ in range(3)]
    shuffled = list(thrice)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    best = [
        [
            (pool[r.index].text, pytest.approx(r.expected_utility))
            for r in rank_by_consensus(pool, utility)
        ]
        for pool in (once, thrice, shuffled)
    ]
    assert best[0] == best[1] == best[2]


def test_the_odd_one_out_loses_though_it_is_the_most_probable() -> None:
    pool = [
        Candidate(text="zzz", score=-1.0, weight=0.4),
        Candidate(text="aab", score=-2.0, weight=0.3),
        Candidate(text="aac", score=-2.0, weight=0.3),
    ]
    assert [each.index for each in rank_by_consensus(pool, utility)] == [1, 2, 0]


def test_one_candidate_wins() -> None:
    (only,) = rank_by_consensus([Candidate(text="a", score=-1.0)], utility)
    assert (only.index, only.expected_utility) == (0, 1.0)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0], [math.nan], [math.inf]])
def test_weights_that_make_no_distribution_are_refused(weights: list[float]) -> None:
    pool = [Candidate(text=str(i), score=0.0, weight=w) for i, w in enumerate(weights)]
    with pytest.raises(ValueError, match="must be"):
        rank_by_consensus(pool, utility)


def test_probabilities_sum_to_one_even_far_below_what_exp_can_hold() -> None:
    assert probabilities([-5000.0, -5000.0 + math.log(3)]) == pytest.approx([0.25, 0.75])
    assert probabilities([-2.0, -math.inf]) == [1.0, 0.0]
    with pytest.raises(ValueError, match="finite"):
        probabilities([-math.inf])
