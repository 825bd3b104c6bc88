"""Attention against torch's own, in float64 with copied weights."""

from __future__ import annotations

import math
from typing import Literal

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.config import ModelConfig
from mt.model.attention import (
    MultiHeadAttention,
    attend,
    causal_bias,
    fused_scaled_dot_product,
    recorded_weights,
    scaled_dot_product,
)
from mt.model.dropout import Dropout
from mt.model.encoder_decoder import EncoderDecoder, padding_bias

RTOL = 1e-10


@pytest.fixture(autouse=True)
def _double() -> None:
    torch.manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("has_mask", [False, True])
def test_scaled_dot_product_equals_torchs(has_mask: bool) -> None:
    query, key, value = draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8)
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 4:] = False
    bias = padding_bias(mask).double() if has_mask else None
    ours = scaled_dot_product(query, key, value, bias)
    theirs = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    torch.testing.assert_close(ours, theirs, rtol=RTOL, atol=1e-12)


@pytest.mark.parametrize("has_bias", [False, True])
def test_the_fused_path_of_gpus_equals_the_plain_one(has_bias: bool) -> None:
    query, key, value = draw(2, 3, 5, 8), draw(2, 3, 5, 8), draw(2, 3, 5, 8)
    bias = causal_bias(5, device=query.device) if has_bias else None
    fused = fused_scaled_dot_product(query, key, value, bias, Dropout(0.5).eval())
    plain = scaled_dot_product(query, key, value, bias)
    torch.testing.assert_close(fused, plain, rtol=RTOL, atol=1e-12)


def test_the_causal_path_of_gpus_equals_that_of_cpus() -> None:
    query, key, value = draw(2, 3, 5, 8), draw(2, 3, 5, 8), draw(2, 3, 5, 8)
    silent = Dropout(0.5).eval()
    fused = fused_scaled_dot_product(query, key, value, None, silent, is_causal=True)
    torch.testing.assert_close(
        attend(query, key, value, None, silent, is_causal=True), fused, rtol=RTOL, atol=1e-12
    )
    bias = causal_bias(5, device=query.device)
    assert torch.equal(
        attend(query, key, value, None, silent, is_causal=True),
        attend(query, key, value, bias, silent),
    )
    with pytest.raises(ValueError, match="no further bias"):
        attend(query, key, value, bias, silent, is_causal=True)


@pytest.mark.parametrize("in_autocast", [False, True])
def test_narrow_projections_are_attended_to_in_float32_on_cpus(in_autocast: bool) -> None:
    query, key, value = (draw(2, 3, 5, 8).bfloat16() for _ in range(3))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=in_autocast):
        ours = attend(query, key, value, None, Dropout(0.5).eval())
    wide = scaled_dot_product(query.float(), key.float(), value.float(), None)
    assert ours.dtype == torch.bfloat16
    assert torch.equal(ours, wide.bfloat16())


def test_scaled_dot_product_equals_the_formula_term_by_term() -> None:
    query, key, value = draw(1, 1, 2, 4), draw(1, 1, 3, 4), draw(1, 1, 3, 4)
    ours = scaled_dot_product(query, key, value, None)[0, 0]
    for t in range(2):
        scores = [float(query[0, 0, t] @ key[0, 0, s]) / math.sqrt(4) for s in range(3)]
        total = sum(math.exp(score) for score in scores)
        expected = sum(
            (math.exp(score) / total * value[0, 0, s] for s, score in enumerate(scores)),
            start=torch.zeros(4, dtype=torch.float64),
        )
        torch.testing.assert_close(ours[t], expected, rtol=RTOL, atol=1e-12)


