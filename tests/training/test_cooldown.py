"""A run whose rate has fallen goes on with a longer budget as if it had had that from the first."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mt.config import TrainingConfig
from mt.errors import ModelFolderError
from mt.events import BatchDone, Event, Notice, TrainingEnded, Validated
from mt.training import checkpoint, saving
from mt.training.best import BestTracker, Extent
from tests.training.small_run import PLAN, Run, budget, same

SHARE = 0.4
SHORT, LONG = budget(20, cooldown=SHARE), budget(40, cooldown=SHARE)
BEFORE = 12
"""The last update of 20 before the rate falls; of 40 it is 24."""


class _Gone(BaseException):
    """In the place of a kill."""


def train(
    folder: Path,
    config: TrainingConfig,
    *,
    resumes: bool = True,
    scores: Callable[[int], float] = float,
    stop_at: int | None = None,
) -> Run:
    """A run that is begun or resumed, in a process of its own random state."""
    folder.mkdir(exist_ok=True)
    run = Run(folder, config, scores=scores)
    if resumes:
        torch.manual_seed(99)
        run.trainer.resume()
    if stop_at is not None:
        run.trainer.should_stop = lambda: run.trainer.progress.update >= stop_at
    run.trainer.run()
    return run


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[TrainingConfig], Run]:
    """Gives the run that had its budget from the first, made once."""
    return cache(lambda config: train(tmp_path_factory.mktemp("whole"), config, resumes=False))


@pytest.fixture(scope="module")
def _short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("short")
    train(folder, SHORT, resumes=False)
    return folder


@pytest.fixture
def short_folder(_short: Path, tmp_path: Path) -> Path:
    """The folder of a run of the short budget that is over."""
    return shutil.copytree(_short, tmp_path / "short")


def batches(run: Run) -> list[BatchDone]:
    return [event for event in run.events if isinstance(event, BatchDone)]


def first_update(run: Run) -> int:
    return batches(run)[0].update


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "training").iterdir() if path.is_dir())


def notices(run: Run) -> list[str]:
    return [event.text for event in run.events if isinstance(event, Notice)]


def ended(run: Run) -> TrainingEnded:
    return next(event for event in run.events if isinstance(event, TrainingEnded))


def check_same(run: Run, whole: Run) -> None:
    """Demand weights, average, optimizer, order, patience and best score of the other run."""
    assert same(run.weights(), whole.weights())
    states = [each.trainer.parts.optimizer.state_dict()["state"] for each in (run, whole)]
    for index, state in states[1].items():
        assert all(torch.equal(states[0][index][key], value) for key, value in state.items())
    trackers = [dataclasses.asdict(each.trainer.parts.tracker) for each in (run, whole)]
    assert trackers[0] == trackers[1]
    for key in ("update", "epoch", "batch", "target_tokens", "validated_update", "cooldown"):
        assert getattr(run.trainer.progress, key) == getattr(whole.trainer.progress, key)
    told = [
        {event.update: (event.loss, event.rate, event.gradient_norm) for event in batches(each)}
        for each in (run, whole)
    ]
    assert told[0].items() <= told[1].items()
    assert max(told[0], default=max(told[1])) == max(told[1])


@pytest.mark.parametrize(
    ("short", "long", "before"),
    [
        ({"max_updates": 20}, {"max_updates": 40}, 12),
        # The longer run begins to cool after the same update, but less.
        ({"max_updates": 20}, {"max_updates": 21}, 12),
        ({"max_epochs": 1.7}, {"max_epochs": 3.4}, None),
        ({"max_epochs": 3.0, "accumulate": 3}, {"max_epochs": 4.0, "accumulate": 3}, None),
        ({"max_epochs": 3.0, "max_updates": 20}, {"max_epochs": 6.0, "max_updates": 40}, None),
        ({"max_updates": 20}, {"max_updates": 20, "cooldown": 0.0}, 12),
    ],
)
def test_a_cooled_run_and_a_longer_budget_are_the_longer_run(
    short: dict[str, float],
    long: dict[str, float],
    before: int | None,
    whole_run: Callable[[TrainingConfig], Run],
    tmp_path: Path,
) -> None:
    common = {"cooldown": SHARE, "patience": 9}
    configs = [dataclasses.replace(PLAN, **(common | each)) for each in (short, long)]  # type: ignore[arg-type]
    short_run = train(tmp_path / "parts", configs[0], resumes=False)
    run = train(tmp_path / "parts", configs[1])
    if before is not None:
        assert first_update(run) == before + 1
    assert f"going on from update {first_update(run) - 1}, before the rate" in notices(run)[0]
    check_same(run, whole_run(configs[1]))
    plain = batches(whole_run(dataclasses.replace(configs[0], cooldown=0.0)))
    cooled = [
        event.update
        for event, other in zip(batches(short_run), plain, strict=True)
        if event.rate < other.rate
    ]
    assert cooled[0] == first_update(run)  # and no later update than the last one before


@pytest.mark.parametrize("stop_at", [12, 13, 16])
@pytest.mark.parametrize("config", [SHORT, LONG, budget(16, cooldown=SHARE)])
def test_a_stop_inside_the_cooldown(
    stop_at: int,
    config: TrainingConfig,
    whole_run: Callable[[TrainingConfig], Run],
    tmp_path: Path,
) -> None:
    """With the same budget, or a shorter one, it goes on from there; with a longer one from 12."""
    train(tmp_path / "parts", SHORT, resumes=False, stop_at=stop_at)
    run = Run(tmp_path / "parts", config)
    run.trainer.resume()
    goes_back = config is LONG and stop_at > BEFORE
    assert run.trainer.progress.update == (BEFORE if goes_back else stop_at)
    assert bool(notices(run)) == goes_back
    run.trainer.run()
    if config in (SHORT, LONG):
        check_same(run, whole_run(config))


def test_a_run_that_was_cut_short_inside_its_cooldown_is_still_the_beginning_of_it(
    whole_run: Callable[[TrainingConfig], Run], tmp_path: Path
) -> None:
    """20, stopped at 14 and ended at 16, then 20 again: that rate fell too early, too."""
    train(tmp_path / "parts", SHORT, resumes=False, stop_at=14)
    cut = train(tmp_path / "parts", budget(16, cooldown=SHARE))
    assert first_update(cut) == 15
    run = train(tmp_path / "parts", SHORT)
    assert first_update(run) == BEFORE + 1
    check_same(run, whole_run(SHORT))


def test_the_state_before_the_cooldown_stays_as_long_as_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "_SECONDS_BETWEEN_SAVES", 0.0)
    train(tmp_path, SHORT, resumes=False)
    assert names(tmp_path) == ["before-cooldown-12", "checkpoint-20"]
    train(tmp_path, LONG, stop_at=15)
    assert names(tmp_path) == ["checkpoint-15"]
    train(tmp_path, LONG)
    assert names(tmp_path) == ["before-cooldown-24", "checkpoint-40"]
    again = train(tmp_path, budget(60, cooldown=SHARE))
    assert first_update(again) == 25
    assert names(tmp_path) == ["before-cooldown-36", "checkpoint-60"]


@pytest.mark.parametrize("count", [1, 3, 40])
def test_where_the_stream_will_be_is_known_before(count: int, tmp_path: Path) -> None:
    stream = Run(tmp_path, LONG).trainer.stream
    batches = iter(stream)
    for _ in range(4):
        expected = stream.epochs_after(count)
        for _ in range(count):
            next(batches)
        assert stream.epochs == expected


def test_a_run_without_a_cooldown_keeps_nothing(tmp_path: Path) -> None:
    train(tmp_path, budget(20), resumes=False)
    assert names(tmp_path) == ["checkpoint-20"]


@pytest.mark.parametrize("config", [SHORT, LONG])
def test_a_kill_after_the_keeping_loses_nothing(
    config: TrainingConfig, whole_run: Callable[[TrainingConfig], Run], tmp_path: Path
) -> None:
    """The state that was kept is the newest one as well, and no update before it is made again."""
    killed = Run(tmp_path, SHORT)

    def listen(event: Event) -> None:
        if isinstance(event, BatchDone) and event.update == BEFORE + 1:
            raise _Gone

    killed.trainer.listener = listen
    with pytest.raises(_Gone):
        killed.trainer.run()
    run = train(tmp_path, config)
    assert first_update(run) == BEFORE + 1
    assert notices(run) == []
    check_same(run, whole_run(config))


@pytest.mark.parametrize("count", range(8))
def test_a_kill_at_any_step_of_dropping_states_leaves_the_way_back(
    count: int,
    short_folder: Path,
    whole_run: Callable[[TrainingConfig], Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that the run left behind are no newest state of it, not even a half of one."""
    config = budget(21, cooldown=SHARE)
    run = Run(short_folder, config)
    run.trainer.resume()
    left = [count]

    def deadly(call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*arguments: object, **options: object) -> object:
            if not left[0]:
                raise _Gone
            left[0] -= 1
            return call(*arguments, **options)

        return wrapped

    def remove(path: Path, **options: object) -> None:
        if not left[0]:
            next(path.iterdir()).unlink()  # half of it
        deadly(remove_whole)(path, **options)

    remove_whole = shutil.rmtree
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", deadly(os.rename))
        patch.setattr(checkpoint, "shutil", SimpleNamespace(rmtree=remove))
        with pytest.raises(_Gone):
            run.trainer.run()
    check_same(train(short_folder, config), whole_run(config))


