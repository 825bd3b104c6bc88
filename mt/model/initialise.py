"""First weights, from torch's default generator."""

from __future__ import annotations

import math

import torch
from torch import nn

from mt.model.attention import MultiHeadAttention
from mt.model.feed_forward import FeedForward, GatedFeedForward
from mt.model.positions import LearnedPositions


def initialise(model: nn.Module) -> None:
    """Xavier-uniform matrices, zero biases, embeddings of variance 1/D.

    Fused matrices, of keys and values and of a gate and what it lets through, are drawn as two
    (Glorot and Bengio 2010 scale a matrix by its own fan-in and fan-out).
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        elif isinstance(module, LearnedPositions):
            nn.init.normal_(module.table, std=0.02)
    for module in model.modules():
        fused: nn.Linear
        if isinstance(module, MultiHeadAttention):
            fused = module.key_value
        elif isinstance(module, GatedFeedForward):
            fused = module.inner
        else:
            continue
        for half in fused.weight.chunk(2):
            nn.init.xavier_uniform_(half)


@torch.no_grad()
def scale_by_depth(stack: nn.ModuleList) -> None:
    """Divide the last matrix of each sublayer of `stack` by the square root of their number.

    So the residual stream of a pre-norm stack has the same variance at its end, however deep it
    is (Radford et al. 2019, section 2.3).
    """
    last: list[nn.Linear] = []
    for module in stack.modules():
        if isinstance(module, MultiHeadAttention):
            last.append(module.output)
        elif isinstance(module, FeedForward | GatedFeedForward):
            last.append(module.outer)
    for linear in last:
        linear.weight.div_(math.sqrt(len(last)))
