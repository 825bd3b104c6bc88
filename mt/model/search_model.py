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
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from mt.model.device import has_fast_bfloat16
from mt.model.encoder_decoder import EncoderDecoder, padding_bias
from mt.model.layers import DecoderLayer, EncoderLayer
from mt.model.positions import RelativePositions
from mt.model.products import Product, Products, make_product
from mt.model.search_attention import Offsets, Places, by_heads
from mt.model.search_layers import SearchDecoderLayer, SearchEncoderLayer, make_norm
from mt.model.state import DecoderState, SlotCache, SourceMemory, whole_vectors


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
        self._encoder = [SearchEncoderLayer(layer, products) for layer in encoder]
        self._encoder_norm = make_norm(model.encoder_norm)
        self._decoder = [SearchDecoderLayer(layer, products) for layer in decoder]
        self._decoder_norm = make_norm(model.decoder_norm)
        crossing = [by_heads(layer.cross_attention) for layer in decoder]
        biases = [bias for _, bias in crossing if bias is not None]
        self._source_keys_values = make_product(
            torch.cat([weight for weight, _ in crossing]),
            torch.cat(biases) if biases else None,
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
        config = self.config
        heads = config.key_value_heads or config.heads
        bias = functional.pad(
            padding_bias(source_mask), (0, whole_vectors(length) - length), value=-math.inf
        )
        x = functional.embedding(source, self._source_embedding)
        positions = self._source_positions
        if positions.is_added:
            x = torch.add(positions(length), x, alpha=self._scale)
        else:
            x = x * self._scale
        x = x.view(size * length, -1)
        places = self._source_places(length, bias.size(3))
        for layer in self._encoder:
            x = layer(x, bias, places)
        both = self._source_keys_values(self._encoder_norm(x))
        # (B S, Y G 2E) -> (Y, B, G, S, 2 E)
        both = both.view(size, length, len(self._decoder), heads, -1).permute(2, 0, 3, 1, 4)
        keys_values = functional.pad(both, (0, 0, 0, bias.size(3) - length))
        return DecoderState(
            position=torch.zeros(size, dtype=torch.long, device=source.device),
            longest=0,
            past=bias.new_empty(size, 1, 0),
            cache=SlotCache.empty(
                len(self._decoder), size, heads, config.d_model // config.heads, like=keys_values
            ),
            places=(
                torch.zeros(size, 0, dtype=torch.long, device=source.device)
                if isinstance(self._target_positions, RelativePositions)
                else None
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
        positions = self._target_positions
        x = functional.embedding(tokens.view(-1, rows), self._target_embedding)
        after = state.grown()
        past = after.past_bias()
        places: Places = None
        if isinstance(positions, RelativePositions):
            x = x * self._scale
            places = _offsets_of_slots(positions, after, past.size(3))
        else:
            table = positions.at(state.position, state.longest)
            if positions.is_added:
                x = torch.add(table[:, None], x, alpha=self._scale)
            else:
                x = x * self._scale
                places = table[:, None, None]
        x = x.view(tokens.size(0), -1)
        for number, layer in enumerate(self._decoder):
            x = layer(x, number, after, past, places)
        return self._decoder_norm(x), after

    def projection_to(self, symbols: Tensor) -> Product:
        """As `project`, for some symbols (U) alone: hidden vectors (N, D) -> logits (N, U).

        Packing rows for 8 bits takes longer than it gains over bfloat16 (docs/log.md).
        """
        kind = self.kind
        if kind == "int8" and has_fast_bfloat16(self.device):
            kind = "bfloat16"
        return make_product(self.output_weight.index_select(0, symbols), None, kind)

    def _source_places(self, length: int, width: int) -> Places:
        """What self-attention of sources of `length` tokens, padded to `width`, is to know."""
        positions = self._source_positions
        if isinstance(positions, RelativePositions):
            table, zero = positions.around(length)
            place = torch.arange(length, device=table.device)
            index = place + (length - 1) - place[:, None]  # (S, S) of the offset i - j
            return Offsets(
                table=table,
                rows=slice(zero + 1 - length, zero + length),
                index=functional.pad(index, (0, width - length))[None, None],
            )
        return None if positions.is_added else positions(length)


def _offsets_of_slots(positions: RelativePositions, state: DecoderState, width: int) -> Offsets:
    """How far before the newest token of each sentence its slots, padded to `width`, stand."""
    assert state.places is not None
    table, zero = positions.around(state.longest)
    # The newest token of a sentence has as many before it as were fed, less itself.
    offset = (state.position[:, None] - 1) - state.places  # (B, L)
    index = (state.longest - 1) - offset
    return Offsets(
        table=table,
        rows=slice(zero + 1 - state.longest, zero + 1),
        index=functional.pad(index, (0, width - index.size(1)))[:, None, None],
    )
