"""Encoder and decoder layers: sublayers with residual connections and normalisation.

Pre-norm is x + f(LN(x)) (Xiong et al. 2020), post-norm LN(x + f(x)) (Vaswani et al. 2017).
Shapes: B batch, N rows, T target positions, S source positions, D model width, H heads, E head
width.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from mt.config import ModelConfig
from mt.model.attention import MultiHeadAttention
from mt.model.dropout import Dropout
from mt.model.feed_forward import FeedForward
from mt.model.state import LayerCache, SourceKeysValues


class Residual(nn.Module):
    """One sublayer f around the residual stream, in the order that `norm` names."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.is_pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        if self.is_pre:
            inner: Tensor = self.dropout(sublayer(self.norm(x)))
            return x + inner
        out: Tensor = self.norm(x + self.dropout(sublayer(x)))
        return out


def make_attention(config: ModelConfig) -> MultiHeadAttention:
    """An attention layer of the shape that `config` names."""
    return MultiHeadAttention(config.d_model, config.heads, config.attention_dropout)


def make_feed_forward(config: ModelConfig) -> FeedForward:
    """A feed-forward layer of the shape that `config` names."""
    return FeedForward(
        config.d_model,
        config.d_inner,
        activation=config.activation,
        dropout=config.activation_dropout,
    )


class EncoderLayer(nn.Module):
    """Bidirectional self-attention, then a feed-forward layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = make_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.attention_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """X (B, S, D) -> (B, S, D); bias as in `scaled_dot_product`."""
        x = self.attention_residual(x, lambda y: self.attention(y, y, bias))
        out: Tensor = self.feed_forward_residual(x, self.feed_forward)
        return out


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, then a feed-forward layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = make_attention(config)
        self.cross_attention = make_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.self_residual = Residual(config)
        self.cross_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, x: Tensor, memory: Tensor, source_bias: Tensor | None) -> Tensor:
        """All target positions at once: x (B, T, D), memory (B, S, D) -> (B, T, D)."""
        x = self.self_residual(x, lambda y: self.self_attention(y, y, None, is_causal=True))
        x = self.cross_residual(x, lambda y: self.cross_attention(y, memory, source_bias))
        out: Tensor = self.feed_forward_residual(x, self.feed_forward)
        return out

    def step(
        self, x: Tensor, cache: LayerCache | None, source: SourceKeysValues
    ) -> tuple[Tensor, LayerCache]:
        """One more target position: x (N, 1, D) -> (N, 1, D) and the cache with it added."""
        grown: list[LayerCache] = []

        def attend_to_past(y: Tensor) -> Tensor:
            key, value = self.self_attention.project_key_value(y)
            past = LayerCache.grow(cache, key, value)
            grown.append(past)
            query = self.self_attention.project_query(y)
            return self.self_attention.combine(query, past.key, past.value, None)

        def attend_to_source(y: Tensor) -> Tensor:
            # (N, 1, D) -> (B, K, D): the K rows of a sentence are queries to the same keys.
            grouped = source.group_rows(y)
            query = self.cross_attention.project_query(grouped)
            out = self.cross_attention.combine(query, source.key, source.value, source.bias)
            return out.reshape(y.shape)

        x = self.self_residual(x, attend_to_past)
        x = self.cross_residual(x, attend_to_source)
        x = self.feed_forward_residual(x, self.feed_forward)
        return x, grown[0]
