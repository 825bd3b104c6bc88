"""What a person reads at the end of a run."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

import pytest

from mt.cli.console import describe_end
from mt.events import TrainingEnded
from tests.cases.runs import SMALL, run_here
from tests.cases.toy import toy_pairs, write_files

ENDED = TrainingEnded(
    update=1200,
    reason="1200 updates are done",
    seconds=3725.0,
    tokens_per_second=4321.6,
    validation_seconds=65.0,
    metric="BLEU",
    best=31.25,
    best_update=900,
    num_skipped=0,
    num_skipped_pairs=0,
)


def test_the_end_tells_time_speed_and_best_score() -> None:
    text = "\n".join(describe_end(ENDED, Path("m")))
    for told in (
        "1200 updates are done",
        "1,200 updates in 1:02:05",
        "(validation 1:05)",
        "4,322 target tokens/s",
        "best dev BLEU 31.25, of update 900",
    ):
        assert told in text
    assert "skipped" not in text


def test_the_end_tells_whose_weights_are_in_the_folder() -> None:
    of_other = dataclasses.replace(ENDED, is_of_shorter_run=True)
    text = "\n".join(describe_end(of_other, Path("m")))
    assert "of update 900 of the run with a shorter budget" in text


def test_the_end_counts_what_was_skipped_if_anything_was() -> None:
    lines = describe_end(dataclasses.replace(ENDED, num_skipped=3), Path("m"))
    assert [line.strip() for line in lines if "skipped" in line] == [
        "updates skipped, their gradient being non-finite: 3"
    ]
    lines = describe_end(dataclasses.replace(ENDED, num_skipped_pairs=4), Path("m"))
    assert [line.strip() for line in lines if "skipped" in line] == [
        "pairs skipped, too long for memory: 4"
    ]


def test_without_weights_no_command_is_shown() -> None:
    lines = describe_end(dataclasses.replace(ENDED, best=None, best_update=None), Path("m"))
    assert not [line for line in lines if "mt " in line or "best" in line or "model" in line]


@pytest.mark.parametrize("name", ["m", "my model's", "$HOME"])
def test_the_commands_that_are_shown_run(name: str, tmp_path: Path) -> None:
    train = write_files(tmp_path, "train", toy_pairs(40, seed="train"))
    dev = write_files(tmp_path, "dev", toy_pairs(3, seed="dev"))
    folder = tmp_path / name
    run = run_here(
        "train", *train.arguments, *dev.as_dev, "-o", folder, "--updates", "2", *SMALL
    ).check()
    assert "" not in run.err.removesuffix("\n").split("\n")
    shown = [line.strip() for line in run.err.split("\n") if line.startswith("  mt ")]
    translate, evaluate = (shlex.split(line) for line in shown)
    assert translate == ["mt", "translate", "-m", str(folder), "<", "in", ">", "out"]
    assert evaluate == ["mt", "eval", "-m", str(folder), "SOURCE", "REFERENCE"]
    run_here(*translate[1:-4], stdin=dev.source.read_bytes()).check()
    run_here(*evaluate[1:-2], *dev.arguments).check()
