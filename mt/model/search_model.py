"""A model arranged for search: sources at once, then one target position at a time with a cache.

The weights are those of an `EncoderDecoder` and the numbers are the same, to rounding; what is made
anew is made once: queries, keys and values of a layer by one product, the keys and values of the
source for all layers by one, 1 / sqrt(E) within the weights of queries. There is no dropout and no
gradient.

Shapes: B sentences, K rows a sentence, N = B * K rows, S source positions, L target positions so
far, D model width, H heads, E head width, V vocabulary. Rows of products lie flat, (N, D).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.model.attention import MultiHeadAttention
from mt.model.device import has_fast_bfloat16
from mt.model.encoder_decoder import EncoderDecoder, padding_bias
from mt.model.feed_forward import FeedForward
from mt.model.layers import DecoderLayer, EncoderLayer, Residual
from mt.model.products import Product, Products, make_product
from mt.model.state import DecoderState, SlotCache, SourceMemory, whole_vectors

_Rows = Callable[[Tensor], Tensor]


class SearchModel:
    """A model for `mt.search`; later changes of the weights of `model` may or may not reach it."""

    def __init__(self, model: EncoderDecoder, products: Products = "as trained") -> None:
        """Arrange `model`, where it is. Raises ConfigError for products that are not to be had."""
        self.config = model.config
        self.kind = products
        self._source_embedding = model.source_embedding.weight.detach()
        self._target_embedding = model.target_embedding.weight.detach()
        self._source_positions = model.source_positions
        self._target_positions = model.target_positions
        self._scale = math.sqrt(model.config.d_model)
        encoder = [cast(EncoderLayer, layer) for layer in model.encoder]
        decoder = [cast(DecoderLayer, layer) for layer in model.decoder]
        self._encoder = [_EncoderLayer(layer, products) for layer in encoder]
        self._encoder_norm = _norm(model.encoder_norm)
        self._decoder = [_DecoderLayer(layer, products) for layer in decoder]
        self._decoder_norm = _norm(model.decoder_norm)
        crossing = [layer.cross_attention for layer in decoder]
        self._source_keys_values = make_product(
            torch.cat([_by_heads(each, each.key_value.weight.detach()) for each in crossing]),
            torch.cat([_by_heads(each, each.key_value.bias.detach()) for each in crossing]),
            products,
        )
        self.output_weight = model.output_weight.detach()
        self.project = make_product(self.output_weight, None, products)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.output_weight.device

    def start(self, source: Tensor, source_mask: Tensor) -> DecoderState:
        """Encode source (B, S), mask (B, S) True at tokens: the state before the first step.

        It has one row a sentence.
        """
        size, length = source.shape
        heads = self.config.heads
        bias = functional.pad(
            padding_bias(source_mask), (0, whole_vectors(length) - length), value=-math.inf
        )
        x = functional.embedding(source, self._source_embedding)
        x = torch.add(self._source_positions(length), x, alpha=self._scale).view(size * length, -1)
        for layer in self._encoder:
            x = layer(x, bias)
        both = self._source_keys_values(self._encoder_norm(x))
        # (B S, Y H 2E) -> (Y, B, H, S, 2 E)
        both = both.view(size, length, len(self._decoder), heads, -1).permute(2, 0, 3, 1, 4)
        keys_values = functional.pad(both, (0, 0, 0, bias.size(3) - length))
        return DecoderState(
            position=torch.zeros(size, dtype=torch.long, device=source.device),
            longest=0,
            past=bias.new_empty(size, 1, 0),
            cache=SlotCache.empty(
                len(self._decoder), size, heads, self.config.d_model // heads, like=keys_values
            ),
            source=SourceMemory(keys_values=keys_values, bias=bias),
        )

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Feed one token a row, tokens (N,); give logits (N, V) for the next, and the new state."""
        hidden, after = self.step_hidden(tokens, state)
        return self.project(hidden), after

    def step_hidden(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """As `step`, but the hidden vectors (N, D) that the logits are made of."""
        rows = state.rows_per_sentence
        positions = self._target_positions.at(state.position, state.longest)
        x = functional.embedding(tokens.view(-1, rows), self._target_embedding)
        x = torch.add(positions[:, None], x, alpha=self._scale).view(tokens.size(0), -1)
        after = state.grown()
        past = after.past_bias()
        for number, layer in enumerate(self._decoder):
            x = layer(x, number, after, past)
        return self._decoder_norm(x), after

    def projection_to(self, symbols: Tensor) -> Product:
        """As `project`, for some symbols (U) alone: hidden vectors (N, D) -> logits (N, U).

        Packing rows for 8 bits takes longer than it gains over bfloat16 (docs/log.md).
        """
        kind = self.kind
        if kind == "int8" and has_fast_bfloat16(self.device):
            kind = "bfloat16"
        return make_product(self.output_weight.index_select(0, symbols), None, kind)


class _EncoderLayer:
    """Bidirectional self-attention, then a feed-forward layer, on rows (B S, D)."""

    def __init__(self, layer: EncoderLayer, products: Products) -> None:
        self._attention = _SelfAttention(layer.attention, products)
        self._attention_residual = _Residual(layer.attention_residual)
        self._feed_forward = _feed_forward(layer.feed_forward, products)
        self._feed_forward_residual = _Residual(layer.feed_forward_residual)

    def __call__(self, x: Tensor, bias: Tensor) -> Tensor:
        """X (B S, D), bias (B, 1, 1, W) -> (B S, D)."""

        def attend(y: Tensor) -> Tensor:
            query, key_value = self._attention.project(y, bias.size(0))
            missing = bias.size(3) - key_value.size(2)
            return self._attention.output(
                query, functional.pad(key_value, (0, 0, 0, missing)), bias
            )

        x = self._attention_residual(x, attend)
        return self._feed_forward_residual(x, self._feed_forward)


class _DecoderLayer:
    """Attention to the past and to the source, then a feed-forward layer, on rows (N, D)."""

    def __init__(self, layer: DecoderLayer, products: Products) -> None:
        self._attention = _SelfAttention(layer.self_attention, products)
        self._crossing = _CrossAttention(layer.cross_attention, products)
        self._feed_forward = _feed_forward(layer.feed_forward, products)
        self._self_residual = _Residual(layer.self_residual)
        self._cross_residual = _Residual(layer.cross_residual)
        self._feed_forward_residual = _Residual(layer.feed_forward_residual)

    def __call__(self, x: Tensor, number: int, state: DecoderState, past: Tensor) -> Tensor:
        """X (N, D) -> (N, D); writes the newest slots of layer `number` of the cache."""
        size = past.size(0)
        source = state.source

        def attend_to_past(y: Tensor) -> Tensor:
            query, key_value = self._attention.project(y, size)
            return self._attention.output(query, state.cache.written(number, key_value), past)

        def attend_to_source(y: Tensor) -> Tensor:
            return self._crossing(y, source.keys_values[number], source.bias)

        x = self._self_residual(x, attend_to_past)
        x = self._cross_residual(x, attend_to_source)
        return self._feed_forward_residual(x, self._feed_forward)


class _SelfAttention:
    """Queries, keys and values by one product; the keys and values of a head side by side."""

    def __init__(self, attention: MultiHeadAttention, products: Products) -> None:
        self.heads = attention.heads
        query_weight, query_bias = _scaled_query(attention)
        both = attention.key_value
        self._project = make_product(
            torch.cat((query_weight, _by_heads(attention, both.weight.detach()))),
            torch.cat((query_bias, _by_heads(attention, both.bias.detach()))),
            products,
        )
        self._output = make_product(attention.output.weight, attention.output.bias, products)

    def project(self, x: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """Rows (B T, D) -> queries (B, H, T, E), keys and values (B, H, T, 2 E)."""
        width = x.size(1)
        length, head = x.size(0) // size, width // self.heads
        rows = self._project(x)
        query = rows[:, :width].view(size, length, self.heads, head)
        key_value = rows[:, width:].view(size, length, self.heads, 2 * head)
        return query.transpose(1, 2), key_value.transpose(1, 2)

    def output(self, query: Tensor, key_value: Tensor, bias: Tensor) -> Tensor:
        """Attend and project: (B, H, T, E), (B, H, S, 2 E), (B, 1, 1 or T, S) -> (B T, D)."""
        return self._output(_attend(query, key_value, bias))


class _CrossAttention:
    """Attention to keys and values that were computed once."""

    def __init__(self, attention: MultiHeadAttention, products: Products) -> None:
        self.heads = attention.heads
        self._query = make_product(*_scaled_query(attention), products)
        self._output = make_product(attention.output.weight, attention.output.bias, products)

    def __call__(self, x: Tensor, key_value: Tensor, bias: Tensor) -> Tensor:
        """X (N, D), key_value (B, H, S, 2 E), bias (B, 1, 1, S) -> (N, D)."""
        query = self._query(x).view(key_value.size(0), -1, self.heads, x.size(1) // self.heads)
        return self._output(_attend(query.transpose(1, 2), key_value, bias))


def _attend(query: Tensor, key_value: Tensor, bias: Tensor) -> Tensor:
    """softmax(Q K^T + bias) V with scaled queries; heads side by side, (B T, D)."""
    size, heads, length, width = query.shape
    key, value = key_value[..., :width], key_value[..., width:]
    if query.device.type == "cpu":
        scores = torch.matmul(query, key.transpose(2, 3)).add_(bias)
        out = torch.matmul(torch.softmax(scores, dim=3), value)
    else:
        mask = bias.to(query.dtype).expand(-1, -1, length, -1)
        out = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
    return out.transpose(1, 2).reshape(size * length, heads * width)


def _scaled_query(attention: MultiHeadAttention) -> tuple[Tensor, Tensor]:
    """Weight and bias of the queries over sqrt(E)."""
    query = attention.query
    scale = 1.0 / math.sqrt(query.out_features // attention.heads)
    return query.weight.detach() * scale, query.bias.detach() * scale


def _by_heads(attention: MultiHeadAttention, x: Tensor) -> Tensor:
    """Rows of the product for keys and values, (2 H E, …), with those of a head together."""
    both = x.view(2, attention.heads, -1, *x.shape[1:])
    return both.transpose(0, 1).flatten(0, 2)


class _Residual:
    """One sublayer around the residual stream, as `mt.model.layers.Residual`."""

    def __init__(self, residual: Residual) -> None:
        self._is_pre = residual.is_pre
        self._norm = _norm(residual.norm)

    def __call__(self, x: Tensor, sublayer: _Rows) -> Tensor:
        if self._is_pre:
            return x + sublayer(self._norm(x))
        return self._norm(x + sublayer(x))


def _norm(norm: nn.Module) -> _Rows:
    """Layer normalisation, or nothing."""
    if isinstance(norm, nn.Identity):
        return lambda x: x
    assert isinstance(norm, nn.LayerNorm)
    shape, weight, bias, eps = (
        norm.normalized_shape,
        norm.weight.detach(),
        norm.bias.detach(),
        norm.eps,
    )
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def _feed_forward(layer: FeedForward, products: Products) -> _Rows:
    """W2 f(W1 x + b1) + b2."""
    inner = make_product(layer.inner.weight, layer.inner.bias, products)
    outer = make_product(layer.outer.weight, layer.outer.bias, products)
    if isinstance(layer.activation, nn.ReLU):
        return lambda x: outer(inner(x).relu_())
    activation = layer.activation
    return lambda x: outer(activation(inner(x)))
