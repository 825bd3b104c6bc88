"""A small model whose tokens a page could trip over, and what it attends to."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import torch

from mt.config import Config, ModelConfig, SearchConfig, TokenizerConfig
from mt.model_folder.folder import LoadedModel, build_model, save_weights, write_config
from mt.text.subwords import train_subwords
from mt.text.tokenizer_pair import TokenizerPair

SHAPE = ModelConfig(d_model=32, d_inner=48, encoder_layers=2, decoder_layers=3, heads=4)
WORDS = ("<b>", "</script>", '"x"', "&amp;", "it's", "שלום", "日本", "$a$", "${b}", "haus")
SOURCE = '<b> haus שלום </script> "x" &amp; haus'
TARGET = "it's 日本 $a$ ${b} <b> haus"


@cache
def tokenizers() -> TokenizerPair:
    draw = random.Random(3)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(2, 9))) for _ in range(80)]
    tokenizer = train_subwords(lines, kind="bpe", vocab_size=330)
    return TokenizerPair(source=tokenizer, target=tokenizer)


def small_model(shape: ModelConfig = SHAPE) -> LoadedModel:
    """A model with random weights that are large enough for uneven attention."""
    config = Config(
        model=shape, tokenizer=TokenizerConfig(), search=SearchConfig(beam=2, max_length=6)
    )
    torch.manual_seed(5)
    model = build_model(config, tokenizers()).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return LoadedModel(config=config, tokenizers=tokenizers(), model=model)


def write_model(folder: Path, shape: ModelConfig = SHAPE) -> Path:
    loaded = small_model(shape)
    folder.mkdir()
    loaded.tokenizers.save(folder)
    write_config(folder, loaded.config)
    save_weights(folder, loaded.model)
    return folder
