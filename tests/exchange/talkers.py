"""Small models of random weights that speak: their hypotheses end before the bound."""

from __future__ import annotations

import dataclasses
import random
from functools import cache
from pathlib import Path

import torch

from mt.config import Config, ModelConfig, TokenizerConfig
from mt.model_folder.folder import build_model, load_model, save_weights, write_config
from mt.text.subwords import train_subwords
from mt.text.tokenizer import END, PAD, START, UNKNOWN, Tokenizer
from mt.text.tokenizer_pair import TokenizerPair

SHAPE = ModelConfig(
    d_model=32, d_inner=48, encoder_layers=2, decoder_layers=3, heads=4, max_positions=40
)
SOURCE_WORDS = ["haus", "katze", "läuft", "grün", "und", "Straße", "nicht", "über"]
TARGET_WORDS = ["house", "cat", "runs", "green", "and", "street", "not", "above", "below"]


@cache
def lines(words: tuple[str, ...]) -> tuple[str, ...]:
    draw = random.Random(3)
    return tuple(" ".join(draw.choices(words, k=draw.randint(1, 9))) for _ in range(40))


@cache
def tokenizer(words: tuple[str, ...], size: int) -> Tokenizer:
    return train_subwords(lines(words), kind="bpe", vocab_size=size)


def tokenizers(*, joint: bool) -> TokenizerPair:
    source = tokenizer(tuple(SOURCE_WORDS), 290)
    target = source if joint else tokenizer(tuple(TARGET_WORDS), 300)
    return TokenizerPair(source=source, target=target)


def write_model(folder: Path, shape: ModelConfig = SHAPE, *, joint: bool = True) -> Path:
    """A model folder with random weights, biases and norms included."""
    pair = tokenizers(joint=joint)
    config = Config(model=shape, tokenizer=TokenizerConfig(joint=joint))
    torch.manual_seed(5)
    model = build_model(config, pair)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    folder.mkdir()
    write_config(folder, config)
    pair.save(folder)
    save_weights(folder, model)
    return folder


def write_talker(folder: Path, shape: ModelConfig, *, joint: bool) -> Path:
    """A model whose hypotheses end before the bound, and which never thinks of reserved symbols."""
    write_model(folder, dataclasses.replace(shape, tied="none"), joint=joint)
    model = load_model(folder).model
    assert isinstance(model.decoder_norm, torch.nn.LayerNorm)
    with torch.no_grad():
        model.decoder_norm.bias[0] = 4.0
        model.output_weight[[PAD, START, UNKNOWN], 0] = -20.0
        model.output_weight[END, 0] += 0.9
    save_weights(folder, model)
    return folder
