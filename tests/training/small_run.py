"""A small training run in this process, and what it reported."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from mt.config import ModelConfig, TrainingConfig
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.events import BatchDone, Event
from mt.model.encoder_decoder import EncoderDecoder
from mt.training.data_loader import TrainingData
from mt.training.trainer import Trainer
from mt.training.validation import TranslationScores

VOCABULARY = 20
TINY = ModelConfig(d_model=16, d_inner=32, encoder_layers=1, decoder_layers=1, heads=2, dropout=0.1)
PLAN = TrainingConfig(
    batch_tokens=40, accumulate=2, warmup_updates=10, peak_rate=1e-2, validate_every=7, patience=0
)


def write_pairs(path: Path, count: int, *, longest: int = 6) -> TokenStore:
    draw = random.Random(1)
    sources = [
        [draw.randrange(4, VOCABULARY) for _ in range(draw.randint(1, longest))]
        for _ in range(count)
    ]
    write_tokens(
        path, [TokenBlock.of(sources, [source[::-1] for source in sources])], vocab_size=VOCABULARY
    )
    return TokenStore(path)


class Run:
    """A small training run and what it reported."""

    def __init__(
        self,
        folder: Path,
        config: TrainingConfig,
        *,
        model: ModelConfig = TINY,
        count: int = 60,
        scores: Callable[[int], float] = float,
        compiler: str | None = None,
    ) -> None:
        self.events: list[Event] = []
        self.kept: list[int] = []
        torch.manual_seed(config.seed)
        data = write_pairs(folder / "pairs.arrow", count)
        self.trainer = Trainer(
            model=EncoderDecoder(model, source_vocab=VOCABULARY, target_vocab=VOCABULARY),
            config=config,
            data=TrainingData(train=data, dev=data),
            device=torch.device("cpu"),
            dtype=torch.float32,
            folder=folder / "training",
            validator=lambda task: TranslationScores(
                scores={"BLEU": scores(self.trainer.progress.update), "chrF2": 0.0}, signatures={}
            ),
            keep_best=lambda progress: self.kept.append(progress.update),
            listener=self.events.append,
            compiler=compiler,
        )

    @property
    def losses(self) -> list[float]:
        return [event.loss for event in self.events if isinstance(event, BatchDone)]

    def weights(self) -> list[Tensor]:
        average = self.trainer.parts.average.tensors()
        return [p.detach().clone() for p in self.trainer.model.parameters()] + list(average)


def budget(updates: int, **changes: object) -> TrainingConfig:
    return dataclasses.replace(PLAN, max_updates=updates, **changes)  # type: ignore[arg-type]


def same(a: list[Tensor], b: list[Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def run_in_float64(
    folder: Path, updates: int, *, compiler: str | None = None, **changes: object
) -> Run:
    """A run in float64, and without dropout, which would draw other masks for pieces.

    In float32 the biases of keys differ: their gradient is zero but for rounding, and AdamW
    divides that by its own size.
    """
    torch.set_default_dtype(torch.float64)
    try:
        model = dataclasses.replace(TINY, dropout=0.0)
        run = Run(folder, budget(updates, **changes), model=model, compiler=compiler)
    finally:
        torch.set_default_dtype(torch.float32)
    run.trainer.gradients.objective.dtype = torch.float64
    return run
