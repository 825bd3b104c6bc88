"""Small models of random weights that know their languages, and speak."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch

from mt.config import SearchConfig
from mt.model_folder.files import read_config, write_config
from mt.model_folder.folder import load_model, save_weights
from mt.translation.line_translator import LineTranslator
from tests.exchange.talkers import SHAPE, write_talker

LINES = ("haus katze", "Straße nicht über haus", "läuft", "grün und nicht", "über über katze und")


def expected(translator: LineTranslator, *lines: str) -> list[str]:
    """What `mt translate` gives for lines."""
    return [each.text for each in translator.translate(lines)]


def write_pair(folder: Path, source: str, target: str, *, seed: int = 1) -> Path:
    """A model folder of a pair of languages; other seeds give other translations."""
    write_talker(folder, SHAPE, joint=True)
    model = load_model(folder).model
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    save_weights(folder, model)
    config = read_config(folder)
    named = dataclasses.replace(
        config,
        source_language=source,
        target_language=target,
        search=SearchConfig(beam=4, max_length=12),  # it does not know when to end
    )
    write_config(folder, named)
    return folder
