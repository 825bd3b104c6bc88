"""Floating-point operations of the matrix products of an update, by formula.

A product (m, k) x (k, n) is 2 m k n operations. Forward, for a pair of S source and T target
positions, with D the width, I the inner width, V the vocabulary:

    encoder layer   2 S (4 D^2 + 2 D I)                      + attention 4 S^2 D
    decoder layer   2 T (6 D^2 + 2 D I) + 2 S (2 D^2)        + attention 4 T^2 D + 4 T S D
    logits          2 T D V

The backward pass costs twice the forward one (a gradient for the input and one for the weights),
so that an update costs three times these: the well-known 6 N a token, where each matrix counts for
the tokens that go through it, and embeddings, which are looked up, do not count. Attention of the
decoder is counted whole, though half of it is masked. Norms, softmax and the like are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mt.config import ModelConfig


@dataclass(frozen=True, kw_only=True)
class Operations:
    """Operations of the products of some updates, forward and backward."""

    linear: float
    """Of the linear layers."""
    attention: float
    """Of queries with keys, and of weights with values."""
    logits: float
    """Of the output projection."""

    @property
    def total(self) -> float:
        """All of them."""
        return self.linear + self.attention + self.logits


def training_operations(
    model: ModelConfig,
    *,
    vocabulary: int,
    source: Sequence[int],
    target: Sequence[int],
    num_labels: int,
) -> Operations:
    """Operations of training once on pairs of these lengths.

    Lengths with end symbols, padded or not: with padding it is what is computed, without it what
    is of use. `num_labels` tokens are projected to the vocabulary.
    """
    s = np.asarray(source, dtype=np.float64)
    t = np.asarray(target, dtype=np.float64)
    d, inner = model.d_model, model.d_inner
    if model.architecture == "decoder-only":
        stream = s + t
        layer = 2 * stream.sum() * (4 * d * d + 2 * d * inner)
        return Operations(
            linear=3 * float(model.decoder_layers * layer),
            attention=3 * float(model.decoder_layers * 4 * (stream * stream).sum() * d),
            logits=3 * float(2 * num_labels * d * vocabulary),
        )
    encoder = 2 * s.sum() * (4 * d * d + 2 * d * inner)
    decoder = 2 * t.sum() * (6 * d * d + 2 * d * inner) + 2 * s.sum() * 2 * d * d
    attention = model.encoder_layers * 4 * (s * s).sum() * d
    attention += model.decoder_layers * 4 * ((t * t).sum() + (t * s).sum()) * d
    return Operations(
        linear=3 * float(model.encoder_layers * encoder + model.decoder_layers * decoder),
        attention=3 * float(attention),
        logits=3 * float(2 * num_labels * d * vocabulary),
    )
