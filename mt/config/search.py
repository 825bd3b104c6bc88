"""How translations are searched for, or drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from mt.errors import require

LengthPenalty = Literal["none", "mean", "gnmt"]
SearchPrecision = Literal["auto", "float32", "bfloat16", "int8"]


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How translations are searched for."""

    beam: int = 5
    """Hypotheses kept for each sentence; 1 is greedy search."""
    n_best: int = 1
    """Hypotheses returned for each sentence; never more than the beam."""
    length_penalty: LengthPenalty = "mean"
    """What a log-probability is divided by: 1, its number of tokens, or GNMT's ((5 + n) / 6)^a."""
    alpha: float = 1.0
    """The exponent a of the GNMT penalty."""
    max_length_ratio: float = 2.0
    """A hypothesis has at most this times the source tokens, plus the offset below."""
    max_length_offset: int = 20
    """Tokens that a hypothesis may have beyond the ratio."""
    max_length: int | None = None
    """An absolute bound on the tokens of a hypothesis, on top of the relative one."""
    min_length_ratio: float = 0.0
    """A hypothesis has at least this times the source tokens, rounded down, if its bound allows."""
    no_repeat_ngram: int = 0
    """No run of so many tokens comes twice in a hypothesis; 0: any may."""
    max_repeats: int = 0
    """Most times that a token, or 2 to 16 together, may come directly in a row; 0: any number."""

    def __post_init__(self) -> None:
        require(self.beam >= 1, f"search.beam must be at least 1: {self.beam}")
        require(
            1 <= self.n_best <= self.beam,
            f"search.n_best must lie between 1 and the beam ({self.beam}): {self.n_best}",
        )
        require(self.max_length_ratio >= 0, "search.max_length_ratio must not be negative")
        require(self.max_length_offset >= 1, "search.max_length_offset must be at least 1")
        require(
            self.max_length is None or self.max_length >= 1,
            f"search.max_length must be at least 1: {self.max_length}",
        )
        require(
            0 <= self.min_length_ratio <= self.max_length_ratio,
            "search.min_length_ratio must lie between 0 and search.max_length_ratio "
            f"({self.max_length_ratio}): {self.min_length_ratio}",
        )
        for name in ("no_repeat_ngram", "max_repeats"):
            value = getattr(self, name)
            require(value >= 0, f"search.{name} must not be negative: {value}")
        require(self.alpha >= 0, f"search.alpha must not be negative: {self.alpha}")


@dataclass(frozen=True, kw_only=True)
class SamplingConfig:
    """How translations are drawn from the model instead of searched for; no model folder has it."""

    samples: int = 1
    """Translations drawn for each sentence."""
    temperature: float = 1.0
    """What log-probabilities are divided by: below 1 the probable becomes more probable."""
    top_k: int | None = None
    """Tokens that are drawn from at each step, the most probable ones; without it all."""
    top_p: float = 1.0
    """Probability that they must reach: the smallest set of tokens that does is drawn from."""
    seed: int = 1
    """Seed of the random numbers: the same seed draws the same."""

    def __post_init__(self) -> None:
        require(self.samples >= 1, f"sampling.samples must be at least 1: {self.samples}")
        require(
            0.001 <= self.temperature < math.inf,
            f"sampling.temperature must be at least 0.001 and finite: {self.temperature}",
        )
        require(
            self.top_k is None or self.top_k >= 1,
            f"sampling.top_k must be at least 1: {self.top_k}",
        )
        require(0 < self.top_p <= 1, f"sampling.top_p must lie in (0, 1]: {self.top_p}")
        require(self.seed >= 0, f"sampling.seed must not be negative: {self.seed}")
