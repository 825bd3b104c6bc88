"""Exact match and symbol error rate, against hand counts and the recursive definition."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import DataError
from mt.evaluation.sequences import edit_distance, symbol_errors
from tests.evaluation.corpus_scores import sequence_scores

SHORT = st.text("abc", max_size=6)


def by_definition(one: str, other: str) -> int:
    @cache
    def distance(i: int, j: int) -> int:
        if min(i, j) == 0:
            return max(i, j)
        return min(
            distance(i - 1, j) + 1,
            distance(i, j - 1) + 1,
            distance(i - 1, j - 1) + (one[i - 1] != other[j - 1]),
        )

    return distance(len(one), len(other))


@given(one=SHORT, other=SHORT)
def test_edit_distances_are_those_of_the_definition(one: str, other: str) -> None:
    assert edit_distance(list(one), list(other)) == by_definition(one, other)


@pytest.mark.parametrize(
    ("hypotheses", "references", "exact", "rate"),
    [
        (["a b", "c"], [["a b", "c"]], 100, 0),
        (["a b", "c d"], [["a b", "c"]], 50, 100 / 3),  # one insertion, three symbols
        (["", "c"], [["a b", "c"]], 50, 200 / 3),  # two deletions
        (["x y z", " c\t"], [["a", "c"]], 50, 150),  # one replaced, two inserted; space is nothing
        (["A b"], [["a b"]], 0, 50),
        (["é"], [["e\u0301"]], 0, 100),  # no Unicode form is made equal
        (["a b c"], [["a x y"], ["a b d"]], 0, 100 / 3),  # the nearest reference
        (["a"], [["b"], ["a b"]], 0, 50),  # of equally near ones the longest
    ],
)
def test_scores_are_those_of_hand_counts(
    hypotheses: list[str], references: list[list[str]], exact: float, rate: float
) -> None:
    scores = {score.name: score.score for score in sequence_scores(hypotheses, references)}
    assert scores == pytest.approx({"exact": exact, "SER": rate})


def test_lowercase_is_in_the_signature() -> None:
    exact, rate = sequence_scores(["A B"], [["a b"]], lowercase=True)
    assert (exact.score, rate.score) == (100, 0)
    assert "case:lc" in exact.signature
    assert "unit:symbol" in rate.signature


def test_errors_are_told_line_by_line() -> None:
    assert symbol_errors(["a b", ""], [["a", "x y"]]).tolist() == [[1, 1], [2, 2]]


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(DataError, match="2 hypotheses, but reference 1 has 1 lines"):
        sequence_scores(["a", "b"], [["a"]])
    with pytest.raises(DataError, match="hold no symbol"):
        sequence_scores([""], [[" "]])
