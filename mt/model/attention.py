"""Scaled dot-product and multi-head attention (Vaswani et al. 2017, section 3.2).

Shapes: B batch, T query positions, S key positions, D model width, H heads, E = D / H.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.model.dropout import Dropout

Recorder = Callable[[Tensor], None]
"""Is given the weights (B, H, T, S) of a pass, after the softmax and before dropout."""


def scaled_dot_product(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    dropout: Dropout | None = None,
    recorder: Recorder | None = None,
) -> Tensor:
    """softmax(Q K^T / sqrt(E) + bias) V, written out: the oracle, and the fast path on CPUs.

    At sentence lengths the backward pass of torch's CPU flash kernel is many times slower than
    these two products.

    query (B, H, T, E), key and value (B, H, S, E); bias is added to the scores (B, H, T, S), by
    broadcasting, and holds 0 where attention is allowed and -inf where it is not. Each query
    must be allowed one key at least.
    """
    weights = attention_weights(query, key, bias)
    if recorder is not None:
        recorder(weights)
    weights = weights.to(value.dtype)
    if dropout is not None:
        weights = dropout(weights)
    return torch.matmul(weights, value)


def attention_weights(query: Tensor, key: Tensor, bias: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(E) + bias), (B, H, T, S); arguments as in `scaled_dot_product`."""
    scores = torch.matmul(query * (1.0 / math.sqrt(query.size(-1))), key.transpose(-2, -1))
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    return torch.softmax(scores, dim=-1)


def causal_bias(length: int, *, device: torch.device) -> Tensor:
    """Attention bias (T, T) with -inf above the diagonal: no position sees a later one."""
    full = torch.full((length, length), -math.inf, device=device)
    return torch.triu(full, diagonal=1)


def fused_scaled_dot_product(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    dropout: Dropout,
    *,
    is_causal: bool = False,
) -> Tensor:
    """The same by torch's fused kernels: the fast path on GPUs.

    Flash attention takes no bias: it serves causal attention, which comes without one, and
    attention without padding. The rest falls to the memory-efficient kernel.
    """
    rate = dropout.rate if dropout.training else 0.0
    mask = None if bias is None else bias.to(query.dtype)
    return functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, dropout_p=rate, is_causal=is_causal
    )


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    dropout: Dropout,
    *,
    is_causal: bool = False,
    recorder: Recorder | None = None,
) -> Tensor:
    """`scaled_dot_product` by the kernel that is fastest on the device of `query`.

    With `is_causal`, instead of a bias, position t attends to the positions up to t (T = S).

    On CPUs the two products and the softmax are in float32 whatever the projections are in: the
    products are small, and bfloat16 costs them more in conversions than it saves (docs/log.md).
    Fused kernels never hold the weights: with a `recorder` it is the formula written out that
    computes.
    """
    if is_causal and bias is not None:
        raise ValueError("causal attention takes no further bias")
    if query.device.type != "cpu" and recorder is None:
        return fused_scaled_dot_product(query, key, value, bias, dropout, is_causal=is_causal)
    if is_causal:
        bias = causal_bias(query.size(2), device=query.device)
    if query.dtype != torch.bfloat16:
        return scaled_dot_product(query, key, value, bias, dropout, recorder)
    with torch.autocast(query.device.type, enabled=False):
        heads = scaled_dot_product(
            query.float(), key.float(), value.float(), bias, dropout, recorder
        )
    return heads.to(value.dtype)


class MultiHeadAttention(nn.Module):
    """H heads of width E = D / H side by side, concatenated and projected.

    `key_value` is one product for keys and values: in cross-attention it is computed once for a
    source, in self-attention once for a position.
    """

    recorder: Recorder | None = None
    """Is given the weights of each pass; set by `recorded_weights` alone."""

    def __init__(self, d_model: int, heads: int, dropout: float) -> None:
        super().__init__()
        if d_model % heads:
            raise ValueError(f"d_model ({d_model}) must be a multiple of heads ({heads})")
        self.heads = heads
        self.query = nn.Linear(d_model, d_model)
        self.key_value = nn.Linear(d_model, 2 * d_model)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = Dropout(dropout)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, E)."""
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def project_query(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, E)."""
        return self.split_heads(self.query(x))

    def project_key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, S, D) -> keys and values, each (B, H, S, E)."""
        key, value = self.key_value(x).chunk(2, dim=-1)
        return self.split_heads(key), self.split_heads(value)

    def combine(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        bias: Tensor | None,
        *,
        is_causal: bool = False,
    ) -> Tensor:
        """Attend with projected queries (B, H, T, E) and give (B, T, D)."""
        heads = attend(
            query, key, value, bias, self.dropout, is_causal=is_causal, recorder=self.recorder
        )
        # (B, H, T, E) -> (B, T, H * E)
        out: Tensor = self.output(heads.transpose(1, 2).flatten(2))
        return out

    def forward(
        self, x: Tensor, memory: Tensor, bias: Tensor | None, *, is_causal: bool = False
    ) -> Tensor:
        """Let every position of x (B, T, D) attend to memory (B, S, D); returns (B, T, D)."""
        key, value = self.project_key_value(memory)
        return self.combine(self.project_query(x), key, value, bias, is_causal=is_causal)

    def mean_weights(self, x: Tensor, memory: Tensor, bias: Tensor | None) -> Tensor:
        """How much each position of x (B, T, D) attends to memory (B, S, D): (B, T, S).

        The mean over heads, in float32 at least; each row sums to 1. Arguments as in `forward`.
        """
        query, (key, _) = self.project_query(x), self.project_key_value(memory)
        wide = torch.promote_types(query.dtype, torch.float32)
        with torch.autocast(query.device.type, enabled=False):
            return attention_weights(query.to(wide), key.to(wide), bias).mean(dim=1)


@contextmanager
def recorded_weights(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Within it, each attention layer of `model` leaves the weights that it attends by.

    Gives a dictionary that fills with weights (B, H, T, S), after the softmax and before dropout,
    under the names that the layers have in `model` (`decoder.0.cross_attention`); of several passes
    of a layer, the latest. No other model is touched. Raises ValueError where the weights of
    `model` are recorded already.
    """
    layers = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    }
    if any(layer.recorder is not None for layer in layers.values()):
        raise ValueError("the attention of this model is being recorded already")
    found: dict[str, Tensor] = {}

    def recorder_of(name: str) -> Recorder:
        def record(weights: Tensor) -> None:
            found[name] = weights.detach()

        return record

    try:
        for name, layer in layers.items():
            layer.recorder = recorder_of(name)
        yield found
    finally:
        for layer in layers.values():
            layer.recorder = None
