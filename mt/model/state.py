"""What a decoder remembers between steps: the cache, passed and returned, never hidden.

Shapes: B sentences, K rows a sentence, N = B * K rows, T target positions so far, S source
positions, D model width, H heads, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class LayerCache:
    """Keys and values of the target positions so far, for one layer; each (N, H, T, E)."""

    key: Tensor
    value: Tensor

    @staticmethod
    def grow(cache: LayerCache | None, key: Tensor, value: Tensor) -> LayerCache:
        """Add the key and value (N, H, 1, E) of one more position."""
        if cache is None:
            return LayerCache(key=key, value=value)
        return LayerCache(
            key=torch.cat((cache.key, key), dim=2), value=torch.cat((cache.value, value), dim=2)
        )

    def select(self, rows: Tensor) -> LayerCache:
        """Keep the given rows, in the given order."""
        return LayerCache(
            key=self.key.index_select(0, rows), value=self.value.index_select(0, rows)
        )


@dataclass(frozen=True, kw_only=True)
class SourceKeysValues:
    """Keys and values of the source for one layer, computed once; each (B, H, S, E)."""

    key: Tensor
    value: Tensor
    bias: Tensor
    """(B, 1, 1, S): 0 at tokens, -inf at padding."""

    def group_rows(self, x: Tensor) -> Tensor:
        """(N, 1, D) -> (B, K, D): the rows of a sentence side by side."""
        return x.view(self.key.size(0), -1, x.size(-1))

    def select(self, sentences: Tensor) -> SourceKeysValues:
        """Keep the given sentences, in the given order."""
        return SourceKeysValues(
            key=self.key.index_select(0, sentences),
            value=self.value.index_select(0, sentences),
            bias=self.bias.index_select(0, sentences),
        )


@dataclass(frozen=True, kw_only=True)
class DecoderState:
    """The state of N rows after some steps of an encoder-decoder.

    The K rows of a sentence stand together, so that they share the keys and values of its
    source, which are neither copied nor reordered while the beam moves.
    """

    position: int
    """Target positions fed so far (T)."""
    caches: tuple[LayerCache | None, ...]
    """One a layer; None before the first step."""
    sources: tuple[SourceKeysValues, ...]
    rows_per_sentence: int
    """K."""

    def select(self, rows: Tensor) -> DecoderState:
        """Keep the given rows (N',) in the given order: expand, reorder or drop.

        Raises IndexError for a row that does not exist.
        """
        caches = tuple(None if cache is None else cache.select(rows) for cache in self.caches)
        sentence = torch.div(rows, self.rows_per_sentence, rounding_mode="floor")
        kept, counts = torch.unique_consecutive(sentence, return_counts=True)
        per_sentence = int(counts[0]) if counts.numel() else 1
        if not bool((counts == per_sentence).all()):
            # No common K: every row gets a source of its own.
            kept, per_sentence = sentence, 1
        sources = self.sources
        num_sentences = sources[0].key.size(0)
        same = torch.arange(num_sentences, device=rows.device)
        if not torch.equal(kept, same):
            sources = tuple(source.select(kept) for source in sources)
        return DecoderState(
            position=self.position,
            caches=caches,
            sources=sources,
            rows_per_sentence=per_sentence,
        )
