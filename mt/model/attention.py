"""Scaled dot-product and multi-head attention (Vaswani et al. 2017, section 3.2).

Shapes: B batch, T query positions, S key positions, D model width, H heads, E = D / H.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

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
    mask = None if bias is None else bias.to(query.dtype)
    return functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, dropout_p=dropout.rate_in_force, is_causal=is_causal
    )


def has_fused_kernels(x: Tensor) -> bool:
    """Whether attention on the device of `x` is fastest by torch's fused kernels."""
    return x.device.type != "cpu"


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
    if has_fused_kernels(query) and recorder is None:
        return fused_scaled_dot_product(query, key, value, bias, dropout, is_causal=is_causal)
    if is_causal:
        bias = causal_bias(query.size(2), device=query.device)
    # A form that adds biases of its own to the queries gives them in float32, and keys not.
    if torch.bfloat16 not in (query.dtype, key.dtype, value.dtype):
        return scaled_dot_product(query, key, value, bias, dropout, recorder)
    with torch.autocast(query.device.type, enabled=False):
        heads = scaled_dot_product(
            query.float(), key.float(), value.float(), bias, dropout, recorder
        )
    return heads.to(value.dtype)


class AttentionInputs(NamedTuple):
    """What attention is made of: the weights are softmax(Q K^T / sqrt(E) + bias)."""

    query: Tensor
    """(B, H, T, E)."""
    key: Tensor
    """(B, H, S, E)."""
    value: Tensor
    """(B, H, S, E)."""
    bias: Tensor | None
    """As in `scaled_dot_product`; None with `is_causal`."""
    is_causal: bool
    """Position t attends to the positions up to t."""


class MultiHeadAttention(nn.Module):
    """H heads of width E = D / H side by side, concatenated and projected.

    `key_value` is one product for keys and values: in cross-attention it is computed once for a
    source, in self-attention once for a position. With fewer heads of keys and values than of
    queries, each is shared by a group of neighbouring queries (Ainslie et al. 2023).
    """

    recorder: Recorder | None = None
    """Is given the weights of each pass; set by `mt.model.attention_recorder` alone."""

    def __init__(
        self,
        d_model: int,
        heads: int,
        dropout: float,
        *,
        key_value_heads: int | None = None,
        biases: bool = True,
    ) -> None:
        super().__init__()
        if d_model % heads:
            raise ValueError(f"d_model ({d_model}) must be a multiple of heads ({heads})")
        self.heads = heads
        self.key_value_heads = key_value_heads or heads
        if heads % self.key_value_heads:
            raise ValueError(
                f"heads ({heads}) must be a multiple of key_value_heads ({key_value_heads})"
            )
        self.head_width = d_model // heads
        shared_width = self.key_value_heads * self.head_width
        self.query = nn.Linear(d_model, d_model, bias=biases)
        self.key_value = nn.Linear(d_model, 2 * shared_width, bias=biases)
        self.output = nn.Linear(d_model, d_model, bias=biases)
        self.dropout = Dropout(dropout)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, T, H E) -> (B, H, T, E)."""
        return x.view(x.size(0), x.size(1), -1, self.head_width).transpose(1, 2)

    def project_query(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, E)."""
        return self.split_heads(self.query(x))

    def project_key_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, S, D) -> keys and values, each (B, H, S, E); those of a group are the same."""
        key, value = (self.split_heads(half) for half in self.key_value(x).chunk(2, dim=-1))
        group = self.heads // self.key_value_heads
        if group == 1:
            return key, value
        return key.repeat_interleave(group, dim=1), value.repeat_interleave(group, dim=1)

    def prepare(
        self,
        x: Tensor,
        memory: Tensor,
        bias: Tensor | None,
        encodings: Tensor | None,
        *,
        is_causal: bool,
    ) -> AttentionInputs:
        """Project x (B, T, D) and memory (B, S, D); `encodings` as in `forward`."""
        key, value = self.project_key_value(memory)
        return AttentionInputs(self.project_query(x), key, value, bias, is_causal)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        bias: Tensor | None,
        *,
        encodings: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Let every position of x (B, T, D) attend to memory (B, S, D); returns (B, T, D).

        `encodings` is what `mt.model.positions` gives for the positions of x where they are no part
        of it.
        """
        query, key, value, bias, is_causal = self.prepare(
            x, memory, bias, encodings, is_causal=is_causal
        )
        heads = attend(
            query, key, value, bias, self.dropout, is_causal=is_causal, recorder=self.recorder
        )
        # (B, H, T, E) -> (B, T, H * E)
        out: Tensor = self.output(heads.transpose(1, 2).flatten(2))
        return out

    def mean_weights(
        self, x: Tensor, memory: Tensor, bias: Tensor | None, *, encodings: Tensor | None = None
    ) -> Tensor:
        """How much each position of x (B, T, D) attends to memory (B, S, D): (B, T, S).

        The mean over heads, in float32 at least; each row sums to 1. Arguments as in `forward`.
        """
        query, key, _, bias, _ = self.prepare(x, memory, bias, encodings, is_causal=False)
        wide = torch.promote_types(query.dtype, torch.float32)
        with torch.autocast(query.device.type, enabled=False):
            return attention_weights(query.to(wide), key.to(wide), bias).mean(dim=1)
