"""The schedule against its closed form, and the optimizer against torch's plain AdamW."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mt.config import TrainingConfig
from mt.train.averaging import WeightAverage
from mt.train.optimizer import make_optimizer
from mt.train.schedule import inverse_square_root


@pytest.mark.parametrize("update", [1, 2, 399, 400, 401, 1600, 10**6])
def test_inverse_square_root_is_the_formula_of_vaswani_scaled_to_its_peak(update: int) -> None:
    warmup, peak = 400, 5e-3
    formula = min(update**-0.5, update * warmup**-1.5) * peak * warmup**0.5
    rate = inverse_square_root(update, peak_rate=peak, warmup_updates=warmup)
    assert rate == pytest.approx(formula, rel=1e-12)


def test_update_zero_does_not_exist() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        inverse_square_root(0, peak_rate=1.0, warmup_updates=1)


def test_the_optimizer_steps_as_plain_adamw_does() -> None:
    torch.manual_seed(0)
    config = TrainingConfig(weight_decay=0.1, peak_rate=0.01)
    ours, theirs = nn.Linear(5, 4).double(), nn.Linear(5, 4).double()
    theirs.load_state_dict(ours.state_dict())
    fused = make_optimizer(ours, config)
    plain = torch.optim.AdamW(
        [
            {"params": [theirs.weight], "weight_decay": 0.1},
            {"params": [theirs.bias], "weight_decay": 0.0},
        ],
        lr=0.01,
        betas=(0.9, 0.98),
        eps=1e-9,
        foreach=False,
    )
    for _ in range(5):
        x = torch.randn(3, 5, dtype=torch.float64)
        for model, optimizer in ((ours, fused), (theirs, plain)):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours.weight, theirs.weight, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(ours.bias, theirs.bias, rtol=1e-10, atol=1e-12)


def test_the_average_is_its_recurrence_and_is_lent_to_the_model() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    average = WeightAverage(model, 0.9)
    expected = model.weight.detach().clone()
    for n in range(1, 200):
        with torch.no_grad():
            model.weight.normal_()
        average.update(n)
        decay = min(0.9, (1 + n) / (10 + n))
        expected = decay * expected + (1 - decay) * model.weight.detach()
    last = model.weight.detach().clone()
    with average.applied():
        torch.testing.assert_close(model.weight, expected)
    assert torch.equal(model.weight, last)


def test_an_average_with_decay_zero_is_the_weights() -> None:
    model = nn.Linear(3, 2)
    average = WeightAverage(model, 0.0)
    with torch.no_grad():
        model.weight.normal_()
    average.update(1)
    assert torch.equal(average.tensors()[0], model.weight)
