"""What was trained is on disk before anything can go wrong; a run goes on from there exactly."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from mt.errors import TrainingError
from mt.events import BatchDone, Event, Validated
from mt.training import saving
from mt.training.checkpoint import list_checkpoints
from mt.training.trainer import Trainer
from tests.training.small_run import Run, budget, same


class _Gone(BaseException):
    """In the place of a kill."""


def newest(folder: Path) -> str:
    return list_checkpoints(folder / "training")[-1].name


def test_the_state_is_saved_before_its_validation_begins(tmp_path: Path) -> None:
    saved: list[str] = []

    def score(update: int) -> float:
        saved.append(newest(tmp_path))
        return float(update)

    Run(tmp_path, budget(16), scores=score).trainer.run()
    assert saved == ["checkpoint-7", "checkpoint-14", "checkpoint-16"]


@pytest.mark.parametrize("update", [7, 14, 20])
def test_a_run_killed_in_a_validation_goes_on_as_if_nothing_had_happened(
    update: int, tmp_path: Path
) -> None:
    """The validation is made again: patience, best score and weights are those of one run."""
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    scores = {7: 5.0, 14: 9.0, 20: 8.0}
    whole = Run(tmp_path / "whole", budget(20), scores=scores.__getitem__)
    whole.trainer.run()

    def dies(at: int) -> float:
        if at == update:
            raise _Gone
        return scores[at]

    killed = Run(tmp_path / "parts", budget(20), scores=dies)
    with pytest.raises(_Gone):
        killed.trainer.run()
    assert newest(tmp_path / "parts") == f"checkpoint-{update}"
    torch.manual_seed(99)
    again = Run(tmp_path / "parts", budget(20), scores=scores.__getitem__)
    again.trainer.resume()
    again.trainer.run()
    assert killed.losses + again.losses == whole.losses
    assert killed.kept + again.kept == whole.kept == [7, 14]
    assert same(again.weights(), whole.weights())
    tracker = dataclasses.asdict(again.trainer.parts.tracker)
    assert tracker == dataclasses.asdict(whole.trainer.parts.tracker)
    validated = [
        [e.update for e in run.events if isinstance(e, Validated)] for run in (killed, again)
    ]
    assert validated[0] + validated[1] == [7, 14, 20]


def test_the_state_is_saved_by_time_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "_SECONDS_BETWEEN_SAVES", 0.0)
    run = Run(tmp_path, budget(4, validate_every=1000))
    newest_at: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, BatchDone) and event.update > 1:
            newest_at.append(newest(tmp_path))

    run.trainer.listener = listen
    run.trainer.run()
    assert newest_at == ["checkpoint-1", "checkpoint-2", "checkpoint-3"]


def test_states_written_by_time_change_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    for name, seconds in (("seldom", 50.0), ("often", 0.0)):
        monkeypatch.setattr(saving, "_SECONDS_BETWEEN_SAVES", seconds)
        (tmp_path / name).mkdir()
        run = Run(tmp_path / name, budget(16))
        run.trainer.run()
        runs.append(run)
    assert runs[0].losses == runs[1].losses
    assert same(runs[0].weights(), runs[1].weights())


def ruin(run: Run, value: float) -> None:
    """Give one weight and its average this value."""
    with torch.no_grad():
        next(run.trainer.parts.model.parameters()).view(-1)[0] = value
        run.trainer.parts.average.tensors()[0].view(-1)[0] = value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_not_saved(value: float, tmp_path: Path) -> None:
    run = Run(tmp_path, budget(5))
    run.trainer.run()
    ruin(run, value)
    run.trainer.progress.update = 6
    with pytest.raises(TrainingError, match=r"update 6: the weights .* the state of update 5 is"):
        run.trainer.save()
    assert newest(tmp_path) == "checkpoint-5"
    Run(tmp_path, budget(5)).trainer.resume()


@pytest.mark.parametrize("value", [float("nan"), 1e30])
def test_a_model_that_diverged_is_not_translated_with(
    value: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def score(update: int) -> float:
        asked.append(update)
        return 0.0

    run = Run(tmp_path, budget(7), scores=score)
    ruin(run, value)
    monkeypatch.setattr(Trainer, "save", lambda self: None)
    with pytest.raises(TrainingError, match="update 0: training has diverged, the loss"):
        run.trainer._validate()
    assert asked == []


def test_a_run_that_diverges_ends_within_a_few_updates_and_keeps_a_good_state(
    tmp_path: Path,
) -> None:
    """Its gradients are finite, and clipped; only the loss shows it."""
    run = Run(tmp_path, budget(1000, peak_rate=1e6, max_nonfinite=5, validate_every=1000))
    run.trainer.save()
    with pytest.raises(TrainingError, match=r"update \d+: training has diverged, .* update 0 is"):
        run.trainer.run()
    assert run.trainer.progress.update < 20
    assert newest(tmp_path) == "checkpoint-0"
