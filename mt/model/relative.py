"""Relative positions in the form of Transformer-XL (Dai et al. 2019, section 3.3).

The score of query i and key j is ((q_i + u) k_j + (q_i + v) W r_{i-j}) / sqrt(E), where r are
sinusoids of the offset and u and v learned vectors of each head.

Shapes: B batch, T positions, D model width, H heads, E head width, M offsets.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mt.model.attention import AttentionInputs, MultiHeadAttention, causal_bias


def by_offset(scores: Tensor) -> Tensor:
    """From scores of offsets to scores of keys: out[i, j] = scores[i, T - 1 - (i - j)].

    scores (..., T, M) are of the offsets T - 1, T - 2, …, and what comes is (..., T, T). M is 2 T
    for queries that see all keys and T + 1 for those that see none behind them: what is then right
    of the diagonal means nothing.
    """
    length, num_offsets = scores.shape[-2:]
    # Row i begins i positions further left: in rows of M - 1 numbers, keys stand above each other.
    flat = scores.flatten(-2)[..., length - 1 : length - 1 + length * (num_offsets - 1)]
    return flat.reshape(*flat.shape[:-1], length, num_offsets - 1)[..., :length]


def _wide_on_cpus(x: Tensor) -> Tensor:
    """`x` in float32 at least where a CPU is to make scores of it."""
    if x.device.type != "cpu":
        return x
    return x.to(torch.promote_types(x.dtype, torch.float32))


class RelativeAttention(MultiHeadAttention):
    """Self-attention that scores the offset of query and key beside their contents."""

    def __init__(
        self,
        d_model: int,
        heads: int,
        dropout: float,
        *,
        key_value_heads: int | None = None,
        biases: bool = True,
    ) -> None:
        super().__init__(d_model, heads, dropout, key_value_heads=key_value_heads, biases=biases)
        self.position = nn.Linear(d_model, d_model, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(d_model))
        self.position_bias = nn.Parameter(torch.zeros(d_model))

    def by_heads(self, x: Tensor) -> Tensor:
        """(M, H E) -> (H, M, E)."""
        return x.view(x.size(0), self.heads, self.head_width).transpose(0, 1)

    def position_scores(self, query: Tensor, offsets: Tensor) -> Tensor:
        """(q_i + v) W r_{i-j} / sqrt(E): query (B, H, T, E), offsets (M, D) -> (B, H, T, T)."""
        batch, heads, length, width = query.shape
        biased = query + self.position_bias.view(heads, 1, width)
        # (B, H, T, E) -> (H, B T, E): one product a head for the whole batch
        rows = biased.transpose(0, 1).reshape(heads, batch * length, width) / math.sqrt(width)
        projected = _wide_on_cpus(self.by_heads(self.position(offsets)))
        with torch.autocast("cpu", enabled=False):  # as the other product of scores, in `attend`
            scores = torch.bmm(rows, projected.transpose(1, 2))
        return by_offset(scores.view(heads, batch, length, -1)).transpose(0, 1)

    def prepare(
        self,
        x: Tensor,
        memory: Tensor,
        bias: Tensor | None,
        encodings: Tensor | None,
        *,
        is_causal: bool,
    ) -> AttentionInputs:
        """As in `MultiHeadAttention`; `encodings` (2 T, D) are sinusoids of T - 1, T - 2, … -T."""
        if encodings is None:
            raise ValueError("relative attention needs encodings of positions")
        plain = super().prepare(x, memory, bias, None, is_causal=False)
        query, length = _wide_on_cpus(plain.query), x.size(1)
        scores = self.position_scores(query, encodings[: length + 1] if is_causal else encodings)
        if is_causal:
            scores = scores + causal_bias(length, device=x.device)
        return plain._replace(
            query=query + self.content_bias.view(self.heads, 1, self.head_width),
            bias=scores if bias is None else scores + bias,
        )
