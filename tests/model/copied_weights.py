"""Torch's own layers with the weights of ours."""

from __future__ import annotations

import torch
from torch import nn

from mt.model.attention import MultiHeadAttention


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
