"""A model arranged for search: sources at once, then one target position at a time with a cache.

The weights are those of a `TranslationModel` and the numbers the same, to rounding; what is made
anew is made once: queries, keys and values of a layer by one product, the keys and values of the
source for all layers by one, 1 / sqrt(E) within the weights of queries. There is no dropout and no
gradient.

Shapes: B sentences, K rows a sentence, N = B * K rows, S source positions, L target positions so
far, D model width, H heads, E head width, V vocabulary. Rows of products lie flat, (N, D).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from mt.model.decoder_only import DecoderOnly
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.attention import Offsets, PositionInput
from mt.model.inference.encode import DecoderOnlyPrefill, EncoderPrefill, Prefill
from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.layers import SearchDecoderLayer, SearchEncoderLayer, make_norm
from mt.model.inference.linear import Products, make_product
from mt.model.layers import DecoderLayer, EncoderLayer
from mt.model.positions import RelativePositions
from mt.model.translation_model import TranslationModel


class SearchModel:
    """A model for `mt.search`; later changes of the weights of `model` may or may not reach it."""

    def __init__(self, model: TranslationModel, products: Products = "as trained") -> None:
        """Arrange `model`, where it is. Raises ConfigError for products that are not to be had."""
        self.config = model.config
        self._embedding = model.target_embedding.weight.detach()
        self._scale = model.embedding_scale
        self._prefill: Prefill
        self._layers: Sequence[SearchDecoderLayer | SearchEncoderLayer]
        if isinstance(model, DecoderOnly):
            layers = [SearchEncoderLayer(cast(EncoderLayer, x), products) for x in model.decoder]
            self._prefill, self._layers = DecoderOnlyPrefill(model, layers), layers
            self._positions = model.positions
        else:
            assert isinstance(model, EncoderDecoder)
            self._prefill = EncoderPrefill(model, products)
            self._layers = [
                SearchDecoderLayer(cast(DecoderLayer, x), products) for x in model.decoder
            ]
            self._positions = model.target_positions
        self._norm = make_norm(model.decoder_norm)
        self.output_weight = model.output_weight.detach()
        self.project = make_product(self.output_weight, model.output_bias, products)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.output_weight.device

    def start(self, source: Tensor, source_mask: Tensor) -> DecoderState:
        """Read source (B, S), mask (B, S) True at tokens: the state before the first step.

        It has one row a sentence.
        """
        return self._prefill(source, source_mask)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Feed one token a row, tokens (N,); give logits (N, V) for the next, and the new state."""
        rows = state.rows_per_sentence
        positions = self._positions
        x = functional.embedding(tokens.view(-1, rows), self._embedding)
        if self.config.zero_start:
            x = x * (state.position > 0)[:, None, None]
        after = state.grown()
        past = after.past_bias()
        for_attention: PositionInput = None
        if isinstance(positions, RelativePositions):
            x = x * self._scale
            for_attention = _offsets_of_slots(positions, after, past.size(3))
        else:
            table = positions.at(state.position, state.longest)
            if positions.is_added:
                x = torch.add(table[:, None], x, alpha=self._scale)
            else:
                x = x * self._scale
                for_attention = self._layers[0].located(table[:, None])
        x = x.view(tokens.size(0), -1)
        for number, layer in enumerate(self._layers):
            x = layer.step(x, number, after, past, for_attention)
        return self.project(self._norm(x)), after


def _offsets_of_slots(positions: RelativePositions, state: DecoderState, width: int) -> Offsets:
    """How far before the newest token of each sentence its slots, padded to `width`, stand."""
    assert state.slot_positions is not None
    table, zero = positions.around(state.longest)
    # The newest token of a sentence has as many before it as were fed, less itself.
    offset = (state.position[:, None] - 1) - state.slot_positions  # (B, L)
    index = (state.longest - 1) - offset
    return Offsets(
        table=table,
        rows=slice(zero + 1 - state.longest, zero + 1),
        index=functional.pad(index, (0, width - index.size(1)))[:, None, None],
    )
