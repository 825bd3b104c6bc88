"""Which weights are best, and when waiting ends."""

from __future__ import annotations

import math

import pytest

from mt.train.validation import BestTracker


def stops_after(scores: list[float], *, smaller: bool, patience: int) -> tuple[int | None, int]:
    tracker = BestTracker(smaller_is_better=smaller, patience=patience)
    for number, score in enumerate(scores, start=1):
        tracker.take(score, number)
        if tracker.is_exhausted:
            assert tracker.best_update is not None
            return number, tracker.best_update
    assert tracker.best_update is not None
    return None, tracker.best_update


@pytest.mark.parametrize(
    ("scores", "smaller", "patience", "stop", "best"),
    [
        ([1.0, 0.9, 0.95, 0.96, 0.5], True, 2, 4, 2),
        ([10, 12, 11, 12, 13], False, 3, None, 5),
        ([1.0, 1.1], True, 1, 2, 1),
        ([10, 10, 10], False, 2, 3, 1),
        ([5, 4, 3, 2, 1, 0], False, 0, None, 1),
    ],
)
def test_patience_counts_validations_in_a_row_without_a_better_score(
    scores: list[float], smaller: bool, patience: int, stop: int | None, best: int
) -> None:
    assert stops_after(scores, smaller=smaller, patience=patience) == (stop, best)


@pytest.mark.parametrize("first", [2.0, math.nan])
def test_nan_is_never_better_and_counts_against_patience(first: float) -> None:
    tracker = BestTracker(smaller_is_better=True, patience=9)
    took = [tracker.take(score, i) for i, score in enumerate([first, math.nan, 1.5])]
    assert took == [not math.isnan(first), False, True]
    assert tracker.best_update == 2
    assert BestTracker(smaller_is_better=True, patience=1).take(math.nan, 1) is False
