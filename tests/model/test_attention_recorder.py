"""Recorded weights are those that attention used, and recording changes nothing."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from mt.config import ModelConfig
from mt.model.attention import MultiHeadAttention, causal_bias
from mt.model.attention_recorder import recorded_weights
from mt.model.encoder_decoder import EncoderDecoder

RTOL = 1e-10


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
