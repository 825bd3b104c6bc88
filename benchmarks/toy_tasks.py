"""Tasks with known answers, endless and random, and a plain loop that trains a model on them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch.nn import functional

from mt.config import SearchConfig, TrainingConfig
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.search_model import SearchModel
from mt.search.scheduler import beam_search
from mt.search.sentence import Symbols
from mt.text.padding import pad_with_end
from mt.text.tokenizer import END, PAD, START, UNKNOWN
from mt.training.loss import projected_cross_entropy
from mt.training.optimizer import clip_gradient, make_optimizer
from mt.training.schedule import learning_rate

Task = Literal["reversal", "copy"]
VOCABULARY = 24
"""20 symbols behind the reserved ones."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """One update."""

    loss: float
    """Nats a target token, before the update."""
    seconds: float


def draw(count: int, shortest: int, longest: int, generator: random.Random) -> list[list[int]]:
    """Random sequences whose lengths are alike probable."""
    return [
        [generator.randrange(4, VOCABULARY) for _ in range(generator.randint(shortest, longest))]
        for _ in range(count)
    ]


def answer(task: Task, source: list[int]) -> list[int]:
    """What a model is to say."""
    return source[::-1] if task == "reversal" else source


def train(
    model: EncoderDecoder,
    task: Task,
    *,
    config: TrainingConfig,
    longest: int,
    sequences: int,
    updates: int,
) -> Iterator[Done]:
    """Updates, each on `sequences` fresh sequences of 1 to `longest` symbols."""
    generator = random.Random(config.seed)
    optimizer = make_optimizer(model, model.layers(), config)
    model.train()
    for update in range(1, updates + 1):
        began = time.perf_counter()
        sources = draw(sequences, 1, longest, generator)
        source, source_mask = pad_with_end(sources)
        wanted, mask = pad_with_end([answer(task, each) for each in sources])
        fed = functional.pad(wanted[:, :-1], (1, 0), value=START)
        hidden = model(source, source_mask, fed)[mask]
        loss, tokens = projected_cross_entropy(
            hidden, model.output_weight, wanted[mask], smoothing=config.label_smoothing
        )
        (loss / tokens).backward()  # type: ignore[no-untyped-call]
        clip_gradient(model, config.clip_norm)
        rate = learning_rate(
            update,
            peak_rate=config.peak_rate,
            warmup_updates=config.warmup_updates,
            cooldown=config.cooldown,
            budget_done=update / updates,
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
        yield Done(loss=loss.item() / tokens, seconds=time.perf_counter() - began)


@torch.inference_mode()
def accuracy(
    model: EncoderDecoder, task: Task, *, length: int, sequences: int
) -> tuple[float, float]:
    """Shares of fresh sequences, by greedy search, and of their symbols that are right.

    A symbol is right in its own place.
    """
    model.eval()
    sources = draw(sequences, length, length, random.Random(length))
    source, mask = pad_with_end(sources)
    results = beam_search(
        SearchModel(model),
        source,
        mask,
        symbols=Symbols(start=START, end=END, forbidden=(PAD, START, UNKNOWN)),
        config=SearchConfig(beam=1),
    )
    found = [list(result.hypotheses[0].tokens) for result in results]
    wanted = [answer(task, each) for each in sources]
    whole = sum(a == b for a, b in zip(found, wanted, strict=True))
    symbols = sum(
        x == y for a, b in zip(found, wanted, strict=True) for x, y in zip(a, b, strict=False)
    )
    return whole / sequences, symbols / (sequences * length)
