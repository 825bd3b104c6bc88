"""A step model that is a table: enough to test search completely, and no Transformer.

The next token depends on the last token and the step. Symbols: 0 ends, 1 starts, the rest are
words.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.config import LengthPenalty, SearchConfig
from mt.search.sentence import Symbols

END, START = 0, 1
SYMBOLS = Symbols(start=START, end=END, forbidden=(START,))


def bounded(*, max_length: int, **values: object) -> SearchConfig:
    """Settings under which a hypothesis may have `max_length` tokens, whatever its source."""
    bounds = {"max_length_ratio": 0.0, "max_length_offset": max_length, "max_length": max_length}
    return SearchConfig(**{**bounds, **values})  # type: ignore[arg-type]


@dataclass(frozen=True)
class TableState:
    """Which sentence each row belongs to (N), and how many tokens were fed to it (N)."""

    sentence: Tensor
    position: Tensor

    def select(self, rows: Tensor) -> TableState:
        return TableState(self.sentence[rows.flatten()], self.position[rows.flatten()])

    def joined(self, other: TableState) -> TableState:
        return TableState(
            torch.cat((self.sentence, other.sentence)), torch.cat((self.position, other.position))
        )


class TableModel:
    """logits[sentence, position, last token] gives the scores (V) of the next token."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits
        self.num_steps = 0

    def start(self, source: Tensor, source_mask: Tensor) -> TableState:
        return TableState(source[:, 0], torch.zeros_like(source[:, 0]))

    def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        self.num_steps += 1
        position = state.position.clamp(max=self.logits.size(1) - 1)
        scores = self.logits[state.sentence, position, tokens]
        return scores, TableState(state.sentence, state.position + 1)

    def log_probability(self, sentence: int, tokens: tuple[int, ...]) -> float:
        """The score of a whole hypothesis and its end, by forced decoding with masked starts."""
        total = 0.0
        last = START
        for position, token in enumerate((*tokens, END)):
            last_known = min(position, self.logits.size(1) - 1)
            step = torch.log_softmax(self.logits[sentence, last_known, last], dim=-1)
            total += float(step[token])
            last = token
        return total


def random_table(*, sentences: int, length: int, vocabulary: int, seed: int) -> TableModel:
    generator = torch.Generator().manual_seed(seed)
    shape = (sentences, length, vocabulary, vocabulary)
    logits = torch.randn(shape, generator=generator) * 2.0
    logits[..., START] = -math.inf  # so that the table's probabilities are over words and the end
    return TableModel(logits)


def sources(count: int) -> tuple[Tensor, Tensor]:
    """One-token sources whose token is the number of the sentence."""
    return torch.arange(count)[:, None], torch.ones(count, 1, dtype=torch.bool)


PENALTIES: list[tuple[LengthPenalty, float]] = [
    ("none", 1.0),
    ("mean", 1.0),
    ("gnmt", 0.6),
    ("gnmt", 2.0),
]


def every_hypothesis(vocabulary: int, max_length: int) -> list[tuple[int, ...]]:
    words = [v for v in range(vocabulary) if v not in (END, START)]
    return [
        tokens
        for length in range(max_length + 1)
        for tokens in itertools.product(words, repeat=length)
    ]
