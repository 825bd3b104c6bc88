"""Clipping scales the whole gradient to the limit, and only where it is longer."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from mt.training.optimizer import clip_gradient


def model_with_gradient(length: float) -> nn.Module:
    """A model of two matrices and two biases whose gradient has that norm."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).double()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    scale = length / norm_of(model)
    for parameter in model.parameters():
        assert parameter.grad is not None
        parameter.grad *= scale
    return model


def gradients(model: nn.Module) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def norm_of(model: nn.Module) -> float:
    return math.sqrt(sum(float(each) ** 2 for each in gradients(model)))


@pytest.mark.parametrize("limit", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("times", [1.5, 4.0, 1000.0])
def test_a_longer_gradient_keeps_its_direction_and_gets_the_length_of_the_limit(
    limit: float, times: float
) -> None:
    model = model_with_gradient(times * limit)
    before = gradients(model)
    found = clip_gradient(model, limit)
    assert float(found) == pytest.approx(times * limit, rel=1e-9)
    # torch divides by the norm + 1e-6
    assert norm_of(model) == pytest.approx(limit, rel=3e-6)
    torch.testing.assert_close(gradients(model), before / times, rtol=3e-6, atol=0.0)


@pytest.mark.parametrize(("limit", "length"), [(1.0, 0.99), (2.0, 1e-3), (0.0, 1e6)])
def test_a_gradient_within_the_limit_stays_as_it_is(limit: float, length: float) -> None:
    model = model_with_gradient(length)
    before = gradients(model)
    found = clip_gradient(model, limit)
    assert float(found) == pytest.approx(length, rel=1e-9)
    torch.testing.assert_close(gradients(model), before, rtol=0.0, atol=0.0)