def test_a_folder_without_the_kept_state_resumes_as_before(short_folder: Path) -> None:
    """As one of mt 0.1, whose checkpoints know nothing of a cooldown."""
    shutil.rmtree(short_folder / "training" / "before-cooldown-12")
    gone = Run(short_folder, LONG)
    gone.trainer.resume()
    assert gone.trainer.progress.update == 20
    path = short_folder / "training" / "checkpoint-20" / "progress.json"
    record = json.loads(path.read_text("utf-8"))
    del record["progress"]["cooldown"], record["tracker"]["held"]
    path.write_text(json.dumps(record), "utf-8")
    run = train(short_folder, LONG)
    assert first_update(run) == 21
    assert notices(gone) + notices(run) == []
    assert names(short_folder) == ["before-cooldown-24", "checkpoint-40"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("state.safetensors", b""), ("state.safetensors", b"flip"), ("progress.json", b"{")],
)
def test_a_damaged_state_before_the_cooldown_is_named(
    name: str, content: bytes, short_folder: Path
) -> None:
    path = short_folder / "training" / "before-cooldown-12" / name
    if content == b"flip":
        content = path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1])
    path.write_bytes(content)
    with pytest.raises(ModelFolderError, match=r"before-cooldown-12.* is damaged"):
        Run(short_folder, LONG).trainer.resume()
    Run(short_folder, SHORT).trainer.resume()  # which does not need it


