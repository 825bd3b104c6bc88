"""Muon against the singular value decomposition and against torch's own, and what AdamW keeps."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mt.config import ModelConfig, TrainingConfig
from mt.model.decoder_only import DecoderOnly
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import TranslationModel
from mt.training.muon import hidden_matrices, orthogonalised
from mt.training.optimizer import make_optimizer

PLAN = TrainingConfig(optimizer="muon", peak_rate=1e-2, weight_decay=0.1, momentum=0.9)
SMALL = ModelConfig(d_model=16, d_inner=48, encoder_layers=1, decoder_layers=1, heads=2)
FORMS = {
    "plain": SMALL,
    "rotary, gated, shared keys": dataclasses.replace(
        SMALL, positions="rotary", activation="swiglu", key_value_heads=1, biases=False
    ),
    "relative, untied": dataclasses.replace(SMALL, positions="relative", tied="none"),
    "learned, decoder-only": dataclasses.replace(
        SMALL, positions="learned", architecture="decoder-only", encoder_layers=0
    ),
}


def make_model(config: ModelConfig) -> TranslationModel:
    kind = EncoderDecoder if config.architecture == "encoder-decoder" else DecoderOnly
    torch.manual_seed(3)
    return kind(config, source_vocab=11, target_vocab=11).double()


def give_gradients(model: nn.Module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("shape", [(3, 6, 6), (2, 5, 17), (1, 1, 4)])
def test_newton_schulz_keeps_singular_vectors_and_makes_the_values_alike(
    shape: tuple[int, int, int],
) -> None:
    torch.manual_seed(1)
    x = torch.randn(shape, dtype=torch.float64)
    u, values, vt = torch.linalg.svd(x, full_matrices=False)
    assert values.amax(1).div(values.amin(1)).max() < 1e3
    found = u.mT @ orthogonalised(x) @ vt.mT  # diagonal, if the vectors are the same
    kept = found.diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(found, torch.diag_embed(kept), rtol=0.0, atol=1e-9)
    assert kept.min() > 0.3  # values of a thousandth of the largest are on their way
    assert kept.max() < 1.3
    torch.testing.assert_close(orthogonalised(x * 1e3), orthogonalised(x))


def test_a_matrix_of_zeros_stays_one() -> None:
    assert orthogonalised(torch.zeros(2, 3, 4)).abs().max() == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_steps_are_those_of_torch_with_fused_matrices_split(form: str) -> None:
    """`torch.optim.Muon` on the blocks one by one, and `torch.optim.AdamW` on all the rest."""
    model, twin = make_model(FORMS[form]), make_model(FORMS[form])
    optimizer = make_optimizer(model, model.layers(), PLAN, dtype=torch.bfloat16)
    linear = {
        name
        for name, module in twin.named_modules()
        if isinstance(module, nn.Linear) and name.startswith(("encoder.", "decoder."))
    }
    blocks: dict[str, list[Tensor]] = {}
    rest = []
    for name, parameter in twin.named_parameters():
        owner = name.removesuffix(".weight")
        if owner not in linear or not name.endswith(".weight"):
            rest.append(parameter)
            continue
        config = FORMS[form]
        count = {
            "query": config.heads,
            "key_value": 2 * (config.key_value_heads or config.heads),
            "inner": 2 if config.activation == "swiglu" else 1,
        }.get(owner.rpartition(".")[2], 1)
        blocks[name] = [nn.Parameter(part.clone()) for part in parameter.detach().chunk(count)]
    assert len(blocks) == len(linear) > 4
    theirs = torch.optim.Muon(
        [block for parts in blocks.values() for block in parts],
        lr=PLAN.peak_rate,
        momentum=0.9,
        weight_decay=0.1,
        adjust_lr_fn="original",
    )
    decay = [
        {"params": [p for p in rest if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in rest if p.dim() == 1], "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(decay, lr=PLAN.peak_rate, betas=(0.9, 0.98), eps=1e-9, foreach=False)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for seed in range(3):
        give_gradients(model, seed)
        give_gradients(twin, seed)
        for name, parts in blocks.items():
            gradient = twin.get_parameter(name).grad
            assert gradient is not None
            for block, half in zip(parts, gradient.chunk(len(parts)), strict=True):
                block.grad = half.clone()
        optimizer.step()
        theirs.step()  # type: ignore[no-untyped-call]
        adamw.step()
    for name, parameter in model.named_parameters():
        if name in blocks:
            ours = parameter.detach() - before[name]
            wanted = torch.cat(blocks[name]).detach() - before[name]
            assert (ours - wanted).norm() < 0.03 * wanted.norm(), name  # they round to bfloat16
        else:
            torch.testing.assert_close(
                parameter, twin.get_parameter(name), rtol=1e-10, atol=1e-12, msg=name
            )


def test_a_step_changes_what_a_matrix_gives_by_about_the_rate() -> None:
    """By its largest singular value, over the rate: one, times sqrt(O / I) where that is more."""
    model = make_model(SMALL)
    plan = dataclasses.replace(PLAN, weight_decay=0.0)
    optimizer = make_optimizer(model, model.layers(), plan, dtype=torch.float64)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    give_gradients(model, 1)
    optimizer.step()
    for each in hidden_matrices(model.layers()):
        name = next(n for n, p in model.named_parameters() if p is each.weight)
        for new, old in zip(
            each.weight.detach().chunk(each.num_blocks),
            before[name].chunk(each.num_blocks),
            strict=True,
        ):
            rows, columns = new.shape
            norm = float(torch.linalg.matrix_norm(new - old, 2)) / PLAN.peak_rate
            assert 0.7 < norm / math.sqrt(max(1.0, rows / columns)) < 1.2, name


def test_frozen_matrices_are_left_out() -> None:
    model = make_model(SMALL)
    for parameter in next(iter(model.layers())).parameters():
        parameter.requires_grad_(False)
    kept = {id(p) for p in model.parameters() if p.requires_grad}
    optimizer = make_optimizer(model, model.layers(), PLAN)
    known = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert sorted(known) == sorted(kept)


def test_the_state_goes_on_where_it_was_saved() -> None:
    """Three steps, and two, saved and loaded into a new optimizer, and one: bit for bit."""
    straight, stopped = make_model(SMALL), make_model(SMALL)
    first = make_optimizer(straight, straight.layers(), PLAN, dtype=torch.float64)
    second = make_optimizer(stopped, stopped.layers(), PLAN, dtype=torch.float64)
    state: dict[str, Any] = {}
    for seed in range(3):
        if seed == 2:
            state = second.state_dict()
            second = make_optimizer(stopped, stopped.layers(), PLAN, dtype=torch.float64)
            second.load_state_dict(state)
        for model, optimizer in ((straight, first), (stopped, second)):
            give_gradients(model, seed)
            for group in optimizer.param_groups:
                group["lr"] = 0.01 / (1 + seed)
            optimizer.step()
    pairs: list[tuple[Tensor, Tensor]] = list(
        zip(straight.parameters(), stopped.parameters(), strict=True)
    )
    assert all(torch.equal(a, b) for a, b in pairs)
    assert math.isfinite(sum(float(a.detach().sum()) for a, _ in pairs))
