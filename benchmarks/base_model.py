"""A model of the shape of Transformer-base with random weights, and text for it to translate.

Random weights cost as much time as trained ones. The row of the end symbol is zero in the matrix
that gives the logits, so that it is never among the best and each hypothesis runs to its bound.
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import click
import torch
from store import write_corpus

from mt.config.presets import preset
from mt.files import new_folder
from mt.model_folder.folder import build_model, save_weights, write_config
from mt.text.subwords import train_subwords
from mt.text.tokenizer import END
from mt.text.tokenizer_pair import TokenizerPair

_PIECES = 32_000
_PAIRS = 20_000  # of invented text for the tokenizer


def make_base(folder: Path, text: Path, *, sentences: int) -> None:
    """Write the model folder, and a file of so many lines of invented text."""
    with tempfile.TemporaryDirectory() as place:
        write_corpus(Path(place), _PAIRS)
        lines = (Path(place) / "c.de").read_text("utf-8").split("\n")[:-1]
    tokenizer = train_subwords(lines, kind="bpe", vocab_size=_PIECES)
    if tokenizer.vocab_size != _PIECES:
        raise click.ClickException(f"{tokenizer.vocab_size} pieces in the place of {_PIECES}")
    tokenizers = TokenizerPair(source=tokenizer, target=tokenizer)
    base = preset("base")
    config = dataclasses.replace(
        base, tokenizer=dataclasses.replace(base.tokenizer, kind="bpe", vocab_size=_PIECES)
    )
    torch.manual_seed(1)
    model = build_model(config, tokenizers)
    with torch.no_grad():
        model.output_weight[END] = 0.0
    text.write_text("".join(f"{line}\n" for line in lines[:sentences]), "utf-8")
    with new_folder(folder) as temporary:
        write_config(temporary, config)
        tokenizers.save(temporary)
        save_weights(temporary, model)
