"""Narrow products: close to those of float32, and the model itself stays as it is."""

from __future__ import annotations

import pytest
import torch

from mt.config import ModelConfig
from mt.errors import ConfigError
from mt.model.device import choose_search_precision
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.linear import Bfloat16Product, Int8Product, Products, make_product
from mt.model.inference.search_model import SearchModel
from tests.model.forms import Form


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize(("kind", "tolerance"), [(Bfloat16Product, 0.02), (Int8Product, 0.05)])
def test_a_narrow_product_is_close_to_the_wide_one(
    kind: type[Bfloat16Product | Int8Product], tolerance: float, has_bias: bool
) -> None:
    torch.manual_seed(1)
    weight = torch.randn(48, 64) * torch.logspace(-3, 1, 48)[:, None]  # outputs of unlike sizes
    bias = torch.randn(48) if has_bias else None
    x = torch.randn(21, 64)
    expected = torch.nn.functional.linear(x, weight, bias)
    found = kind(weight, bias)(x)
    assert found.dtype == torch.float32
    error = (found - expected).abs().amax(dim=0) / expected.abs().amax(dim=0)
    assert float(error.max()) < tolerance


@pytest.mark.parametrize("kind", ["bfloat16", "int8"])
@pytest.mark.parametrize(
    "form",
    [
        {"tied": "all"},
        {"tied": "none"},
        {"positions": "rotary", "key_value_heads": 2, "norm_kind": "rmsnorm"},
        {"positions": "relative", "biases": False, "activation": "swiglu"},
    ],
    ids=str,
)
@torch.no_grad()
def test_a_narrowed_model_predicts_almost_what_the_model_does(kind: Products, form: Form) -> None:
    torch.manual_seed(0)
    config = ModelConfig(
        d_model=32,
        d_inner=64,
        heads=4,
        encoder_layers=2,
        decoder_layers=2,
        **form,
    )
    model = EncoderDecoder(config, source_vocab=50, target_vocab=50).eval()
    before = {name: p.clone() for name, p in model.named_parameters()}
    wide, narrow = SearchModel(model), SearchModel(model, kind)
    source = torch.randint(4, 50, (3, 6))
    mask = torch.ones_like(source, dtype=torch.bool)
    state, narrow_state = wide.start(source, mask), narrow.start(source, mask)
    for _ in range(4):
        tokens = torch.randint(4, 50, (3,))
        logits, state = wide.step(tokens, state)
        found, narrow_state = narrow.step(tokens, narrow_state)
        assert not torch.equal(found, logits)
        distance = (found.log_softmax(-1) - logits.log_softmax(-1)).abs().max()
        assert float(distance) < 0.1
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())


@pytest.mark.parametrize("outputs", [96, 5000])
@pytest.mark.parametrize("rows", [1, 3, 5, 16, 700])
@pytest.mark.parametrize("has_bias", [True, False])
def test_a_product_as_trained_is_the_product(rows: int, outputs: int, has_bias: bool) -> None:
    """By oneDNN where that is faster, above and below the sizes from which it is."""
    torch.manual_seed(1)
    weight = torch.randn(outputs, 64)
    bias = torch.randn(outputs) if has_bias else None
    x = torch.randn(rows, 64)
    expected = x.double() @ weight.double().T + (0 if bias is None else bias.double())
    found = make_product(weight, bias, "as trained")(x)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


def test_8_bits_are_for_cpus_alone() -> None:
    assert choose_search_precision("auto", torch.device("cpu")) == "float32"
    assert choose_search_precision("int8", torch.device("cpu")) == "int8"
    with pytest.raises(ConfigError, match="int8 is for CPUs, not for cuda"):
        choose_search_precision("int8", torch.device("cuda"))
