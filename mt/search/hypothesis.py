"""A finished hypothesis, and the finished ones of a sentence in order of merit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from mt.config import SearchConfig
from mt.search.penalty import length_penalty


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """One candidate translation as token ids."""

    tokens: tuple[int, ...]
    """Without start and end symbols."""
    log_probability: float
    """Natural log of the model's probability of the tokens and the end symbol."""
    score: float
    """`log_probability` over the length penalty: what hypotheses are ranked by."""
    hit_limit: bool
    """The end symbol was forced at the length bound."""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What the search of one sentence found."""

    hypotheses: tuple[Hypothesis, ...]
    """Best first."""
    is_close_call: bool
    """Some choice was made by less than rounding may amount to: searched in another batch, the
    sentence could come out otherwise."""


CLOSE = 1e-4
"""A difference of log-probabilities below which a choice is a close call.

In float32 the rest of a batch moves the log-probability of a sentence by about 1e-6.
"""


class FinishedHypotheses:
    """The finished hypotheses of one sentence; at most as many as the beam is wide."""

    def __init__(self, config: SearchConfig, max_length: int) -> None:
        self._config = config
        self._max_length = max_length
        self._kept: list[Hypothesis] = []
        self.had_close_call = False

    def __len__(self) -> int:
        return len(self._kept)

    def add(
        self, tokens: tuple[int, ...], log_probability: float, *, slot: int, hit_limit: bool
    ) -> None:
        """Take a hypothesis that has just ended in a slot of the beam, whichever."""
        divisor = self._divisor(len(tokens) + 1)
        self._kept.append(
            Hypothesis(
                tokens=tokens,
                log_probability=log_probability,
                score=log_probability / divisor,
                hit_limit=hit_limit,
            )
        )

    def cannot_improve(self, best_live: float) -> bool:
        """Whether no live hypothesis can still enter the n best.

        A live one has log-probability `best_live` at most, which only falls, and the penalty
        only grows with length: its score stays at or below `best_live` over the penalty of the
        longest length allowed. On equal scores the earlier one stands first, so that stopping
        here never changes the result.
        """
        n_best = self._config.n_best
        if len(self._kept) < n_best:
            return False
        return best_live / self._divisor(self._max_length + 1) <= self.best(n_best)[-1].score

    def best(self, num: int) -> list[Hypothesis]:
        """The `num` best, best first; equal scores in the order in which they ended."""
        return sorted(self._kept, key=lambda hypothesis: -hypothesis.score)[:num]

    def result(self) -> SearchResult:
        """The n best, and whether their order or an earlier choice was a close call."""
        n_best = self._config.n_best
        ranked = self.best(n_best + 1)
        is_close = any(
            better.score - worse.score < CLOSE / self._divisor(len(better.tokens) + 1)
            for better, worse in pairwise(ranked)
        )
        return SearchResult(
            hypotheses=tuple(ranked[:n_best]), is_close_call=is_close or self.had_close_call
        )

    def _divisor(self, length: int) -> float:
        return length_penalty(self._config.length_penalty, self._config.alpha, length)


class FinishedSamples(FinishedHypotheses):
    """The samples of one sentence that have ended, each with its number."""

    def __init__(self, config: SearchConfig, max_length: int, *, samples: int) -> None:
        """Wait for so many samples."""
        super().__init__(config, max_length)
        self._samples = samples
        self._slots: list[int] = []

    def add(
        self, tokens: tuple[int, ...], log_probability: float, *, slot: int, hit_limit: bool
    ) -> None:
        """Take a sample that has just ended; its slot is its number."""
        super().add(tokens, log_probability, slot=slot, hit_limit=hit_limit)
        self._slots.append(slot)

    def cannot_improve(self, best_live: float) -> bool:
        """Never while a sample is under way: each is wanted, however improbable."""
        return False

    def result(self) -> SearchResult:
        """All samples in the order of their numbers."""
        by_slot = dict(zip(self._slots, self._kept, strict=True))
        return SearchResult(
            hypotheses=tuple(by_slot[slot] for slot in range(self._samples)),
            is_close_call=self.had_close_call,
        )
