"""Weights sharded over ranks: the same run, and nothing on disk that tells of it."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from mt.training.freezing import part_of
from tests.cases.runs import run_here
from tests.cases.toy import Toy
from tests.training.processes import MACHINE, PLAN, Started, progress, records, run, state
from tests.training.ranks import MICRO_BATCHES, Run, write_pairs
from tests.training.ranks import PLAN as CONFIG

SHARD = (*MACHINE, "--shard")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process finds, in `alone`, and what two ranks do then (tests/training/ranks.py)."""
    folder = tmp_path_factory.mktemp("ranks")
    draw = random.Random(2)
    write_pairs(folder / "few.arrow", [2, 2, 2, 2, 30, 30, 30, 30], seed=3)
    write_pairs(folder / "pairs.arrow", [draw.randint(1, 9) for _ in range(70)], seed=4)
    config = dataclasses.replace(CONFIG, accumulate=4)
    alone = Run(folder / "alone", folder / "pairs.arrow", config=config)
    alone.trainer.run()
    (folder / "numbers.alone.json").write_text(json.dumps(alone.numbers))
    with Started(2, folder / "log", folder, program=("tests.training.ranks",)) as started:
        started.finish()
    return folder


def states(folder: Path) -> dict[str, Tensor]:
    """The tensors of the checkpoint in a training folder, but for random states."""
    (checkpoint,) = folder.glob("checkpoint-*")
    tensors = load_file(checkpoint / "state.safetensors")
    return {name: tensor for name, tensor in tensors.items() if not name.startswith("random.")}


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-12)])
def test_the_gradient_is_that_of_all_tokens_however_they_are_shared_out(
    dtype: str, tolerance: float, folder: Path
) -> None:
    """One batch, four, and two on each of two ranks, by both engines; relative to the largest."""
    alone = Run(folder, folder / "few.arrow", dtype=getattr(torch, dtype))
    gradients = alone.gradients([[pair for batch in MICRO_BATCHES for pair in batch]])
    largest = max(float(gradient.abs().max()) for gradient in gradients.values())
    of_ranks = (folder / f"gradient-{shard}-torch.{dtype}.safetensors" for shard in (False, True))
    for other in (alone.gradients(MICRO_BATCHES), *map(load_file, of_ranks)):
        assert other.keys() == gradients.keys()
        for name, gradient in gradients.items():
            assert other[name].dtype == gradient.dtype
            assert float((other[name] - gradient).abs().max()) < tolerance * largest, name


def test_sharded_weights_in_bfloat16_give_the_gradient_of_whole_ones(folder: Path) -> None:
    """Layers are gathered as autocast would cast them; norms and sums stay in float32."""
    whole, shards = (
        load_file(folder / f"gradient-{shard}-torch.bfloat16.safetensors")
        for shard in (False, True)
    )
    assert whole.keys() == shards.keys()
    largest = max(float(gradient.abs().max()) for gradient in whole.values())
    for name, gradient in whole.items():
        assert shards[name].dtype == torch.float32
        assert float((shards[name] - gradient).abs().max()) < 1e-5 * largest, name


def test_no_weight_of_a_layer_stays_whole_for_the_backward_pass(folder: Path) -> None:
    saved = json.loads((folder / "saved.json").read_text())
    assert saved["torch.bfloat16"] <= saved["torch.float32"] < 0.2 * saved["weights"]


def test_two_ranks_with_sharded_weights_make_the_updates_of_one(folder: Path) -> None:
    """Losses, norms, scores, weights, average and moments, in float64 with clipping."""
    numbers, alone = (
        json.loads((folder / name).read_text()) for name in ("numbers.json", "numbers.alone.json")
    )
    assert numbers.keys() == alone.keys()
    assert len(alone["loss"]) == 6
    assert len(alone["search"]) == 2
    for what in alone:
        assert numbers[what] == pytest.approx(alone[what], rel=1e-9), what
    ours, theirs = states(folder / "rank-0"), states(folder / "alone")
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        torch.testing.assert_close(ours[name], tensor, rtol=1e-9, atol=1e-9)


def test_only_the_first_rank_writes(folder: Path) -> None:
    assert (folder / "rank-0" / "checkpoint-6").exists()
    assert list((folder / "rank-0").glob("weights-*"))
    assert not (folder / "rank-1").exists()


def test_a_checkpoint_is_the_same_whoever_resumes_and_saves_it(folder: Path) -> None:
    """From one process to two ranks with sharded weights, and the other way, bit for bit."""
    saved, again = states(folder / "alone"), states(folder / "again")
    assert again.keys() == saved.keys()
    assert all(torch.equal(again[name], tensor) for name, tensor in saved.items())
    back = Run(folder / "back", folder / "pairs.arrow")
    shutil.copytree(folder / "rank-0", folder / "back")
    back.trainer.resume()
    back.trainer.save()
    saved, again = states(folder / "rank-0"), states(folder / "back")
    assert again.keys() == saved.keys()
    assert all(torch.equal(again[name], tensor) for name, tensor in saved.items())


def test_a_longer_budget_goes_on_from_before_the_cooldown(folder: Path) -> None:
    """Bit for bit; the state of before is whole, and the first rank's alone."""
    whole, parts = (folder / f"cooled-{name}" for name in ("whole", "parts"))
    assert [path.name for path in parts.glob("before-cooldown-*")] == ["before-cooldown-5"]
    ours, theirs = states(parts), states(whole)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], tensor) for name, tensor in theirs.items())


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy.write(tmp_path_factory.mktemp("toy"))


def test_a_run_with_shard_resumes_as_itself_and_without_and_is_fine_tuned(
    toy: Toy, tmp_path: Path
) -> None:
    common = (*toy.test.arguments, *toy.dev.as_dev, *PLAN, *SHARD)
    shape = ("--batch-tokens", "48", "--set", "model.dropout=0.3")
    log, whole, parts = tmp_path / "log", tmp_path / "whole", tmp_path / "parts"
    said = run(2, log, *common, *shape, "-o", whole, "--updates", "9")
    assert "the model is in" in said[0]
    assert said[1] == ""
    run(2, log, *common, *shape, "-o", parts, "--updates", "4")
    run(2, log, "--resume", parts, "--updates", "9", *SHARD)
    one, other = state(whole), state(parts)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)

    scores = records(whole, "Validated")[-1]["scores"]
    evaluated = json.loads(run_here("eval", "-m", whole, *toy.dev.arguments, "--json").check().out)
    found = {each["name"]: each["score"] for each in evaluated["scores"]}
    assert all(found[name] == scores[name] for name in ("BLEU", "chrF2"))

    run(1, log, "--resume", parts, "--updates", "10", *MACHINE)
    assert progress(parts)["update"] == 10

    tuned = tmp_path / "tuned"
    freeze = ("--set", 'training.freeze=["encoder"]', "--updates", "2")
    files = (*toy.test.arguments, *toy.dev.as_dev)
    run(2, log, *files, "--from", whole, "-o", tuned, *freeze, *SHARD, "--device", "cpu")
    assert [each["update"] for each in records(tuned, "Validated")] == [0, 2]
    start, trained = load_file(whole / "model.safetensors"), state(tuned)
    for name, tensor in start.items():
        is_same = torch.equal(tensor, trained[f"model.{name}"])
        if part_of(name) == "encoder":
            assert is_same, name
    assert not torch.equal(
        start["target_embedding.weight"], trained["model.target_embedding.weight"]
    )
