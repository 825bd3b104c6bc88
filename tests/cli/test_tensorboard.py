"""Event files: which scalars stand in them, resumed runs, and the missing package."""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from mt.events import TrainingStarted, Validated
from mt.tasks.tensorboard import TensorBoardFiles
from tests.cases.runs import UNTRAINED, run_here
from tests.cases.toy import toy_pairs, write_files
from tests.cli.events import batch

STARTED = TrainingStarted(
    num_parameters=1,
    first_update=1,
    updates_per_epoch=5,
    max_updates=None,
    max_seconds=None,
    device="cpu",
    precision="float32",
)


class FakeWriter:
    """Stands for torch's SummaryWriter."""

    made: ClassVar[list[FakeWriter]] = []

    def __init__(self, *, log_dir: str, purge_step: int | None) -> None:
        self.log_dir, self.purge_step = Path(log_dir), purge_step
        self.scalars: dict[str, list[tuple[int, float]]] = {}
        self.closed = False
        self.made.append(self)

    def add_scalar(self, name: str, value: float, update: int) -> None:
        assert not self.closed
        self.scalars.setdefault(name, []).append((update, value))

    def flush(self) -> None:
        assert not self.closed

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def writers(monkeypatch: pytest.MonkeyPatch) -> list[FakeWriter]:
    """The writers that a test makes."""
    module: Any = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = FakeWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    monkeypatch.setattr(FakeWriter, "made", [])
    return FakeWriter.made


def validated(update: int, seconds: float) -> Validated:
    return Validated(
        update=update,
        epoch=1.0,
        scores={"loss": 3.0, "BLEU": 20.0, "chrF2": 40.0},
        signatures={},
        is_best=True,
        seconds=seconds,
        validation_seconds=100.0,
        by_origin={"a.tsv": {"BLEU": 10.0}, "b.tmx": {"BLEU": 30.0}},
    )


def test_scalars_have_the_names_that_people_expect(
    writers: list[FakeWriter], tmp_path: Path
) -> None:
    write = TensorBoardFiles(tmp_path)
    write(STARTED)
    for update in range(1, 21):
        write(dataclasses.replace(batch(update), seconds=0.5 * update))
    write(validated(20, 110.0))
    (writer,) = writers
    assert writer.log_dir == tmp_path
    assert writer.scalars.keys() == {
        *("train/loss", "train/learning_rate", "train/gradient_norm", "train/tokens_per_second"),
        *("train/epoch", "dev/perplexity"),
        *("dev/loss", "dev/BLEU", "dev/chrF2", "dev/BLEU/a.tsv", "dev/BLEU/b.tmx"),
    }
    assert writer.scalars["train/learning_rate"] == [(10, 0.1), (20, 0.1)]
    assert writer.scalars["train/epoch"] == [(10, 0.5), (20, 0.5)]
    assert writer.scalars["dev/BLEU/b.tmx"] == [(20, 30.0)]
    assert writer.scalars["dev/perplexity"] == [(20, math.exp(3.0))]


def test_a_loss_beyond_all_bounds_is_no_error(writers: list[FakeWriter], tmp_path: Path) -> None:
    write = TensorBoardFiles(tmp_path)
    write(STARTED)
    for loss in (1e9, math.nan):
        write(dataclasses.replace(validated(20, 110.0), scores={"loss": loss}))
    (_, largest), (_, unknown) = writers[0].scalars["dev/perplexity"]
    assert 1e300 < largest < math.inf
    assert math.isnan(unknown)


def test_the_speed_is_tokens_over_time_without_validations(
    writers: list[FakeWriter], tmp_path: Path
) -> None:
    write = TensorBoardFiles(tmp_path)
    write(STARTED)
    for update in range(1, 31):
        # 7 tokens in half a second; a validation of 100 seconds after update 20
        late = 100.0 if update > 20 else 0.0
        write(dataclasses.replace(batch(update), seconds=0.5 * update + late))
        if update == 20:
            write(validated(20, 110.0))
    speeds = dict(writers[0].scalars["train/tokens_per_second"])
    assert speeds == {update: pytest.approx(14.0) for update in (10, 20, 30)}


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[str, ...]:
    train = write_files(tmp_path, "train", toy_pairs(40, seed="train"))
    dev = write_files(tmp_path, "dev", toy_pairs(3, seed="dev"))
    return (*train.arguments, *dev.as_dev)


def test_a_resumed_run_goes_on_in_the_same_folder(
    writers: list[FakeWriter], corpus: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    run_here("train", *corpus, "-o", folder, "--tensorboard", *UNTRAINED).check()
    machine = ("--device", "cpu", "--precision", "float32", "--tensorboard")
    run_here("train", "--resume", folder, "--updates", "12", *machine).check()
    assert [writer.log_dir for writer in writers] == [folder / "tensorboard"] * 2
    assert [writer.purge_step for writer in writers] == [None, 2]
    assert [update for update, _ in writers[0].scalars["dev/loss"]] == [1]
    assert [update for update, _ in writers[1].scalars["train/loss"]] == [10]
    assert [update for update, _ in writers[1].scalars["dev/loss"]] == [12]
    assert all(writer.closed for writer in writers)


def test_without_the_package_it_is_refused_before_anything_is_made(
    corpus: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    folder = tmp_path / "m"
    run = run_here("train", *corpus, "-o", folder, "--tensorboard", *UNTRAINED)
    message = run.check_refusal(status=2)
    assert message.endswith("pip install tensorboard")
    assert not folder.exists()


def test_what_torch_writes_tensorboard_reads(corpus: tuple[str, ...], tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = tmp_path / "m"
    run_here("train", *corpus, "-o", folder, "--tensorboard", *UNTRAINED).check()
    files = accumulator.EventAccumulator(str(folder / "tensorboard"))
    files.Reload()
    assert {"dev/loss", "dev/perplexity", "dev/BLEU", "dev/chrF2"} <= set(files.Tags()["scalars"])
