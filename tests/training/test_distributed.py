"""Several ranks are one run: the same gradient, no hang, and none outlives another."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path

import pytest
import torch

from mt.errors import ConfigError
from mt.training.distributed import Ranks, joined_ranks
from tests.cases.toy import Toy, toy_pairs, write_files
from tests.training.processes import MACHINE, PLAN, Started, progress, records, run, state


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy.write(tmp_path_factory.mktemp("toy"))


@pytest.mark.parametrize("updates", [1, 20])
def test_two_ranks_make_the_updates_of_one_with_twice_the_batches(
    updates: int, toy: Toy, tmp_path: Path
) -> None:
    """Over the end of an epoch too, whose last batches do not come out even.

    Gradients are compared by the optimizer's mean of them, relative to the largest: AdamW makes
    much of what is zero but for rounding, as the gradients of key biases are.
    """
    common = (*toy.test.arguments, *toy.dev.as_dev, *PLAN, "--updates", str(updates))
    for size, accumulate in ((1, 4), (2, 2)):
        folder = tmp_path / f"{size}-{accumulate}"
        shape = ("--batch-tokens", "48", "--set", f"training.accumulate={accumulate}")
        said = run(size, tmp_path / "log", *common, *shape, "-o", folder)
        assert "the model is in" in said[0]
        assert said[1:] == [""] * (size - 1)
    one, two = tmp_path / "1-4", tmp_path / "2-2"
    for key in ("update", "epoch", "batch", "target_tokens"):
        assert progress(one)[key] == progress(two)[key], key
    states = state(one), state(two)
    means = [name for name in states[0] if name.endswith("exp_avg")]
    largest = max(float(states[0][name].abs().max()) for name in means)
    tolerance = 1e-6 if updates == 1 else 1e-3
    for name in means:
        assert float((states[0][name] - states[1][name]).abs().max()) < tolerance * largest, name
    if updates > 1:
        assert progress(one)["epoch"] >= 2
        scores = [records(folder, "Validated")[-1]["scores"] for folder in (one, two)]
        assert scores[0]["loss"] == pytest.approx(scores[1]["loss"], rel=1e-3)


def test_two_ranks_resume_where_they_stood(toy: Toy, tmp_path: Path) -> None:
    common = (*toy.test.arguments, *toy.dev.as_dev, *PLAN, "--set", "model.dropout=0.3")
    few = ("--batch-tokens", "48")
    log = tmp_path / "log"
    said = run(2, log, *common, *few, "-o", tmp_path / "whole", "--updates", "9")
    assert [text.count("dev pairs the model scores") for text in said] == [1, 0]
    run(2, log, *common, *few, "-o", tmp_path / "parts", "--updates", "4")
    run(2, log, "--resume", tmp_path / "parts", "--updates", "9", *MACHINE)
    whole, parts = state(tmp_path / "whole"), state(tmp_path / "parts")
    assert whole.keys() == parts.keys()
    assert not torch.equal(whole["random.cpu.0"], whole["random.cpu.1"])
    for name in whole:
        assert torch.equal(whole[name], parts[name]), name
    said = run(2, log, "--resume", tmp_path / "parts", "--updates", "9", *MACHINE)
    assert "nothing left to do" in said[0]
    run(1, log, "--resume", tmp_path / "parts", "--updates", "10", *MACHINE)


def test_a_corpus_that_is_refused_ends_all_ranks_with_one_message(tmp_path: Path) -> None:
    files = write_files(tmp_path, "x", toy_pairs(3, seed="x"))
    files.target.write_text("one\n", "utf-8")
    arguments = (*files.arguments, "-o", tmp_path / "m", *PLAN)
    said = run(2, tmp_path / "log", *arguments, status=1)
    assert "unequal sides" in said[0]
    assert said[1] == ""
    assert not (tmp_path / "m").exists()


ENDLESS = (
    *("--epochs", "100000", "--patience", "0"),
    *("--set", "training.validate_every=20", "--set", "search.beam=1"),
)


@pytest.mark.parametrize(("killed", "flags"), [(0, ()), (1, ()), (1, ("--shard",))])
def test_a_rank_that_is_killed_ends_the_other_with_a_message(
    killed: int, flags: tuple[str, ...], toy: Toy, tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    arguments = (*toy.train.arguments, *toy.dev.as_dev, "-o", folder, *PLAN, *ENDLESS)
    with Started(2, tmp_path / "log", *arguments, *flags) as started:
        started.wait_for_checkpoint(folder)
        started.processes[killed].kill()
        assert started.processes[1 - killed].wait(timeout=60) == 1
        said = started.said()[1 - killed]
    assert f"mt: error: rank {1 - killed} of 2 lost another one" in said
    assert "Traceback" not in said
    run(1, tmp_path / "log", "--resume", folder, "--updates", "25", *MACHINE)


def test_a_signal_to_one_rank_saves_and_ends_all(toy: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    arguments = (*toy.train.arguments, *toy.dev.as_dev, "-o", folder, *PLAN, *ENDLESS)
    with Started(2, tmp_path / "log", *arguments) as started:
        started.wait_for_checkpoint(folder)
        started.processes[1].send_signal(signal.SIGTERM)
        assert "interrupted and saved" in started.finish(status=143)[0]


def test_shares_come_back_in_order() -> None:
    items = list("abcdefg")
    shares = [Ranks(rank=rank, size=3).share(items) for rank in range(3)]
    assert sorted(itertools.chain(*shares)) == items
    ranks = Ranks(rank=0, size=3)
    object.__setattr__(ranks, "gathered", lambda mine: shares)
    assert ranks.joined(shares[0]) == items


def test_what_torchrun_says_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert Ranks.of_environment() == Ranks()
    monkeypatch.setattr(os, "environ", {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1"})
    assert Ranks.of_environment() == Ranks(rank=5, size=8, local_rank=1)
    monkeypatch.setattr(os, "environ", {"RANK": "x"})
    with pytest.raises(ConfigError, match="must be numbers"):
        Ranks.of_environment()


def test_ranks_without_a_place_to_meet_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(ConfigError, match="cannot find each other"), joined_ranks(Ranks(size=2)):
        pass