@pytest.mark.parametrize("is_causal", [False, True])
def test_multi_head_attention_equals_torchs(is_causal: bool) -> None:
    ours = MultiHeadAttention(16, 4, 0.0).double()
    theirs = nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64)
    copy_attention(ours, theirs)
    x = draw(2, 6, 16)
    memory = x if is_causal else draw(2, 9, 16)
    mask = torch.ones(2, memory.size(1), dtype=torch.bool)
    if not is_causal:
        mask[0, 5:] = False
    bias = None if is_causal else padding_bias(mask).double()
    out = ours(x, memory, bias, is_causal=is_causal)
    expected, weights = theirs(
        x,
        memory,
        memory,
        key_padding_mask=None if is_causal else ~mask,
        attn_mask=causal_bias(6, device=x.device).double() if is_causal else None,
    )
    torch.testing.assert_close(out, expected, rtol=RTOL, atol=1e-12)
    if not is_causal:
        mean = ours.mean_weights(x, memory, bias)
        torch.testing.assert_close(mean, weights, rtol=RTOL, atol=1e-12)


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Give torch's attention our weights."""
    with torch.no_grad():
        assert theirs.in_proj_weight is not None
        theirs.in_proj_weight.copy_(torch.cat((ours.query.weight, ours.key_value.weight)))
        nn.init.normal_(ours.query.bias)
        nn.init.normal_(ours.key_value.bias)
        nn.init.normal_(ours.output.bias)
        theirs.in_proj_bias.copy_(torch.cat((ours.query.bias, ours.key_value.bias)))
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)


def test_attention_refuses_heads_that_do_not_divide_the_width() -> None:
    with pytest.raises(ValueError, match="multiple of heads"):
        MultiHeadAttention(16, 3, 0.0)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_recorded_weights_are_those_that_every_layer_used(norm: Literal["pre", "post"]) -> None:
    """Against torch's own layers with the same weights, fed with what each layer was fed."""
    config = ModelConfig(
        d_model=16, d_inner=24, heads=4, encoder_layers=2, decoder_layers=3, norm=norm
    )
    model = EncoderDecoder(config, source_vocab=20, target_vocab=20).double().eval()
    inputs: dict[str, tuple[Tensor, Tensor]] = {}
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            module.register_forward_pre_hook(
                lambda _, given, name=name: inputs.update({name: (given[0], given[1])})
            )
    source, target = torch.randint(4, 20, (2, 7)), torch.randint(4, 20, (2, 5))
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 4:] = False
    with recorded_weights(model) as found, torch.no_grad():
        model(source, mask, target)
    assert len(found) == 2 + 2 * 3
    for name, weights in found.items():
        ours = model.get_submodule(name)
        assert isinstance(ours, MultiHeadAttention)
        theirs = nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64)
        with torch.no_grad():
            theirs.in_proj_weight.copy_(torch.cat((ours.query.weight, ours.key_value.weight)))
            theirs.in_proj_bias.copy_(torch.cat((ours.query.bias, ours.key_value.bias)))
        x, memory = inputs[name]
        is_causal = name.endswith("self_attention")
        _, expected = theirs(
            x,
            memory,
            memory,
            key_padding_mask=None if is_causal else ~mask,
            attn_mask=causal_bias(5, device=x.device).double() if is_causal else None,
            average_attn_weights=False,
        )
        torch.testing.assert_close(weights, expected, rtol=RTOL, atol=1e-12)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


def test_recording_changes_no_output_and_ends_with_its_block() -> None:
    model = EncoderDecoder(
        ModelConfig(d_model=16, d_inner=24, heads=4), source_vocab=20, target_vocab=20
    ).eval()
    source, target = torch.randint(4, 20, (2, 7)), torch.randint(4, 20, (2, 5))
    mask = torch.ones(2, 7, dtype=torch.bool)
    before = model(source, mask, target)
    with recorded_weights(model) as found:
        assert torch.equal(model(source, mask, target), before)
        kept = dict(found)
        with pytest.raises(ValueError, match="recorded already"), recorded_weights(model):
            pass
        assert torch.equal(model(source, mask, target), before)
        assert found.keys() == kept.keys()
    found.clear()
    model(source, mask, target)
    assert not found


def test_recorded_weights_are_before_dropout() -> None:
    attention = MultiHeadAttention(16, 4, 0.5).train()
    x = torch.randn(2, 6, 16)
    with recorded_weights(attention) as found:
        attention(x, x, None)
    torch.testing.assert_close(found[""].sum(dim=-1), torch.ones(2, 4, 6))
    assert not found[""].requires_grad
