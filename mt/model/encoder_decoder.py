"""The encoder-decoder Transformer (Vaswani et al. 2017).

`forward` computes all target positions at once, for training and for scores. Search goes one
position at a time with a cache, by a `SearchModel` of the same weights (`mt.model.search_model`).

Shapes: B sentences, S source positions, T target positions, N rows, D model width, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.config import ModelConfig
from mt.model.dropout import Dropout
from mt.model.initialise import initialise, scale_by_depth
from mt.model.layers import DecoderLayer, EncoderLayer, make_norm
from mt.model.positions import Positions, make_positions


class EncoderDecoder(nn.Module):
    """A Transformer from `source_vocab` symbols to `target_vocab` symbols."""

    def __init__(self, config: ModelConfig, *, source_vocab: int, target_vocab: int) -> None:
        super().__init__()
        if config.tied == "all" and source_vocab != target_vocab:
            raise ValueError(
                f"embeddings tied over both sides need equal vocabularies, "
                f"but they are {source_vocab} and {target_vocab}"
            )
        self.config = config
        self.target_embedding = nn.Embedding(target_vocab, config.d_model)
        if config.tied == "all":
            self.source_embedding = self.target_embedding
        else:
            self.source_embedding = nn.Embedding(source_vocab, config.d_model)
        self.source_positions = make_positions(config)
        self.target_positions = make_positions(config)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        is_pre = config.norm == "pre"
        self.encoder_norm = make_norm(config) if is_pre else nn.Identity()
        self.decoder_norm = make_norm(config) if is_pre else nn.Identity()
        self.dropout = Dropout(config.dropout)
        if config.tied == "none":
            self.output = nn.Embedding(target_vocab, config.d_model)
        else:
            self.output = self.target_embedding
        initialise(self)
        if config.initialisation == "depth":
            for stack in (self.encoder, self.decoder):
                scale_by_depth(stack)

    @property
    def output_weight(self) -> Tensor:
        """The matrix (V, D) that turns a hidden vector into logits."""
        return self.output.weight

    @property
    def longest(self) -> int | None:
        """The longest sequence the model can take, or None where there is no bound."""
        return self.config.max_positions if self.config.positions == "learned" else None

    def encode(self, source: Tensor, bias: Tensor | None) -> Tensor:
        """Source (B, S) token ids -> memory (B, S, D)."""
        x, places = self._embedded(source, self.source_embedding, self.source_positions)
        for layer in self.encoder:
            x = layer(x, bias, places)
        out: Tensor = self.encoder_norm(x)
        return out

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Hidden vectors (B, T, D) for all target positions; position t sees target[:, :t+1].

        source (B, S) and target (B, T) are token ids, the target beginning with the start
        symbol; source_mask (B, S) is True at tokens and False at padding. Logits are
        `hidden @ output_weight.T`.
        """
        source_bias = padding_bias(source_mask)
        memory = self.encode(source, source_bias)
        x, places = self._embedded(target, self.target_embedding, self.target_positions)
        for layer in self.decoder:
            x = layer(x, memory, source_bias, places)
        out: Tensor = self.decoder_norm(x)
        return out

    def forward_with_attention(
        self, source: Tensor, source_mask: Tensor, target: Tensor, *, layers: Collection[int]
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """As `forward`, and how the positions of the target attend to the source.

        Gives the hidden vectors (B, T, D) and, for each of `layers` of the decoder, counted from 0,
        its weights (B, T, S), the mean over heads. Raises ValueError for a layer that is not there.
        """
        missing = [number for number in layers if not 0 <= number < len(self.decoder)]
        if missing:
            raise ValueError(f"the decoder has {len(self.decoder)} layers, none is {missing[0]}")
        source_bias = padding_bias(source_mask)
        memory = self.encode(source, source_bias)
        x, places = self._embedded(target, self.target_embedding, self.target_positions)
        weights: dict[int, Tensor] = {}
        for number, layer in enumerate(self.decoder):
            if number in layers:
                x, weights[number] = layer.forward_with_attention(  # type: ignore[operator]
                    x, memory, source_bias, places
                )
            else:
                x = layer(x, memory, source_bias, places)
        out: Tensor = self.decoder_norm(x)
        return out, weights

    def project(self, hidden: Tensor) -> Tensor:
        """Hidden vectors (N, D) -> logits (N, V)."""
        return functional.linear(hidden, self.output_weight)

    def _embedded(
        self, tokens: Tensor, embedding: nn.Embedding, positions: Positions
    ) -> tuple[Tensor, Tensor | None]:
        """Tokens (B, T) -> (B, T, D), and what self-attention is to know of their places."""
        x = embedding(tokens) * math.sqrt(self.config.d_model)
        places: Tensor = positions(tokens.size(1))
        if positions.is_added:
            return self.dropout(x + places), None
        return self.dropout(x), places


def padding_bias(mask: Tensor) -> Tensor:
    """Mask (B, S), True at tokens -> attention bias (B, 1, 1, S): 0 at tokens, else -inf."""
    bias = torch.zeros(mask.shape, dtype=torch.float32, device=mask.device)
    return bias.masked_fill_(~mask, -math.inf)[:, None, None, :]


def count_parameters(model: nn.Module) -> int:
    """Trainable numbers, tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())
