"""Runs that are killed, and disks that are full: what was saved stays good.

Cases C01, C03 and C04 of tests/cases, in a finer grain.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.cases.model_files import records, same_tensors
from tests.cases.runs import SMALL, UNTRAINED, Run, run_here, run_python
from tests.cases.toy import toy_pairs, write_files

RUN = ("--set", "training.accumulate=2", "--set", "model.dropout=0.2", "--batch-tokens", "200")
SAVES = ("--set", "training.validate_every=10", "--patience", "9", "--threads", "1")

_KILLED = """
import os, signal, sys
from mt.cli.main import main
from mt.training.trainer import Trainer
update = Trainer._update
def deadly(self, batches):
    update(self, batches)
    if self.progress.update == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
Trainer._update = deadly
main(sys.argv[2:])
"""
_FULL_DISK = """
import resource, signal, sys
from mt.cli.main import main
import mt.tasks.train  # what Python compiles by the way is no part of the test
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
main(sys.argv[2:])
"""


def run_script(script: str, *arguments: object) -> Run:
    """Run a Python program that runs `mt` under some trouble."""
    words = map(str, arguments)
    return run_python("-c", script, *words, environment={"OMP_NUM_THREADS": "1"})


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[str, ...]:
    train = write_files(tmp_path, "train", toy_pairs(200, seed="train"))
    dev = write_files(tmp_path, "dev", toy_pairs(5, seed="dev"))
    return (*train.arguments, *dev.as_dev)


@pytest.fixture
def folder(corpus: tuple[str, ...], tmp_path: Path) -> Path:
    """A model folder after one update."""
    path = tmp_path / "m"
    run_here("train", *corpus, "-o", path, *UNTRAINED).check()
    return path


def kills(folder: Path, *mode: object) -> int:
    words = ("tests.training.saving", str(folder), *map(str, mode))
    return int(run_python("-m", *words, environment={"OMP_NUM_THREADS": "1"}).check().out)


@pytest.mark.parametrize("count", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_of_saving_leaves_a_folder_that_loads(
    count: int, folder: Path
) -> None:
    assert kills(folder, "random", count, 1) == count


def test_a_kill_between_any_two_steps_of_saving_leaves_a_folder_that_loads(folder: Path) -> None:
    assert kills(folder, "steps") > 20


def test_what_kills_left_is_cleaned_by_a_resume(folder: Path) -> None:
    before = {path.relative_to(folder) for path in folder.rglob("*")}
    (folder / ".model.safetensors.77.tmp").mkdir()
    (folder / ".model.safetensors.77.tmp" / ".tmpAbC123").write_bytes(b"half")
    (folder / ".README.md.77.tmp").write_bytes(b"half")
    (folder / "training" / ".checkpoint-1.77.tmp").mkdir()
    # The kill came just when the old state had stepped aside.
    (folder / "training" / "checkpoint-1").rename(folder / "training" / ".checkpoint-1.old")
    (folder / ".my-notes").write_text("not ours")
    run = run_here("train", "--resume", folder, "--updates", "1", "--device", "cpu").check()
    assert "nothing left to do" in run.err
    after = {path.relative_to(folder) for path in folder.rglob("*")}
    assert after == {*before, Path(".my-notes")}


def state_of(folder: Path) -> tuple[Path, dict[str, Any]]:
    (path,) = (folder / "training").glob("checkpoint-*")
    record: dict[str, Any] = json.loads((path / "progress.json").read_text("utf-8"))
    return path, record


def test_a_killed_run_goes_on_exactly_from_its_last_state(
    corpus: tuple[str, ...], tmp_path: Path
) -> None:
    """40 updates, against a kill -9 at update 27 of a state of update 20, and on to 40."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    plan = (*SMALL, *RUN, *SAVES, "--updates", "40")
    run_here("train", *corpus, "-o", whole, *plan).check()
    killed = run_script(_KILLED, 27, "train", *corpus, "-o", parts, *plan)
    assert killed.status == -9
    path, record = state_of(parts)
    assert path.name == "checkpoint-20"
    assert record["progress"]["epoch"] == 1
    assert record["progress"]["batch"] > 1  # in the middle of the second epoch
    machine = ("--device", "cpu", "--precision", "float32", "--threads", "1")
    run_here("train", "--resume", parts, "--updates", "40", *machine).check()

    ours, theirs = (state_of(each) for each in (whole, parts))
    tensors, others = (load_file(path / "state.safetensors") for path, _ in (ours, theirs))
    assert tensors.keys() == others.keys()
    assert [name for name in tensors if not torch.equal(tensors[name], others[name])] == []
    assert same_tensors(whole, parts)
    assert ours[1]["tracker"] == theirs[1]["tracker"]
    for name in ("update", "epoch", "batch", "target_tokens", "num_skipped", "validated_update"):
        assert ours[1]["progress"][name] == theirs[1]["progress"][name]
    for event, keys in (
        ("BatchDone", ("update", "loss", "gradient_norm", "rate")),
        ("Validated", ("update", "scores", "is_best", "samples")),
    ):
        told, again = (
            [[record[key] for key in keys] for record in records(each, event)]
            for each in (whole, parts)
        )
        assert told == again
        assert len(told) >= 2


def limits() -> list[Any]:
    """Bytes of the largest file that the disk still takes, against files of about 30,000 bytes."""
    return [pytest.param(limit, id=f"{limit} bytes") for limit in (0, 300, 4000)]


@pytest.mark.parametrize("limit", limits())
def test_a_full_disk_is_one_line_and_the_old_state_stays(limit: int, folder: Path) -> None:
    path, _ = state_of(folder)
    assert (path / "state.safetensors").stat().st_size > 4000
    run = ("train", "--resume", folder, "--updates", "3", "--device", "cpu")
    message = run_script(_FULL_DISK, limit, *run).check_refusal()
    assert "File too large" in message
    assert str(folder) in message
    assert state_of(folder)[0] == path
    run_here(*run).check()
    assert state_of(folder)[0].name == "checkpoint-3"
    assert not list(folder.rglob(".*"))


@pytest.mark.parametrize("limit", limits())
def test_a_disk_that_is_full_from_the_first_leaves_nothing(
    limit: int, corpus: tuple[str, ...], tmp_path: Path
) -> None:
    new = ("train", *corpus, "-o", tmp_path / "new", *UNTRAINED)
    message = run_script(_FULL_DISK, limit, *new).check_refusal()
    assert "File too large" in message
    assert not (tmp_path / "new").exists()
