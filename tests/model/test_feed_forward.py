"""Feed-forward layers and normalisation against their formulas, in float64."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mt.config import ModelConfig
from mt.model.feed_forward import GatedFeedForward, gated_width, make_feed_forward
from mt.model.layers import make_norm


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("biases", [True, False])
def test_swiglu_equals_its_formula(biases: bool) -> None:
    torch.manual_seed(0)
    layer = GatedFeedForward(6, 8, dropout=0.0, biases=biases).double()
    x = draw(2, 5, 6)
    w1, w3 = layer.inner.weight.chunk(2)
    b1, b3 = layer.inner.bias.chunk(2) if biases else (0.0, 0.0)
    b2 = layer.outer.bias if biases else 0.0
    first = x @ w1.T + b1
    expected = (first / (1 + (-first).exp()) * (x @ w3.T + b3)) @ layer.outer.weight.T + b2
    torch.testing.assert_close(layer(x), expected, rtol=1e-10, atol=1e-12)


def test_swish_equals_its_formula() -> None:
    torch.manual_seed(0)
    layer = make_feed_forward(ModelConfig(d_model=6, d_inner=8, heads=1, activation="swish"))
    layer.double().eval()
    x = draw(2, 5, 6)
    first = x @ layer.inner.weight.T + layer.inner.bias
    expected = first / (1 + (-first).exp()) @ layer.outer.weight.T + layer.outer.bias
    torch.testing.assert_close(layer(x), expected, rtol=1e-10, atol=1e-12)


def test_the_gradient_of_swiglu_is_right() -> None:
    torch.manual_seed(0)
    layer = GatedFeedForward(4, 8, dropout=0.0, biases=True).double()
    assert torch.autograd.gradcheck(layer, (draw(3, 4).requires_grad_(),))


@pytest.mark.parametrize("d_inner", [256, 1024, 2048, 4096])
def test_swiglu_has_about_the_weights_of_the_layer_without_a_gate(d_inner: int) -> None:
    plain, gated = (
        sum(
            parameter.numel()
            for parameter in make_feed_forward(
                ModelConfig(d_inner=d_inner, activation=activation, biases=False)
            ).parameters()
        )
        for activation in ("relu", "swiglu")
    )
    assert gated == pytest.approx(plain, rel=0.02)
    assert gated_width(d_inner) % 8 == 0


def test_rmsnorm_equals_its_formula() -> None:
    torch.manual_seed(0)
    norm = make_norm(ModelConfig(d_model=6, norm_kind="rmsnorm", heads=1)).double()
    assert isinstance(norm, nn.RMSNorm)
    nn.init.normal_(norm.weight)
    x = draw(2, 5, 6)
    expected = norm.weight * x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(norm(x), expected, rtol=1e-10, atol=1e-12)


def test_without_biases_no_linear_map_of_a_layer_has_one() -> None:
    layer = make_feed_forward(ModelConfig(biases=False))
    assert [name for name, _ in layer.named_parameters()] == ["inner.weight", "outer.weight"]
