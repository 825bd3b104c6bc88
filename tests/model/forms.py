"""Small models in every form they take, and what they are fed."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from mt.config import ModelConfig
from mt.model.encoder_decoder import EncoderDecoder

FORMS = list(
    itertools.product(
        ["sinusoidal", "learned"], ["pre", "post"], ["relu", "gelu"], ["all", "target", "none"]
    )
)
VOCABULARY = 11


def make_model(positions: str, norm: str, activation: str, tied: str) -> EncoderDecoder:
    """A model in float64, in evaluation mode."""
    torch.manual_seed(0)
    config = ModelConfig(
        d_model=16,
        d_inner=32,
        heads=4,
        encoder_layers=2,
        decoder_layers=2,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        positions=positions,  # type: ignore[arg-type]
        max_positions=64,
        norm=norm,  # type: ignore[arg-type]
        activation=activation,  # type: ignore[arg-type]
        tied=tied,  # type: ignore[arg-type]
    )
    source_vocab = VOCABULARY if tied == "all" else VOCABULARY + 2
    model = EncoderDecoder(config, source_vocab=source_vocab, target_vocab=VOCABULARY)
    with torch.no_grad():
        for parameter in model.parameters():  # biases too: zeros would hide mistakes
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model.double().eval()


def source_of(*lengths: int) -> tuple[Tensor, Tensor]:
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    torch.manual_seed(1)
    ids = torch.randint(4, VOCABULARY, mask.shape).masked_fill(~mask, 0)
    return ids, mask


def logits_of(model: EncoderDecoder, source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    hidden: Tensor = model(source, mask, target)
    return hidden @ model.output_weight.T


def assert_close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10)
