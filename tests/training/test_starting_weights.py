"""A run that starts from trained weights scores them first, and gives them up only for better."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from mt.events import Event, Validated, ValidationStarted
from mt.training.best import BestTracker
from mt.training.kept_weights import list_kept
from tests.training.small_run import Run, budget, same


def run_from(folder: Path, updates: int, scores: Callable[[int], float], **changes: object) -> Run:
    run = Run(folder, budget(updates, **changes), scores=scores)
    run.trainer.validates_start = True
    return run


def validated(run: Run) -> list[int]:
    return [event.update for event in run.events if isinstance(event, Validated)]


def test_the_weights_to_start_from_are_scored_before_the_first_update(tmp_path: Path) -> None:
    run = run_from(tmp_path, 14, float, keep_weights=3)
    run.trainer.run()
    assert validated(run) == [0, 7, 14]
    assert run.kept == [0, 7, 14]
    assert [each.update for each in list_kept(tmp_path / "training")] == [0, 7, 14]


def test_a_run_that_gains_nothing_ends_by_patience_and_keeps_the_start(tmp_path: Path) -> None:
    run = run_from(tmp_path, 1000, lambda update: -float(update), patience=2)
    assert "no better bleu in 2 validations" in run.trainer.run()
    assert run.trainer.progress.update == 14
    assert run.kept == [0]
    assert run.trainer.parts.tracker.best_update == 0


@pytest.mark.parametrize("first", [1.0, math.nan])
def test_the_start_uses_up_no_patience(first: float) -> None:
    tracker = BestTracker(metric="bleu", patience=1)
    assert tracker.take({"BLEU": first}, 0) is not math.isnan(first)
    assert tracker.num_without_improvement == 0
    assert not tracker.is_exhausted
    tracker.take({"BLEU": 0.5 if first == 1.0 else math.nan}, 7)
    assert tracker.is_exhausted


def test_scoring_the_start_changes_no_update(tmp_path: Path) -> None:
    runs = []
    for name, first in (("scored", True), ("not", False)):
        (tmp_path / name).mkdir()
        run = Run(tmp_path / name, budget(14))
        run.trainer.validates_start = first
        run.trainer.run()
        runs.append(run)
    assert same(runs[0].weights(), runs[1].weights())


def test_a_stop_while_the_start_is_scored_leaves_that_to_a_resume(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    whole = run_from(tmp_path / "whole", 14, float)
    whole.trainer.run()
    first = run_from(tmp_path / "parts", 14, float)
    seen: list[Event] = []

    def listen(event: Event) -> None:
        seen.append(event)

    first.trainer.listener = listen
    first.trainer.should_stop = lambda: any(isinstance(event, ValidationStarted) for event in seen)
    assert first.trainer.run() == "interrupted"
    assert not any(isinstance(event, Validated) for event in seen)
    second = run_from(tmp_path / "parts", 14, float)
    second.trainer.resume()
    second.trainer.run()
    assert validated(second) == [0, 7, 14]
    assert same(second.weights(), whole.weights())
