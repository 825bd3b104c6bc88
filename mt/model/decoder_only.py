"""The decoder-only Transformer: source and target as one stream, as language models have them.

A row of the stream is the source with its end symbol, and at once the target with its start symbol,
which parts them; padding comes last, so that positions are counted through and causal attention
never sees it. With `bidirectional_source` the source tokens see each other, later ones too (a
prefix language model: Liu et al. 2018, Raffel et al. 2020). The loss is that of the target alone.

Shapes: B sentences, S source positions, T target positions, L = S + T positions of the stream, D
model width.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import torch
from torch import Tensor, nn

from mt.config import ModelConfig
from mt.model.attention import causal_bias
from mt.model.layers import EncoderLayer, make_norm
from mt.model.positions import LearnedPositions, make_positions
from mt.model.translation_model import TranslationModel


class DecoderOnly(TranslationModel):
    """One stack reads the source and predicts the target."""

    def __init__(self, config: ModelConfig, *, source_vocab: int, target_vocab: int) -> None:
        super().__init__(config, source_vocab=source_vocab, target_vocab=target_vocab)
        self.positions = make_positions(config, sides=2)
        self.decoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.decoder_layers))
        self.decoder_norm = make_norm(config) if config.norm == "pre" else nn.Identity()
        self._complete(self.decoder)

    def layers(self) -> Iterator[nn.Module]:
        """Those of the only stack."""
        yield from self.decoder

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """As in `TranslationModel`."""
        lengths = source_mask.sum(dim=1)
        x, encodings = self._stream(source, lengths, target)
        is_causal = not self.config.bidirectional_source
        bias = None if is_causal else prefix_bias(lengths, x.size(1))
        for layer in self.decoder:
            x = layer(x, bias, encodings, is_causal=is_causal)
        return self.decoder_norm(_of_targets(x, lengths, target.size(1)))  # type: ignore[no-any-return]

    def forward_with_attention(
        self, source: Tensor, source_mask: Tensor, target: Tensor, *, layers: Collection[int]
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """As in `TranslationModel`; the weights are the share of self-attention on the source."""
        self._check_layers(layers)
        lengths = source_mask.sum(dim=1)
        x, encodings = self._stream(source, lengths, target)
        if self.config.bidirectional_source:
            bias = prefix_bias(lengths, x.size(1))
        else:
            bias = causal_bias(x.size(1), device=x.device)
        weights: dict[int, Tensor] = {}
        for number, layer in enumerate(self.decoder):
            if number not in layers:
                x = layer(x, bias, encodings)
                continue
            x, of_layer = layer.forward_with_attention(x, bias, encodings)  # type: ignore[operator]
            on_source = _of_targets(of_layer, lengths, target.size(1))[..., : source.size(1)]
            on_source = on_source.masked_fill(~source_mask[:, None], 0.0)
            least = torch.finfo(on_source.dtype).tiny
            weights[number] = on_source / on_source.sum(dim=2, keepdim=True).clamp_min(least)
        return self.decoder_norm(_of_targets(x, lengths, target.size(1))), weights

    def _stream(
        self, source: Tensor, lengths: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The embedded stream (B, L, D), and what self-attention is to know of positions."""
        num_source, num_target = source.size(1), target.size(1)
        positions = self.positions
        if isinstance(positions, LearnedPositions):
            positions.check_sides(num_source, num_target)
        both = torch.cat(
            (
                self._scaled(source, self.source_embedding),
                self._scaled(target, self.target_embedding),
            ),
            dim=1,
        )
        position = torch.arange(both.size(1), device=both.device)
        behind = (position - lengths[:, None] + num_source).clamp_max(both.size(1) - 1)
        index = torch.where(position < lengths[:, None], position, behind)
        x = both.gather(1, index[:, :, None].expand_as(both))
        table: Tensor = positions(both.size(1))
        if positions.is_added:
            return self.dropout(x + table), None
        return self.dropout(x), table


def prefix_bias(lengths: Tensor, length: int) -> Tensor:
    """Attention bias (B, 1, L, L): 0 at what a position may see, else -inf.

    It sees itself, what is before it, and all source tokens; lengths (B) is the number of these.
    """
    position = torch.arange(length, device=lengths.device)
    is_source = (position < lengths[:, None])[:, None, None]
    return causal_bias(length, device=lengths.device).masked_fill(is_source, 0.0)


def _of_targets(x: Tensor, lengths: Tensor, num_target: int) -> Tensor:
    """The rows of the stream (B, L, M) that belong to the target: (B, T, M)."""
    index = lengths[:, None] + torch.arange(num_target, device=x.device)
    return x.gather(1, index[:, :, None].expand(-1, -1, x.size(2)))
