"""Weights of validations are kept whole, never too many, and the best and the last of them stay."""

from __future__ import annotations

import dataclasses
import math
import random
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from mt.config import MetricName
from mt.errors import ModelFolderError
from mt.training import kept_weights
from mt.training.kept_weights import (
    KeptWeights,
    WeightKeeper,
    best_of,
    last_of,
    list_kept,
    retained,
)
from tests.training.small_run import Run, budget


def kept(scores: list[float], metric: MetricName = "bleu") -> list[KeptWeights]:
    return [
        KeptWeights(path=Path(f"weights-{i}.safetensors"), update=i, metric=metric, score=score)
        for i, score in enumerate(scores)
    ]


def updates(found: list[KeptWeights]) -> list[int]:
    return [each.update for each in found]


@pytest.mark.parametrize(
    ("metric", "best"), [("bleu", [2, 0, 4]), ("loss", [1, 0, 4])], ids=["bleu", "loss"]
)
def test_the_best_are_those_by_the_metric_and_nan_is_worst(
    metric: MetricName, best: list[int]
) -> None:
    found = kept([5.0, 1.0, 9.0, math.nan, 5.0], metric)
    assert updates(best_of(found, 3)) == best
    assert updates(last_of(found, 2)) == [3, 4]
    assert updates(best_of(found, 5))[-1] == 3


@given(
    st.lists(st.floats(allow_infinity=False) | st.just(math.nan), max_size=12),
    st.integers(min_value=1, max_value=4),
)
def test_retaining_step_by_step_keeps_what_all_scores_at_once_would(
    scores: list[float], count: int
) -> None:
    every = kept(scores)
    stepwise: list[KeptWeights] = []
    for each in every:
        stepwise = retained([*stepwise, each], count=count)
        assert len(stepwise) <= 2 * count
    assert updates(stepwise) == updates(retained(every, count=count))
    assert updates(best_of(stepwise, count)) == updates(best_of(every, count))


def test_a_run_keeps_the_averaged_weights_of_its_best_and_last_validations(tmp_path: Path) -> None:
    scores = {7: 9.0, 14: 8.0, 21: 1.0, 28: 2.0, 30: 3.0}
    run = Run(tmp_path, budget(30, keep_weights=2), scores=scores.__getitem__)
    run.trainer.run()
    found = list_kept(tmp_path / "training")
    assert {each.update: each.score for each in found} == {7: 9.0, 14: 8.0, 28: 2.0, 30: 3.0}
    last = load_file(found[-1].path)
    names = [name for name, _ in run.trainer.model.named_parameters()]
    average = dict(zip(names, run.trainer.parts.average.tensors(), strict=True))
    assert last.keys() == average.keys()
    assert all(torch.equal(last[name], average[name]) for name in names)


def test_by_default_no_weights_are_kept(tmp_path: Path) -> None:
    Run(tmp_path, budget(7)).trainer.run()
    assert list_kept(tmp_path / "training") == []


def test_a_resumed_run_keeps_what_the_run_itself_keeps(tmp_path: Path) -> None:
    draw = random.Random(3)
    scores = {update: draw.random() for update in range(100)}
    files = []
    for name, stops in (("whole", [40]), ("parts", [14, 28, 40])):
        (tmp_path / name).mkdir()
        for number, end in enumerate(stops):
            config = budget(end, keep_weights=2)
            run = Run(tmp_path / name, config, scores=scores.__getitem__)
            if number:
                run.trainer.resume()
            run.trainer.run()
        paths = (tmp_path / name / "training").glob("weights-*")
        files.append({path.name: path.read_bytes() for path in paths})
    assert files[0] == files[1]


def test_what_was_kept_beyond_the_checkpoint_is_dropped_on_a_resume(tmp_path: Path) -> None:
    run = Run(tmp_path, budget(7, keep_weights=3))
    run.trainer.run()
    run.trainer.keeper.keep(run.trainer.model, update=14, score=1.0)
    again = Run(tmp_path, budget(10, keep_weights=3))
    again.trainer.resume()
    assert updates(list_kept(tmp_path / "training")) == [7]


def test_a_kill_while_keeping_leaves_whole_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, budget(14, keep_weights=1), scores=lambda update: -float(update))
    run.trainer.run()
    assert updates(list_kept(tmp_path / "training")) == [7, 14]

    def die(tensors: object, path: Path, metadata: object) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(kept_weights, "save_file", die)
    with pytest.raises(KeyboardInterrupt):
        run.trainer.keeper.keep(run.trainer.model, update=21, score=-21.0)
    (tmp_path / "training" / ".weights-21.safetensors.1.tmp").write_bytes(b"half")
    left = list_kept(tmp_path / "training")
    assert updates(left) == [7]
    assert load_file(left[0].path)


def test_the_same_update_kept_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    run = Run(tmp_path, budget(1))
    keeper = WeightKeeper(folder=tmp_path / "t", count=1, metric="bleu")
    for score in (5.0, 6.0):
        keeper.keep(run.trainer.model, update=3, score=score)
    assert [each.score for each in list_kept(tmp_path / "t")] == [6.0]
    dataclasses.replace(keeper, count=0).keep(run.trainer.model, update=4, score=9.0)
    assert updates(list_kept(tmp_path / "t")) == [3]


@pytest.mark.parametrize("content", [b"", b"text", b"\x80\x04K\x01."])
def test_damaged_kept_weights_are_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights-7.safetensors").write_bytes(content)
    with pytest.raises(ModelFolderError, match=r"weights-7\.safetensors is damaged"):
        list_kept(tmp_path)