def test_a_budget_of_minutes_goes_back_too(tmp_path: Path) -> None:
    def config(minutes: float) -> TrainingConfig:
        return dataclasses.replace(PLAN, max_minutes=minutes, cooldown=SHARE)

    short = train(tmp_path, config(0.03), resumes=False)
    rates = [event.rate for event in batches(short)]
    (kept,) = (tmp_path / "training").glob("before-cooldown-*")
    before = int(kept.name.rpartition("-")[2])
    assert 0 < before < len(rates)
    same_budget = Run(tmp_path, config(0.03))
    same_budget.trainer.resume()
    assert same_budget.trainer.progress.update == len(rates)
    long = train(tmp_path, config(0.06))
    assert first_update(long) == before + 1
    assert batches(long)[0].rate > rates[before]


def test_patience_may_end_a_run_inside_its_cooldown(tmp_path: Path) -> None:
    """Of a longer budget it was used up too early: the longer run waits anew."""
    scores = {7: 9.0, 14: 8.0, 21: 7.0, 28: 9.5}.get
    config = budget(30, cooldown=0.6, patience=2)

    def score(update: int) -> float:
        return scores(update) or 1.0

    short = train(tmp_path / "parts", config, resumes=False, scores=score)
    assert "no better bleu" in ended(short).reason
    long = dataclasses.replace(config, max_updates=60, patience=3)
    run = train(tmp_path / "parts", long, scores=score, stop_at=29)
    assert first_update(run) == 13
    assert run.trainer.parts.tracker.num_without_improvement == 0
    assert run.kept == [28]


