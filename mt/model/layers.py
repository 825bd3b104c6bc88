"""Encoder and decoder layers: sublayers with residual connections and normalisation.

Pre-norm is x + f(LN(x)) (Xiong et al. 2020), post-norm LN(x + f(x)) (Vaswani et al. 2017).
Shapes: B batch, T target positions, S source positions, D model width.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from mt.config import ModelConfig
from mt.model.attention import MultiHeadAttention
from mt.model.dropout import Dropout
from mt.model.feed_forward import make_feed_forward
from mt.model.relative import RelativeAttention
from mt.model.rotary import RotaryAttention


def make_norm(config: ModelConfig) -> nn.LayerNorm | nn.RMSNorm:
    """The normalisation that `config.norm_kind` names.

    LayerNorm is g (x - mean) / sqrt(variance + eps) + b (Ba et al. 2016), RMSNorm
    g x / sqrt(mean of squares + eps) (Zhang and Sennrich 2019).
    """
    if config.norm_kind == "rmsnorm":
        return nn.RMSNorm(config.d_model, eps=config.norm_epsilon)
    return nn.LayerNorm(config.d_model, eps=config.norm_epsilon)


class Residual(nn.Module):
    """One sublayer f around the residual stream, in the order that `norm` names."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.is_pre = config.norm == "pre"
        self.norm = make_norm(config)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        if self.is_pre:
            inner: Tensor = self.dropout(sublayer(self.norm(x)))
            return x + inner
        out: Tensor = self.norm(x + self.dropout(sublayer(x)))
        return out


def make_attention(config: ModelConfig) -> MultiHeadAttention:
    """Attention to another sequence, of the shape that `config` names."""
    return _attention(MultiHeadAttention, config)


def make_self_attention(config: ModelConfig) -> MultiHeadAttention:
    """Attention of a sequence to itself, of the shape and with the positions that `config` names.

    Positions that are added to embeddings are no matter of attention.
    """
    if config.positions == "rotary":
        return _attention(RotaryAttention, config)
    if config.positions == "relative":
        return _attention(RelativeAttention, config)
    return _attention(MultiHeadAttention, config)


def _attention(kind: type[MultiHeadAttention], config: ModelConfig) -> MultiHeadAttention:
    return kind(
        config.d_model,
        config.heads,
        config.attention_dropout,
        key_value_heads=config.key_value_heads,
        biases=config.biases,
    )


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward layer: of an encoder, or of a stack without a source."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = make_self_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.attention_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        bias: Tensor | None,
        encodings: Tensor | None = None,
        *,
        is_causal: bool = False,
    ) -> Tensor:
        """X (B, S, D) -> (B, S, D); what else is given as in `MultiHeadAttention.forward`."""

        def attend(y: Tensor) -> Tensor:
            out: Tensor = self.attention(y, y, bias, encodings=encodings, is_causal=is_causal)
            return out

        x = self.attention_residual(x, attend)
        out: Tensor = self.feed_forward_residual(x, self.feed_forward)
        return out

    def forward_with_attention(
        self, x: Tensor, bias: Tensor | None, encodings: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """As `forward`, and how each position attends to each other, the mean over heads.

        Gives (B, S, D) and (B, S, S).
        """
        weights: list[Tensor] = []

        def attend(y: Tensor) -> Tensor:
            weights.append(self.attention.mean_weights(y, y, bias, encodings=encodings))
            out: Tensor = self.attention(y, y, bias, encodings=encodings)
            return out

        x = self.attention_residual(x, attend)
        return self.feed_forward_residual(x, self.feed_forward), weights[0]


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, then a feed-forward layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = make_self_attention(config)
        self.cross_attention = make_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.self_residual = Residual(config)
        self.cross_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        source_bias: Tensor | None,
        encodings: Tensor | None = None,
    ) -> Tensor:
        """All target positions at once: x (B, T, D), memory (B, S, D) -> (B, T, D).

        `encodings` are those of the target, as in `MultiHeadAttention.forward`.
        """
        x = self._attend_to_past(x, encodings)
        x = self.cross_residual(x, lambda y: self.cross_attention(y, memory, source_bias))
        out: Tensor = self.feed_forward_residual(x, self.feed_forward)
        return out

    def forward_with_attention(
        self,
        x: Tensor,
        memory: Tensor,
        source_bias: Tensor | None,
        encodings: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """As `forward`, and how each position attends to the source, the mean over heads.

        Gives (B, T, D) and (B, T, S).
        """
        weights: list[Tensor] = []

        def attend_to_source(y: Tensor) -> Tensor:
            weights.append(self.cross_attention.mean_weights(y, memory, source_bias))
            out: Tensor = self.cross_attention(y, memory, source_bias)
            return out

        x = self._attend_to_past(x, encodings)
        x = self.cross_residual(x, attend_to_source)
        return self.feed_forward_residual(x, self.feed_forward), weights[0]

    def _attend_to_past(self, x: Tensor, encodings: Tensor | None) -> Tensor:
        def attend(y: Tensor) -> Tensor:
            out: Tensor = self.self_attention(y, y, None, encodings=encodings, is_causal=True)
            return out

        out: Tensor = self.self_residual(x, attend)
        return out
