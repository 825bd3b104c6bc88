"""The projected cross-entropy against torch's own, value and gradient."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from mt.training import loss as loss_module
from mt.training.loss import projected_cross_entropy


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loss_module._CHUNK, "cpu", 4)  # 11 rows: two whole chunks and a rest


def draw(rows: int = 11, vocabulary: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    hidden = torch.randn(rows, 5, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(vocabulary, 5, dtype=torch.float64, requires_grad=True)
    return hidden, weight, torch.randint(0, vocabulary, (rows,))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_value_and_gradients_equal_torchs(smoothing: float) -> None:
    hidden, weight, labels = draw()
    ours, count = projected_cross_entropy(hidden, weight, labels, smoothing=smoothing)
    theirs = functional.cross_entropy(
        hidden @ weight.T, labels, label_smoothing=smoothing, reduction="sum"
    )
    assert count == 11
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)
    expected = torch.autograd.grad(3.0 * theirs, (hidden, weight))
    found = torch.autograd.grad(3.0 * ours, (hidden, weight))
    for mine, its in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_bias_is_part_of_the_logits_and_has_its_gradient(smoothing: float) -> None:
    hidden, weight, labels = draw()
    bias = torch.randn(7, dtype=torch.float64, requires_grad=True)
    ours, _ = projected_cross_entropy(hidden, weight, labels, bias=bias, smoothing=smoothing)
    theirs = functional.cross_entropy(
        hidden @ weight.T + bias, labels, label_smoothing=smoothing, reduction="sum"
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)
    expected = torch.autograd.grad(3.0 * theirs, (hidden, weight, bias))
    found = torch.autograd.grad(3.0 * ours, (hidden, weight, bias))
    for mine, its in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-12)


def test_gradients_pass_gradcheck() -> None:
    hidden, weight, labels = draw()
    assert torch.autograd.gradcheck(
        lambda h, w: projected_cross_entropy(h, w, labels, smoothing=0.1)[0], (hidden, weight)
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_even_logits_cost_the_log_of_the_vocabulary(smoothing: float) -> None:
    total, count = projected_cross_entropy(
        torch.zeros(3, 5), torch.zeros(50, 5), torch.tensor([0, 7, 49]), smoothing=smoothing
    )
    assert float(total) / count == pytest.approx(math.log(50), abs=1e-6)


def test_large_logits_do_not_overflow() -> None:
    hidden = torch.full((1, 1), 1e4)
    total, _ = projected_cross_entropy(hidden, torch.tensor([[1.0], [-1.0]]), torch.tensor([1]))
    assert float(total) == pytest.approx(2e4)


def test_bfloat16_products_stay_close_to_float32() -> None:
    torch.manual_seed(0)
    hidden = torch.randn(64, 32, requires_grad=True)
    weight = (0.2 * torch.randn(100, 32)).requires_grad_()
    labels = torch.randint(0, 100, (64,))
    exact, _ = projected_cross_entropy(hidden, weight, labels, smoothing=0.1)
    rough, _ = projected_cross_entropy(hidden, weight, labels, smoothing=0.1, dtype=torch.bfloat16)
    assert rough.item() == pytest.approx(exact.item(), rel=5e-3)
    one, other = (torch.autograd.grad(x, weight)[0] for x in (exact, rough))
    assert float((one - other).norm() / one.norm()) < 2e-2
