"""Training runs: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.model_files import records
from tests.cases.runs import SMALL, UNTRAINED, run_here
from tests.cases.toy import Toy, as_bytes, write_bytes


@pytest.mark.parametrize(
    ("source", "target"),
    [(b"", b""), (b"one .\n", b" \n"), (b"\n\n", b"a\nb\n"), (b"\xe2\x80\x8b\n", b"a\n")],
    ids=["empty", "blank target", "blank sources", "invisible source"],
)
def test_validation_set_without_a_usable_pair_is_refused(
    source: bytes, target: bytes, toy: Toy, tmp_path: Path
) -> None:
    """T12 (marian-dev#310; sockeye PR#794, #1034): before the first update, and never nan."""
    dev = write_bytes(tmp_path, "dev", source=source, target=target)
    run = run_here("train", *toy.dev.arguments, *dev.as_dev, "-o", tmp_path / "m", *UNTRAINED)
    message = run.check_refusal()
    assert "validation set has no usable pair" in message
    assert "nan" not in run.err
    assert not (tmp_path / "m").exists()


def test_blank_validation_pairs_are_reported_and_harm_nothing(toy: Toy, tmp_path: Path) -> None:
    """T12: the loss is over the others, the scores over all lines of the file."""
    dev = write_bytes(
        tmp_path, "dev", source=b"one .\n\n\xe2\x80\x8b\nfour .\n", target=b"a .\nb .\nc .\n\n"
    )
    run = run_here("train", *toy.dev.arguments, *dev.as_dev, "-o", tmp_path / "m", *UNTRAINED)
    run.check()
    assert "warning: 3 of 4 validation pairs have a blank side" in run.err
    assert "nan" not in run.err
    (validated,) = records(tmp_path / "m", "Validated")
    assert 0 < validated["scores"]["loss"] < 100


def test_validation_set_beyond_the_length_limit_harms_nothing(toy: Toy, tmp_path: Path) -> None:
    """T12: the limit on training pairs leaves the validation set whole."""
    long = as_bytes([" ".join(["one"] * 300)] * 2)
    dev = write_bytes(tmp_path, "dev", source=long, target=long)
    limit = ("--set", "corpus.max_length=60")
    corpus = ("train", *toy.dev.arguments, *dev.as_dev)
    run = run_here(*corpus, "-o", tmp_path / "m", *UNTRAINED, *limit).check()
    assert "nan" not in run.err


@pytest.mark.parametrize(("updates", "interval"), [(10, 4), (10, 5), (3, 100), (7, 1)])
def test_last_update_is_saved_whatever_the_interval(
    updates: int, interval: int, toy: Toy, tmp_path: Path
) -> None:
    """T16 (fairseq#2230, #775): a state and a validation of just that update."""
    options = ("--updates", str(updates), "--set", f"training.validate_every={interval}")
    folder = tmp_path / "m"
    arguments = ("train", *toy.test.arguments, *toy.dev.as_dev, "-o", folder, *UNTRAINED)
    run_here(*arguments, *options).check()
    (state,) = (folder / "training").glob("checkpoint-*")
    assert state.name == f"checkpoint-{updates}"
    progress = json.loads((state / "progress.json").read_text("utf-8"))["progress"]
    assert progress["update"] == progress["validated_update"] == updates
    validated = [record["update"] for record in records(folder, "Validated")]
    assert validated == sorted({*range(interval, updates + 1, interval), updates})


def test_last_update_at_the_end_of_an_epoch_is_saved(toy: Toy, tmp_path: Path) -> None:
    """T16: where the budget counts epochs."""
    folder = tmp_path / "m"
    arguments = ("train", *toy.test.arguments, *toy.dev.as_dev, "-o", folder, *SMALL)
    run_here(*arguments, "--epochs", "2", "--batch-tokens", "64").check()
    (ended,) = records(folder, "TrainingEnded")
    (state,) = (folder / "training").glob("checkpoint-*")
    progress = json.loads((state / "progress.json").read_text("utf-8"))["progress"]
    assert progress["update"] == progress["validated_update"] == ended["update"] > 2
