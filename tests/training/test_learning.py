"""The whole of model, training and search learns a task with a known answer.

The same test runs on a GPU with `-m gpu`, and there compares losses with the CPU.
"""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest
import torch

from mt.config import ModelConfig, SearchConfig, TrainingConfig
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.model.decoder_only import DecoderOnly
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.search_model import SearchModel
from mt.search.scheduler import beam_search
from mt.search.sentence import Symbols
from mt.text.padding import pad_with_end
from mt.text.tokenizer import END, PAD, START, UNKNOWN
from mt.training.batch import make_batch
from mt.training.data_loader import TrainingData
from mt.training.trainer import Trainer
from mt.training.validation import TranslationScores

VOCABULARY = 14
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
SHAPE = ModelConfig(
    d_model=32, d_inner=64, encoder_layers=1, decoder_layers=1, heads=4, dropout=0.0
)
ONE_STACK = dataclasses.replace(
    SHAPE, architecture="decoder-only", d_model=48, d_inner=96, encoder_layers=0, decoder_layers=2
)
SHAPES = [SHAPE, ONE_STACK, dataclasses.replace(ONE_STACK, bidirectional_source=True)]


def draw_sources(count: int, *, seed: int) -> list[list[int]]:
    generator = random.Random(seed)
    return [
        [generator.randrange(4, VOCABULARY) for _ in range(generator.randint(1, 4))]
        for _ in range(count)
    ]


def make_trainer(folder: Path, device: str, updates: int, shape: ModelConfig = SHAPE) -> Trainer:
    sources = draw_sources(3000, seed=1)
    write_tokens(
        folder / "t.arrow",
        [TokenBlock.of(sources, [source[::-1] for source in sources])],
        vocab_size=VOCABULARY,
    )
    data = TokenStore(folder / "t.arrow")
    torch.manual_seed(1)
    kind = DecoderOnly if shape.architecture == "decoder-only" else EncoderDecoder
    return Trainer(
        model=kind(shape, source_vocab=VOCABULARY, target_vocab=VOCABULARY),
        config=TrainingConfig(
            batch_tokens=400,
            peak_rate=5e-3,
            warmup_updates=50,
            max_updates=updates,
            validate_every=updates,
            average_decay=0.98,
        ),
        data=TrainingData(train=data, dev=data),
        device=torch.device(device),
        dtype=torch.float32,
        folder=folder / "training",
        validator=lambda task: TranslationScores(scores={"BLEU": 0.0, "chrF2": 0.0}, signatures={}),
        keep_best=lambda progress: None,
        listener=lambda event: None,
    )


@pytest.mark.parametrize("shape", SHAPES, ids=["encoder-decoder", "decoder-only", "prefix"])
@pytest.mark.parametrize("device", DEVICES)
def test_reversal_is_learned(tmp_path: Path, device: str, shape: ModelConfig) -> None:
    trainer = make_trainer(tmp_path, device, updates=450, shape=shape)
    trainer.run()
    fresh = draw_sources(200, seed=2)
    source, mask = pad_with_end(fresh)
    trainer.model.eval()
    with trainer.parts.average.applied():
        found = beam_search(
            SearchModel(trainer.model),
            source.to(device),
            mask.to(device),
            symbols=Symbols(start=START, end=END, forbidden=(PAD, START, UNKNOWN)),
            config=SearchConfig(beam=3),
        )
    right = sum(
        result.hypotheses[0].tokens == tuple(reversed(line))
        for result, line in zip(found, fresh, strict=True)
    )
    assert right >= 0.98 * len(fresh)


@pytest.mark.gpu
def test_gpu_and_cpu_losses_agree(tmp_path: Path) -> None:
    losses = []
    for device in ("cpu", "cuda"):
        (tmp_path / device).mkdir()
        trainer = make_trainer(tmp_path / device, device, updates=1)
        batch = make_batch(trainer.data.train, range(50)).to(trainer.device)
        losses.append(trainer.gradients.loss(batch).item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
