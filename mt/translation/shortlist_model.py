"""A step model whose vocabulary is, for each sentence, its own shortlist.

What search takes for symbols are places in the list of the sentence. The product that gives logits
is made for the union of the lists of all sentences at hand; then each takes its own out of it,
whoever its company is.

Shapes: B sentences, K rows a sentence, N = B * K rows, C candidates of the longest list, U union of
the lists, V target vocabulary, D model width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.linear import Product
from mt.model.inference.search_model import SearchModel
from mt.search.sentence import Symbols
from mt.text.tokenizer import PAD
from mt.translation.shortlist import END_AT, START_AT, Shortlist

SYMBOLS = Symbols(start=START_AT, end=END_AT, forbidden=(START_AT,))


@dataclass(frozen=True, kw_only=True)
class ShortlistState:
    """What the decoder remembers of N rows, and the candidates of their sentences."""

    model: SearchModel
    inner: DecoderState
    lists: Tensor
    """(B, C) token ids; behind shorter ones, padding symbols."""
    places: Tensor
    """(B, C) where they stand in the union."""
    bias: Tensor
    """(B, 1, C) 0 at candidates, -inf behind them."""
    project: Product
    """Hidden vectors (N, D) -> logits of the union (N, U)."""

    @staticmethod
    def of(model: SearchModel, inner: DecoderState, lists: Tensor) -> ShortlistState:
        """With the union of `lists` (B, C)."""
        is_there = torch.zeros(model.output_weight.size(0), dtype=torch.bool, device=lists.device)
        is_there[lists] = True
        place = is_there.cumsum(0) - 1
        bias = torch.zeros(lists.shape, device=lists.device).masked_fill_(lists == PAD, -math.inf)
        return ShortlistState(
            model=model,
            inner=inner,
            lists=lists,
            places=place[lists],
            bias=bias[:, None],
            project=model.projection_to(is_there.nonzero().flatten()),
        )

    def select(self, rows: Tensor) -> ShortlistState:
        """Keep the given rows, as in `DecoderState.select`; the union stays what it was."""
        inner = self.inner.select(rows)
        lists, places, bias = self.lists, self.places, self.bias
        if rows.dim() == 1 or rows.size(0) != lists.size(0):
            first = rows if rows.dim() == 1 else rows[:, 0]
            kept = torch.div(first, self.inner.rows_per_sentence, rounding_mode="floor")
            lists, places, bias = lists[kept], places[kept], bias[kept]
        return ShortlistState(
            model=self.model,
            inner=inner,
            lists=lists,
            places=places,
            bias=bias,
            project=self.project,
        )

    def joined(self, other: ShortlistState) -> ShortlistState:
        """With the sentences of `other` behind its own, and the union of all that are there."""
        length = max(self.lists.size(1), other.lists.size(1))
        lists = [
            functional.pad(each.lists, (0, length - each.lists.size(1)), value=PAD)
            for each in (self, other)
        ]
        return ShortlistState.of(self.model, self.inner.joined(other.inner), torch.cat(lists))


class ShortlistModel:
    """Steps of `model` over shortlists, for search; see `mt.search.step.StepModel`."""

    def __init__(self, model: SearchModel, shortlist: Shortlist) -> None:
        self.model = model
        self.shortlist = shortlist

    def start(self, source: Tensor, source_mask: Tensor) -> ShortlistState:
        """Encode source (B, S), an end symbol last, and find the candidates of each sentence."""
        lengths = source_mask.sum(dim=1).tolist()
        found = [
            torch.from_numpy(self.shortlist.candidates(tokens[: length - 1]))
            for tokens, length in zip(source.tolist(), lengths, strict=True)
        ]
        lists = nn.utils.rnn.pad_sequence(found, batch_first=True, padding_value=PAD)
        inner = self.model.start(source, source_mask)
        return ShortlistState.of(self.model, inner, lists.long().to(source.device))

    def step(self, tokens: Tensor, state: ShortlistState) -> tuple[Tensor, ShortlistState]:
        """Feed a candidate of each row, tokens (N,); give the logits (N, C) of the next."""
        rows = state.inner.rows_per_sentence
        ids = state.lists.gather(1, tokens.view(-1, rows)).flatten()
        hidden, inner = self.model.step_hidden(ids, state.inner)
        size, length = state.lists.shape
        # (N, U) -> (B, K, C)
        union = state.project(hidden).view(size, rows, -1)
        logits = union.gather(2, state.places[:, None].expand(-1, rows, -1)) + state.bias
        return logits.view(-1, length), ShortlistState(**{**state.__dict__, "inner": inner})
