"""The encoder-decoder Transformer (Vaswani et al. 2017).

Shapes: B sentences, S source positions, T target positions, D model width.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torch import Tensor, nn
from torch.nn import functional

from mt.config import ModelConfig
from mt.model.layers import DecoderLayer, EncoderLayer, make_norm
from mt.model.positions import Positions, make_positions
from mt.model.translation_model import TranslationModel, padding_bias


class EncoderDecoder(TranslationModel):
    """One stack reads the source, another predicts the target and attends to the first."""

    def __init__(self, config: ModelConfig, *, source_vocab: int, target_vocab: int) -> None:
        super().__init__(config, source_vocab=source_vocab, target_vocab=target_vocab)
        self.source_positions = make_positions(config)
        self.target_positions = make_positions(config)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        is_pre = config.norm == "pre"
        self.encoder_norm = make_norm(config) if is_pre else nn.Identity()
        self.decoder_norm = make_norm(config) if is_pre else nn.Identity()
        self._complete(self.encoder, self.decoder)

    def layers(self) -> Iterator[nn.Module]:
        """Those of the encoder, then those of the decoder."""
        yield from self.encoder
        yield from self.decoder

    def encode(self, source: Tensor, bias: Tensor | None) -> Tensor:
        """Source (B, S) token ids -> memory (B, S, D)."""
        x = self._scaled(source, self.source_embedding)
        x, encodings = self._with_positions(x, self.source_positions)
        for layer in self.encoder:
            x = layer(x, bias, encodings)
        out: Tensor = self.encoder_norm(x)
        return out

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """As in `TranslationModel`."""
        source_bias = padding_bias(source_mask)
        memory = self.encode(source, source_bias)
        x, encodings = self._embedded_target(target)
        for layer in self.decoder:
            x = layer(x, memory, source_bias, encodings)
        out: Tensor = self.decoder_norm(x)
        return out

    def forward_with_attention(
        self, source: Tensor, source_mask: Tensor, target: Tensor, *, layers: Collection[int]
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """As in `TranslationModel`; the weights are those of cross-attention."""
        self._check_layers(layers)
        source_bias = padding_bias(source_mask)
        memory = self.encode(source, source_bias)
        x, encodings = self._embedded_target(target)
        weights: dict[int, Tensor] = {}
        for number, layer in enumerate(self.decoder):
            if number in layers:
                x, weights[number] = layer.forward_with_attention(  # type: ignore[operator]
                    x, memory, source_bias, encodings
                )
            else:
                x = layer(x, memory, source_bias, encodings)
        out: Tensor = self.decoder_norm(x)
        return out, weights

    def _embedded_target(self, target: Tensor) -> tuple[Tensor, Tensor | None]:
        """Target (B, T) -> (B, T, D), and what self-attention is to know of its positions."""
        x = self._scaled(target, self.target_embedding)
        if self.config.zero_start:
            x = functional.pad(x[:, 1:], (0, 0, 1, 0))
        return self._with_positions(x, self.target_positions)

    def _with_positions(self, x: Tensor, positions: Positions) -> tuple[Tensor, Tensor | None]:
        """Embeddings (B, T, D) and positions that are added, or those for self-attention."""
        encodings: Tensor = positions(x.size(1))
        if positions.is_added:
            return self.dropout(x + encodings), None
        return self.dropout(x), encodings
