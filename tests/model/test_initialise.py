"""First weights: how far they spread, module by module."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mt.config import ModelConfig
from mt.model.attention import MultiHeadAttention
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.feed_forward import GatedFeedForward
from mt.model.positions import LearnedPositions

WIDTH, VOCABULARY = 64, 1000
CONFIG = ModelConfig(
    d_model=WIDTH,
    d_inner=192,
    encoder_layers=2,
    decoder_layers=2,
    heads=4,
    key_value_heads=2,
    activation="swiglu",
    positions="learned",
    tied="none",
)


@pytest.fixture(scope="module")
def model() -> EncoderDecoder:
    torch.manual_seed(3)
    return EncoderDecoder(CONFIG, source_vocab=VOCABULARY, target_vocab=VOCABULARY)


def assert_xavier(weight: Tensor) -> None:
    """Uniform up to sqrt(6 / (fan-in + fan-out)) (Glorot and Bengio 2010)."""
    bound = math.sqrt(6 / sum(weight.shape))
    assert 0.99 * bound < float(weight.abs().max()) <= bound
    assert float(weight.std()) == pytest.approx(bound / math.sqrt(3), rel=0.05)


def test_keys_and_values_are_drawn_as_the_two_matrices_they_are(model: EncoderDecoder) -> None:
    attentions = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
    assert len(attentions) == 6
    for attention in attentions:
        key, value = attention.key_value.weight.detach().chunk(2)
        assert key.shape == (WIDTH // 2, WIDTH)
        for weight in (key, value, attention.query.weight.detach()):
            assert_xavier(weight)


def test_gates_are_drawn_apart_from_what_they_let_through(model: EncoderDecoder) -> None:
    gated = [m for m in model.modules() if isinstance(m, GatedFeedForward)]
    assert len(gated) == 4
    for module in gated:
        for weight in (*module.inner.weight.detach().chunk(2), module.outer.weight.detach()):
            assert_xavier(weight)


def test_embeddings_have_variance_one_over_the_width(model: EncoderDecoder) -> None:
    """So that times sqrt(D) they come in at variance 1, and logits of tied ones go out at it."""
    for embedding in (model.source_embedding, model.target_embedding, model.output):
        weight = embedding.weight.detach()
        assert weight.shape == (VOCABULARY, WIDTH)
        assert float(weight.mean()) == pytest.approx(0.0, abs=0.005)
        assert float(weight.std()) == pytest.approx(WIDTH**-0.5, rel=0.03)


def test_learned_positions_begin_small(model: EncoderDecoder) -> None:
    tables = [m.table.detach() for m in model.modules() if isinstance(m, LearnedPositions)]
    assert len(tables) == 2
    for table in tables:
        assert float(table.std()) == pytest.approx(0.02, rel=0.05)
