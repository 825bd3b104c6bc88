"""How a model arranged for search reads sources: the state before its first step.

Shapes: B sentences, S source positions, W the same in whole vectors, Y layers, G heads of keys and
values, E head width, D model width. Rows of products lie flat, (B S, D).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from mt.model.attention import causal_bias
from mt.model.decoder_only import DecoderOnly
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.attention import Offsets, PositionInput, by_heads
from mt.model.inference.kv_cache import DecoderState, SlotCache, SourceCache, whole_vectors
from mt.model.inference.layers import SearchEncoderLayer, make_norm
from mt.model.inference.linear import Products, make_product
from mt.model.layers import DecoderLayer, EncoderLayer
from mt.model.positions import LearnedPositions, Positions, RelativePositions
from mt.model.translation_model import padding_bias

Prefill = Callable[[Tensor, Tensor], DecoderState]
"""From a source (B, S) and its mask (B, S), True at tokens, to a state of one row a sentence."""


class EncoderPrefill:
    """The stack of an encoder, and the keys and values that the decoder asks of it."""

    def __init__(self, model: EncoderDecoder, products: Products) -> None:
        self._config = model.config
        self._embedding = model.source_embedding.weight.detach()
        self._scale = model.embedding_scale
        self._positions = model.source_positions
        self._relative_target = isinstance(model.target_positions, RelativePositions)
        self._layers = [SearchEncoderLayer(cast(EncoderLayer, x), products) for x in model.encoder]
        self._norm = make_norm(model.encoder_norm)
        crossing = [by_heads(cast(DecoderLayer, x).cross_attention) for x in model.decoder]
        biases = [bias for _, bias in crossing if bias is not None]
        self._depth = len(crossing)
        # Of all layers by one product.
        self._keys_values = make_product(
            torch.cat([weight for weight, _ in crossing]),
            torch.cat(biases) if biases else None,
            products,
        )

    def __call__(self, source: Tensor, source_mask: Tensor) -> DecoderState:
        """As in `Prefill`; no slot is taken."""
        size, length = source.shape
        config = self._config
        heads = config.key_value_heads or config.heads
        bias = _padded(padding_bias(source_mask), whole_vectors(length))
        x = functional.embedding(source, self._embedding)
        x, positions = embedded(x, self._scale, self._positions, bias.size(3))
        positions = self._layers[0].located(positions)
        for layer in self._layers:
            x, _ = layer.read(x, size, bias, positions)
        both = self._keys_values(self._norm(x))
        # (B S, Y G 2E) -> (Y, B, G, S, 2 E)
        both = both.view(size, length, self._depth, heads, -1).permute(2, 0, 3, 1, 4)
        keys_values = functional.pad(both, (0, 0, 0, bias.size(3) - length))
        return DecoderState(
            position=torch.zeros(size, dtype=torch.long, device=source.device),
            longest=0,
            past=bias.new_empty(size, 1, 0),
            cache=SlotCache.empty(
                self._depth, size, heads, config.d_model // config.heads, like=keys_values
            ),
            slot_positions=source.new_zeros(size, 0) if self._relative_target else None,
            source=SourceCache(keys_values=keys_values, bias=bias),
        )


class DecoderOnlyPrefill:
    """The only stack of a decoder-only model, which leaves its source in the slots of the cache."""

    def __init__(self, model: DecoderOnly, layers: Sequence[SearchEncoderLayer]) -> None:
        """`layers` are those by which steps are made, too."""
        self._is_causal = not model.config.bidirectional_source
        self._embedding = model.source_embedding.weight.detach()
        self._scale = model.embedding_scale
        self._positions = model.positions
        self._layers = layers

    def __call__(self, source: Tensor, source_mask: Tensor) -> DecoderState:
        """As in `Prefill`; the tokens of the source are fed already."""
        size, length = source.shape
        if isinstance(self._positions, LearnedPositions):
            self._positions.check_sides(length, 0)
        padding = padding_bias(source_mask)
        bias = padding  # behind the tokens, where causal attention does not look
        if self._is_causal:
            bias = causal_bias(length, device=source.device)[None, None]
        bias = _padded(bias, whole_vectors(length))
        x = functional.embedding(source, self._embedding)
        x, positions = embedded(x, self._scale, self._positions, bias.size(3))
        positions = self._layers[0].located(positions)
        kept: list[Tensor] = []
        for layer in self._layers:
            x, keys_values = layer.read(x, size, bias, positions)
            kept.append(keys_values)
        is_relative = isinstance(self._positions, RelativePositions)
        slot = torch.arange(length, device=source.device)
        return DecoderState(
            position=source_mask.sum(dim=1),
            longest=length,
            past=padding[:, 0],
            cache=SlotCache.of(torch.stack(kept), length),
            # Padding, which none sees, counts as the first position: its offsets stay in the table.
            slot_positions=slot * source_mask if is_relative else None,
            source=None,
        )


def embedded(
    x: Tensor, scale: float, positions: Positions, width: int
) -> tuple[Tensor, PositionInput]:
    """Embeddings (B, S, D), to be multiplied by `scale`, -> rows (B S, D).

    Gives what attention to `width` keys needs of positions as well.
    """
    size, length, _ = x.shape
    for_attention: PositionInput = None
    if isinstance(positions, RelativePositions):
        for_attention = _offsets(positions, length, width)
    elif not positions.is_added:
        for_attention = positions(length)
    rows = torch.add(positions(length), x, alpha=scale) if positions.is_added else x * scale
    return rows.view(size * length, -1), for_attention


def _offsets(positions: RelativePositions, length: int, width: int) -> Offsets:
    """Those of `length` tokens from each other, with room for `width` keys."""
    table, zero = positions.around(length)
    position = torch.arange(length, device=table.device)
    index = position + (length - 1) - position[:, None]  # (S, S) of the offset i - j
    return Offsets(
        table=table,
        rows=slice(zero + 1 - length, zero + length),
        index=_padded(index, width, 0)[None, None],
    )


def _padded(x: Tensor, width: int, value: float = -math.inf) -> Tensor:
    return functional.pad(x, (0, width - x.size(-1)), value=value)
