"""The folder of a run: kept from the first saved state on, locked, and never another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.cli import signals
from mt.cli.signals import StopSignal
from mt.errors import ConfigError
from mt.tasks.new_folder import new_model_folder
from mt.training.trainer import Trainer
from tests.cases.model_files import records
from tests.cases.runs import SMALL, run_here
from tests.cases.toy import toy_pairs, write_files
from tests.files.lock_holders import heard, holders, tell


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[str, ...]:
    train = write_files(tmp_path, "train", toy_pairs(60, seed="train"))
    dev = write_files(tmp_path, "dev", toy_pairs(5, seed="dev"))
    return (*train.arguments, *dev.as_dev)


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left"), RuntimeError])
def test_a_run_whose_first_validation_fails_loses_nothing(
    error: type[BaseException] | BaseException,
    corpus: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "m"
    plan: tuple[str | Path, ...] = ("train", *corpus, "-o", folder, *SMALL, "--updates", "4")

    def fail(self: Trainer, *, is_last: bool = False) -> None:
        self.save()
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_validate", fail)
        if error is RuntimeError:  # a bug keeps its traceback
            with pytest.raises(RuntimeError):
                run_here(*plan)
        else:
            run = run_here(*plan)
            assert run.status == (130 if error is KeyboardInterrupt else 1)
            assert f"go on with: mt train --resume {folder}" in run.err
    assert [path.name for path in (folder / "training").glob("checkpoint-*")] == ["checkpoint-4"]
    run_here("train", "--resume", folder, "--device", "cpu", "--precision", "float32").check()
    assert [record["update"] for record in records(folder, "Validated")] == [4]
    assert (folder / "model.safetensors").exists()
    assert not list(folder.rglob(".*"))


def test_a_state_is_saved_before_the_first_update(
    corpus: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was prepared for minutes is kept, too."""
    folder = tmp_path / "m"

    def fail(self: Trainer) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "run", fail)
        run_here("train", *corpus, "-o", folder, *SMALL, "--updates", "2").check(130)
    run_here("train", "--resume", folder, "--device", "cpu", "--precision", "float32").check()
    whole = tmp_path / "whole"
    run_here("train", *corpus, "-o", whole, *SMALL, "--updates", "2").check()
    name = "model.safetensors"
    assert (folder / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize("tokenizer", ["unigram", "symbols"])
def test_whatever_preparing_makes_goes_with_it(
    tokenizer: str, corpus: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Just before a first state is saved all other files are there."""
    folder = tmp_path / "m"
    there: set[str] = set()

    def fail(self: Trainer) -> None:
        there.update(path.name for path in folder.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "save", fail)
    options = (*SMALL, "--tokenizer", tokenizer)
    run_here("train", *corpus, "-o", folder, *options, "--updates", "2").check(130)
    assert {"config.toml", "metrics.jsonl", "dev.source", "tokenizer.model"} <= there
    assert not folder.exists()


def test_an_error_while_preparing_leaves_what_was_there(tmp_path: Path) -> None:
    for folder in (tmp_path / "new", tmp_path / "empty"):
        if folder.name == "empty":
            folder.mkdir()
        with pytest.raises(KeyboardInterrupt), new_model_folder(folder):
            (folder / "training" / "pairs.arrow").write_bytes(b"half")
            (folder / "config.toml").write_text("half")
            raise KeyboardInterrupt
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "empty").iterdir()) == []


def test_a_file_that_mt_did_not_make_is_never_removed(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt), new_model_folder(folder):
        (folder / "config.toml").write_text("half")
        (folder / "notes.txt").write_text("mine")
        raise KeyboardInterrupt
    assert files(folder) == {"notes.txt": b"mine"}
    with pytest.raises(ConfigError, match="not empty"), new_model_folder(folder):
        pass
    assert files(folder) == {"notes.txt": b"mine"}


def test_a_preparation_that_was_killed_is_begun_anew(
    corpus: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    (folder / "training").mkdir(parents=True)
    (folder / "training" / "preparing").touch()
    (folder / "training" / "pairs.arrow").write_bytes(b"half")
    (folder / "config.toml").write_text("half")
    message = run_here("train", "--resume", folder).check_refusal()
    assert "its preparation was not finished" in message
    plan: tuple[str | Path, ...] = ("train", *corpus, "-o", folder, *SMALL, "--updates", "2")
    (folder / "mine").touch()
    assert "not empty" in run_here(*plan).check_refusal(status=2)
    assert (folder / "mine").exists()
    (folder / "mine").unlink()
    run_here(*plan).check()
    assert not (folder / "training" / "preparing").exists()
    assert "not empty" in run_here(*plan).check_refusal(status=2)


def test_a_second_process_ends_at_once_and_harms_nothing(
    corpus: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    plan: tuple[str | Path, ...] = (*SMALL, "--updates", "2")
    run_here("train", *corpus, "-o", folder, *plan).check()
    with holders(folder) as (process,):
        tell(process)
        assert heard(process) == "locked"
        before = files(folder)
        arguments: tuple[str | Path, ...]
        for arguments in (
            ("--resume", folder, "--updates", "3", "--device", "cpu"),
            (*corpus, "-o", folder, *plan),
        ):
            message = run_here("train", *arguments).check_refusal()
            assert f"{folder} is in use by process {process.pid}" in message
        assert files(folder) == before


def test_one_reason_is_given_for_the_end(
    corpus: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal that comes when all is done interrupts nothing."""
    original = Trainer.run

    def run(self: Trainer) -> str:
        reason = original(self)
        stops[0].received = 2
        return reason

    stops: list[StopSignal] = []

    class Noted(StopSignal):
        def __init__(self, acknowledgement: str = "") -> None:
            super().__init__(acknowledgement)
            stops.append(self)

    monkeypatch.setattr(signals, "StopSignal", Noted)
    monkeypatch.setattr(Trainer, "run", run)
    done = run_here("train", *corpus, "-o", tmp_path / "m", *SMALL, "--updates", "2").check()
    assert "2 updates are done" in done.err
    assert "interrupted" not in done.err
