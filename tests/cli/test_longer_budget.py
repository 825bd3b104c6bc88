"""`mt train --resume` with a longer budget, after a cooldown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.cases.model_files import records, same_tensors
from tests.cases.runs import SMALL, run_here
from tests.cases.toy import toy_pairs, write_files

MACHINE = ("--device", "cpu", "--precision", "float32", "--threads", "1")
PLAN = (
    *(*SMALL, "--batch-tokens", "200", "--threads", "1"),
    *("--set", "training.cooldown=0.4", "--set", "training.metric=loss"),
    *("--set", "training.validate_every=10"),
)


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[str, ...]:
    train = write_files(tmp_path, "train", toy_pairs(200, seed="train"))
    dev = write_files(tmp_path, "dev", toy_pairs(5, seed="dev"))
    return (*train.arguments, *dev.as_dev)


def state_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "training" / "checkpoint-40" / "state.safetensors")


def test_twenty_updates_and_a_longer_budget_are_forty(
    corpus: tuple[str, ...], tmp_path: Path
) -> None:
    """State, model, records and card are those of the run that had the budget from the first."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run_here("train", *corpus, "-o", whole, *PLAN, "--updates", "40").check()
    run_here("train", *corpus, "-o", parts, *PLAN, "--updates", "20").check()
    shorter = (parts / "model.safetensors").read_bytes()
    nothing = run_here("train", "--resume", parts, "--updates", "20", *MACHINE).check()
    assert "nothing left to do" in nothing.err
    run = run_here("train", "--resume", parts, "--updates", "40", *MACHINE).check()
    assert "the budget is longer: going on from update 12, before the rate fell" in run.err
    assert (parts / "model.safetensors").read_bytes() != shorter
    ours, theirs = state_of(parts), state_of(whole)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert same_tensors(whole, parts)
    for event, keys in (("Validated", ("update", "scores", "is_best")), ("BatchDone", ("update",))):
        told, again = (
            [[record[key] for key in keys] for record in records(each, event)]
            for each in (whole, parts)
        )
        if event == "BatchDone":
            assert told == again
        else:
            assert [each[:2] for each in told] == [each[:2] for each in again]
            assert told[-1] == again[-1]


def test_the_model_of_the_shorter_run_stays_if_it_is_better(
    corpus: tuple[str, ...], tmp_path: Path
) -> None:
    """All that is said of the weights is of those in the folder."""
    folder = tmp_path / "m"
    run_here("train", *corpus, "-o", folder, *PLAN, "--updates", "20").check()
    path = folder / "training" / "checkpoint-20" / "progress.json"
    record = json.loads(path.read_text("utf-8"))
    record["tracker"]["standing"]["keys"][0] = 0.0  # as if its loss were zero: never beaten
    record["tracker"]["standing"]["of_sample"][0] = 0.0
    path.write_text(json.dumps(record), "utf-8")
    shorter = (folder / "model.safetensors").read_bytes()
    told = records(folder, "Validated")[-1]
    assert (told["update"], told["is_best"]) == (20, True)
    for _ in range(2):
        run = run_here("train", "--resume", folder, "--updates", "40", *MACHINE).check()
    assert "nothing left to do" in run.err
    assert (folder / "model.safetensors").read_bytes() == shorter
    (held,) = records(folder, "WeightsHeld")
    assert {**held, "event": "Validated"} == told
    (ended,) = records(folder, "TrainingEnded")
    assert (ended["best_update"], ended["is_of_shorter_run"]) == (20, True)
    assert "| weights of | update 20, " in (folder / "README.md").read_text("utf-8")
