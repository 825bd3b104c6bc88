"""Encoder and decoder layers against torch's own, in float64 with copied weights."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import nn

from mt.config import Activation, ModelConfig, NormOrder
from mt.model.attention import causal_bias
from mt.model.feed_forward import FeedForward, GatedFeedForward
from mt.model.layers import DecoderLayer, EncoderLayer
from mt.model.translation_model import padding_bias
from tests.model.copied_weights import copy_attention

TorchActivation = Literal["relu", "gelu"]


def config_of(norm: NormOrder, activation: Activation) -> ModelConfig:
    return ModelConfig(
        d_model=16, d_inner=24, heads=4, dropout=0.0, norm=norm, activation=activation
    )


def copy_feed_forward(
    ours: FeedForward | GatedFeedForward,
    theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> None:
    with torch.no_grad():
        for mine, its in ((ours.inner, theirs.linear1), (ours.outer, theirs.linear2)):
            nn.init.normal_(mine.bias)
            its.weight.copy_(mine.weight)
            its.bias.copy_(mine.bias)


def copy_norm(ours: nn.Module, theirs: nn.LayerNorm) -> None:
    assert isinstance(ours, nn.LayerNorm)
    with torch.no_grad():
        nn.init.normal_(ours.weight)
        nn.init.normal_(ours.bias)
        theirs.weight.copy_(ours.weight)
        theirs.bias.copy_(ours.bias)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layer_equals_torchs(norm: NormOrder, activation: TorchActivation) -> None:
    torch.manual_seed(0)
    ours = EncoderLayer(config_of(norm, activation)).double()
    theirs = nn.TransformerEncoderLayer(
        16, 4, 24, 0.0, activation, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    copy_attention(ours.attention, theirs.self_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    copy_norm(ours.attention_residual.norm, theirs.norm1)
    copy_norm(ours.feed_forward_residual.norm, theirs.norm2)
    x = torch.randn(3, 7, 16, dtype=torch.float64)
    mask = torch.arange(7) < torch.tensor([7, 4, 6])[:, None]
    out = ours(x, padding_bias(mask).double())
    expected = theirs(x, src_key_padding_mask=~mask)
    torch.testing.assert_close(out[mask], expected[mask], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_decoder_layer_equals_torchs(norm: NormOrder, activation: TorchActivation) -> None:
    torch.manual_seed(0)
    ours = DecoderLayer(config_of(norm, activation)).double()
    theirs = nn.TransformerDecoderLayer(
        16, 4, 24, 0.0, activation, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    copy_norm(ours.self_residual.norm, theirs.norm1)
    copy_norm(ours.cross_residual.norm, theirs.norm2)
    copy_norm(ours.feed_forward_residual.norm, theirs.norm3)
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    memory = torch.randn(2, 6, 16, dtype=torch.float64)
    mask = torch.arange(6) < torch.tensor([6, 3])[:, None]
    causal = causal_bias(5, device=x.device).double()
    out = ours(x, memory, padding_bias(mask).double())
    expected = theirs(x, memory, tgt_mask=causal.isinf(), memory_key_padding_mask=~mask)
    torch.testing.assert_close(out, expected, rtol=1e-10, atol=1e-12)
