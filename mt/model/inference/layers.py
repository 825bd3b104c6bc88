"""The layers of search: the numbers of `mt.model.layers`, on flat rows and with a cache.

Shapes: B sentences, K rows a sentence, N = B * K rows, S source positions, W slots or source
positions in whole vectors, D model width. Rows lie flat, (B S, D) or (N, D).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.model.feed_forward import FeedForward, GatedFeedForward
from mt.model.inference.attention import (
    CrossAttention,
    PositionInput,
    SelfAttention,
    make_self_attention,
)
from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.linear import Products, make_product
from mt.model.layers import DecoderLayer, EncoderLayer, Residual

Rows = Callable[[Tensor], Tensor]
"""(N, D) -> (N, D)."""


class SearchEncoderLayer:
    """Self-attention, then a feed-forward layer: of an encoder, or of a stack without a source."""

    def __init__(self, layer: EncoderLayer, products: Products) -> None:
        self._attention = make_self_attention(layer.attention, products)
        self._attention_residual = _Residual(layer.attention_residual)
        self._feed_forward = make_feed_forward(layer.feed_forward, products)
        self._feed_forward_residual = _Residual(layer.feed_forward_residual)

    def located(self, positions: PositionInput) -> PositionInput:
        """What this and all like layers take of positions, from what the model has of them."""
        return self._attention.located(positions)

    def read(
        self, x: Tensor, size: int, bias: Tensor, positions: PositionInput
    ) -> tuple[Tensor, Tensor]:
        """All positions of `size` sentences (B) at once: x (B S, D) -> (B S, D).

        bias is (B or 1, 1, 1 or S, W). Gives keys and values (B, G, W, 2 E) as well.
        """
        kept: list[Tensor] = []

        def attend(y: Tensor) -> Tensor:
            query, key_value = self._attention.project(y, size, positions)
            missing = bias.size(3) - key_value.size(2)
            kept.append(functional.pad(key_value, (0, 0, 0, missing)))
            return self._attention.output(query, kept[0], bias, positions)

        x = self._attention_residual(x, attend)
        return self._feed_forward_residual(x, self._feed_forward), kept[0]

    def step(
        self, x: Tensor, number: int, state: DecoderState, past: Tensor, positions: PositionInput
    ) -> Tensor:
        """X (N, D) -> (N, D); writes the newest slots of layer `number` of the cache."""
        attend = _attend_to_past(self._attention, number, state, past, positions)
        x = self._attention_residual(x, attend)
        return self._feed_forward_residual(x, self._feed_forward)


class SearchDecoderLayer:
    """Attention to the past and to the source, then a feed-forward layer, on rows (N, D)."""

    def __init__(self, layer: DecoderLayer, products: Products) -> None:
        self._attention = make_self_attention(layer.self_attention, products)
        self._crossing = CrossAttention(layer.cross_attention, products)
        self._feed_forward = make_feed_forward(layer.feed_forward, products)
        self._self_residual = _Residual(layer.self_residual)
        self._cross_residual = _Residual(layer.cross_residual)
        self._feed_forward_residual = _Residual(layer.feed_forward_residual)

    def located(self, positions: PositionInput) -> PositionInput:
        """What this and all like layers take of positions, from what the model has of them."""
        return self._attention.located(positions)

    def step(
        self, x: Tensor, number: int, state: DecoderState, past: Tensor, positions: PositionInput
    ) -> Tensor:
        """X (N, D) -> (N, D); writes the newest slots of layer `number` of the cache."""
        source = state.source
        assert source is not None

        def attend_to_source(y: Tensor) -> Tensor:
            return self._crossing(y, source.keys_values[number], source.bias)

        x = self._self_residual(x, _attend_to_past(self._attention, number, state, past, positions))
        x = self._cross_residual(x, attend_to_source)
        return self._feed_forward_residual(x, self._feed_forward)


def _attend_to_past(
    attention: SelfAttention,
    number: int,
    state: DecoderState,
    past: Tensor,
    positions: PositionInput,
) -> Rows:
    """Write the newest slots of layer `number`, and attend to all that a row may see."""

    def attend(y: Tensor) -> Tensor:
        query, key_value = attention.project(y, past.size(0), positions)
        slots = state.cache.written(number, key_value)
        return attention.output(query, slots, past, positions)

    return attend


class _Residual:
    """One sublayer around the residual stream, as `mt.model.layers.Residual`."""

    def __init__(self, residual: Residual) -> None:
        self._is_pre = residual.is_pre
        self._norm = make_norm(residual.norm)

    def __call__(self, x: Tensor, sublayer: Rows) -> Tensor:
        if self._is_pre:
            return x + sublayer(self._norm(x))
        return self._norm(x + sublayer(x))


def make_norm(norm: nn.Module) -> Rows:
    """Layer or root mean square normalisation, or nothing."""
    if isinstance(norm, nn.Identity):
        return lambda x: x
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    shape, weight = norm.normalized_shape, norm.weight.detach()
    if isinstance(norm, nn.RMSNorm):
        epsilon = norm.eps
        return lambda x: torch.rms_norm(x, shape, weight, epsilon)
    bias, eps = norm.bias.detach(), norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def make_feed_forward(layer: FeedForward | GatedFeedForward, products: Products) -> Rows:
    """W2 f(W1 x + b1) + b2, or its gated form."""
    inner = make_product(layer.inner.weight, layer.inner.bias, products)
    outer = make_product(layer.outer.weight, layer.outer.bias, products)
    if isinstance(layer, GatedFeedForward):

        def gated(x: Tensor) -> Tensor:
            gate, value = inner(x).chunk(2, dim=1)
            return outer(functional.silu(gate).mul_(value))

        return gated
    if isinstance(layer.activation, nn.ReLU):
        return lambda x: outer(inner(x).relu_())
    activation = layer.activation
    return lambda x: outer(activation(inner(x)))
