"""What training, scoring and search ask of a model, whichever its architecture.

Shapes: B sentences, S source positions, T target positions, N rows, D model width, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.config import ModelConfig
from mt.model.dropout import Dropout
from mt.model.initialise import initialise, scale_by_depth


class TranslationModel(nn.Module):
    """A Transformer from `source_vocab` symbols to `target_vocab` symbols.

    `forward` computes all target positions at once, for training and for scores. Search goes one
    position at a time with a cache, by a `SearchModel` of the same weights
    (`mt.model.inference.search_model`).
    """

    decoder: nn.ModuleList
    """The stack whose last layer predicts the target."""
    decoder_norm: nn.Module

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

    def _complete(self, *stacks: nn.ModuleList) -> None:
        """Add what comes after the layers, and draw the first weights of all."""
        config = self.config
        self.dropout = Dropout(config.dropout)
        if config.tied == "none":
            self.output = nn.Embedding(self.target_embedding.num_embeddings, config.d_model)
        else:
            self.output = self.target_embedding
        self.output_bias: nn.Parameter | None = None
        if config.output_bias:
            self.output_bias = nn.Parameter(torch.zeros(self.target_embedding.num_embeddings))
        initialise(self)
        if config.initialisation == "depth":
            for stack in stacks:
                scale_by_depth(stack)

    def layers(self) -> Iterator[nn.Module]:
        """All layers, in the order in which they compute."""
        raise NotImplementedError

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Hidden vectors (B, T, D) for all target positions; position t sees target[:, :t+1].

        source (B, S) and target (B, T) are token ids, the target beginning with the start
        symbol; source_mask (B, S) is True at tokens and False at padding, which comes behind them.
        Logits are `hidden @ output_weight.T`, plus `output_bias` where there is one.
        """
        raise NotImplementedError

    def forward_with_attention(
        self, source: Tensor, source_mask: Tensor, target: Tensor, *, layers: Collection[int]
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """As `forward`, and how the positions of the target attend to the source.

        Gives the hidden vectors (B, T, D) and, for each of `layers` of the decoder, counted from 0,
        its weights (B, T, S), the mean over heads; each row sums to 1. Raises ValueError for a
        layer that is not there.
        """
        raise NotImplementedError

    @property
    def output_weight(self) -> Tensor:
        """The matrix (V, D) that turns a hidden vector into logits."""
        return self.output.weight

    @property
    def longest(self) -> int | None:
        """The longest side of a pair that the model can take, or None where there is no bound."""
        return self.config.max_positions if self.config.positions == "learned" else None

    def project(self, hidden: Tensor) -> Tensor:
        """Hidden vectors (N, D) -> logits (N, V)."""
        return functional.linear(hidden, self.output_weight, self.output_bias)

    @property
    def embedding_scale(self) -> float:
        """What embeddings are multiplied by: sqrt(D), or 1."""
        return math.sqrt(self.config.d_model) if self.config.scale_embeddings else 1.0

    def _scaled(self, tokens: Tensor, embedding: nn.Embedding) -> Tensor:
        """Tokens (B, T) -> scaled embeddings, (B, T, D)."""
        out: Tensor = embedding(tokens) * self.embedding_scale
        return out

    def _check_layers(self, layers: Collection[int]) -> None:
        missing = [number for number in layers if not 0 <= number < len(self.decoder)]
        if missing:
            raise ValueError(f"the decoder has {len(self.decoder)} layers, none is {missing[0]}")


def padding_bias(mask: Tensor) -> Tensor:
    """Mask (B, S), True at tokens -> attention bias (B, 1, 1, S): 0 at tokens, else -inf."""
    bias = torch.zeros(mask.shape, dtype=torch.float32, device=mask.device)
    return bias.masked_fill_(~mask, -math.inf)[:, None, None, :]


def count_parameters(model: nn.Module) -> int:
    """Trainable numbers, tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())
