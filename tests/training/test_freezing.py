"""Frozen parts of a model get no updates, no weight decay, and stay frozen when a run goes on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mt.config import MODEL_PARTS, ModelConfig, ModelPart, TrainingConfig
from mt.errors import ConfigError
from mt.events import Notice
from mt.model.encoder_decoder import EncoderDecoder
from mt.training.freezing import freeze, part_of
from tests.training.small_run import TINY, VOCABULARY, Run, budget, same

SHAPES = [
    dataclasses.replace(TINY, norm="pre", tied="all"),
    dataclasses.replace(TINY, norm="post", tied="none", positions="learned"),
    dataclasses.replace(TINY, norm="pre", tied="target", positions="learned"),
]


def of_parts(run: Run) -> dict[str, list[Tensor]]:
    found: dict[str, list[Tensor]] = {part: [] for part in MODEL_PARTS}
    for name, parameter in run.trainer.model.named_parameters():
        found[part_of(name)].append(parameter.detach().clone())
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_every_parameter_belongs_to_a_part_and_every_part_has_some(shape: ModelConfig) -> None:
    model = EncoderDecoder(shape, source_vocab=VOCABULARY, target_vocab=VOCABULARY)
    assert {part_of(name) for name, _ in model.named_parameters()} == set(MODEL_PARTS)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("frozen", [("embeddings",), ("encoder", "embeddings"), ("decoder",)])
def test_frozen_parts_stay_bit_for_bit_and_all_others_move(
    tmp_path: Path, shape: ModelConfig, frozen: tuple[ModelPart, ...]
) -> None:
    run = Run(tmp_path, budget(7, freeze=frozen, weight_decay=0.5), model=shape)
    before = of_parts(run)
    run.trainer.run()
    after = of_parts(run)
    for part in MODEL_PARTS:
        pairs = list(zip(before[part], after[part], strict=True))
        if part in frozen:
            assert all(torch.equal(old, new) for old, new in pairs)
        else:
            assert not any(torch.equal(old, new) for old, new in pairs if old.dim() > 1)
    average = run.trainer.parts.average.tensors()
    for (name, _), mean in zip(run.trainer.model.named_parameters(), average, strict=True):
        if part_of(name) in frozen:
            assert any(torch.equal(mean, old) for old in before[part_of(name)])


def test_a_resumed_run_with_frozen_parts_is_the_run_itself(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    config = budget(20, freeze=("encoder",))
    whole = Run(tmp_path / "whole", config)
    before = of_parts(whole)["encoder"]
    whole.trainer.run()
    Run(tmp_path / "parts", dataclasses.replace(config, max_updates=9)).trainer.run()
    torch.manual_seed(99)
    resumed = Run(tmp_path / "parts", config)
    resumed.trainer.resume()
    resumed.trainer.run()
    assert same(resumed.weights(), whole.weights())
    assert same(of_parts(resumed)["encoder"], before)


def test_how_many_parameters_are_trained_is_told(tmp_path: Path) -> None:
    run = Run(tmp_path, budget(1, freeze=("embeddings",)))
    run.trainer.run()
    (notice,) = [event.text for event in run.events if isinstance(event, Notice)]
    total = sum(p.numel() for p in run.trainer.model.parameters())
    left = total - VOCABULARY * TINY.d_model
    assert notice == f"frozen: embeddings; {left:,} of {total:,} parameters are trained"


def test_without_frozen_parts_everything_is_trained() -> None:
    model = EncoderDecoder(TINY, source_vocab=VOCABULARY, target_vocab=VOCABULARY)
    only: tuple[ModelPart, ...] = ("encoder",)
    freeze(model, only)
    freeze(model, ())
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_freezing_everything_is_refused() -> None:
    with pytest.raises(ConfigError, match="leaves nothing to train"):
        TrainingConfig(freeze=("decoder", "encoder", "embeddings"))