def test_the_better_model_stays_until_it_is_beaten(tmp_path: Path) -> None:
    """The run knows its own best score, the folder keeps the best weights of both."""
    scores = {7: 5.0, 14: 8.0, 20: 9.0}
    train(tmp_path, SHORT, resumes=False, scores=scores.__getitem__)
    scores = {7: 5.0, 14: 4.0, 21: 6.0, 28: 9.5, 35: 10.0, 40: 3.0}
    first = train(tmp_path, LONG, scores=scores.__getitem__, stop_at=23)
    assert notices(first) == [
        "the budget is longer: going on from update 12, before the rate fell; "
        "the model stays that of update 20 until one is better"
    ]
    assert first.kept == []
    tracker = first.trainer.parts.tracker
    assert (tracker.best, tracker.best_update) == (6.0, 21)
    told = ended(first)
    assert (told.best, told.best_update, told.is_of_shorter_run) == (9.0, 20, True)
    assert not any(event.is_best for event in first.events if isinstance(event, Validated))
    second = train(tmp_path, LONG, scores=scores.__getitem__)
    assert second.kept == [28, 35]
    told = ended(second)
    assert (told.best, told.best_update, told.is_of_shorter_run) == (10.0, 35, False)
    check_same(second, train(tmp_path / "whole", LONG, resumes=False, scores=scores.__getitem__))


def test_a_model_that_is_never_beaten_stays_over_two_longer_budgets(tmp_path: Path) -> None:
    train(tmp_path, SHORT, resumes=False, scores=lambda update: 9.0 if update == 20 else 1.0)
    for updates in (40, 60):
        run = train(tmp_path, budget(updates, cooldown=SHARE), scores=lambda update: 2.0)
        assert run.kept == []
        assert (ended(run).best, ended(run).best_update) == (9.0, 20)
        assert ended(run).is_of_shorter_run
        assert run.trainer.parts.tracker.best == 2.0


def test_a_cooldown_before_the_first_validation_leaves_no_score(tmp_path: Path) -> None:
    def config(updates: int) -> TrainingConfig:
        return budget(updates, cooldown=0.8)

    train(tmp_path, config(20), resumes=False, scores=lambda update: 9.0)
    run = train(tmp_path, config(40), scores=lambda update: 5.0)
    assert first_update(run) == 5
    tracker = run.trainer.parts.tracker
    assert tracker.best_update is not None
    assert tracker.best_update >= 7
    assert tracker.best == 5.0
    assert tracker.held is not None
    assert tracker.held.score == 9.0


def test_a_model_from_before_the_cooldown_is_known_to_the_longer_run(tmp_path: Path) -> None:
    scores = {7: 9.0, 14: 1.0, 20: 2.0, 21: 3.0, 28: 9.1, 35: 1.0, 40: 1.0}
    train(tmp_path, SHORT, resumes=False, scores=scores.__getitem__)
    run = train(tmp_path, LONG, scores=scores.__getitem__)
    assert "the model stays" not in notices(run)[0]
    assert run.kept == [28]


@pytest.mark.parametrize(
    ("extent", "score", "of_sample", "is_better"),
    [
        ("whole", 9.0, 7.0, True),  # by the sample, which both have
        ("whole", 9.0, 5.0, False),
        ("sample", 6.5, 6.5, True),
        ("look", 99.0, 99.0, False),
    ],
)
def test_a_held_model_is_compared_by_the_lines_of_both(
    extent: Extent, score: float, of_sample: float, is_better: bool
) -> None:
    shorter = BestTracker(metric="bleu", patience=0)
    shorter.take({"BLEU": 6.0, "loss": 2.0}, 20, extent="sample", num_pairs=200)
    tracker = BestTracker(metric="bleu", patience=0)
    tracker.held = shorter.left_behind(12)
    record = json.loads(json.dumps(dataclasses.asdict(tracker)))
    tracker = BestTracker(metric="bleu", patience=0)
    tracker.restore(record)
    assert tracker.held == shorter.in_folder
    sample = {"BLEU": of_sample, "loss": 3.0}
    assert tracker.take({"BLEU": score, "loss": 3.0}, 14, of_sample=sample, extent=extent)
    assert (tracker.held is None) == is_better
    assert tracker.left_behind(14) == (None if is_better else shorter.in_folder)
