"""What may follow: constraints forbid continuations of a step and never change the price of one.

What is demanded goes before what is forbidden: inside its prefix a hypothesis goes on as the prefix
does, and at its bound it ends, whatever the constraints say. The end of a hypothesis is forbidden
only by `MinimumLength`, and there only while a word may follow. So no hypothesis is ever left
without a way to go on or to end.

Each works on all rows at once, and on each sentence by itself.

Shapes: B sentences, K slots, V vocabulary, T tokens of the longest hypothesis, n tokens of an
n-gram.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from mt.config import SearchConfig
from mt.search.sentence import Sentence, Symbols

LONGEST_LOOP = 16
"""Most tokens that together count as repeated."""


class Constraint(Protocol):
    """Something that the hypotheses of a search must not do."""

    def forbid(self, scores: Tensor, tokens: Tensor, sentences: Sequence[Sentence]) -> None:
        """Set to -inf in place, in scores (B, K, V), what must not follow.

        tokens (B, K, T + 1) is what was fed so far, the start symbol first; hypotheses shorter
        than the longest stand to the right, behind tokens that mean nothing.
        """
        ...


def constraints_of(config: SearchConfig, symbols: Symbols) -> list[Constraint]:
    """The constraints that are on; one that gives way to others comes after them."""
    found: list[Constraint] = [ForbiddenSymbols(symbols.forbidden)]
    if config.no_repeat_ngram:
        found.append(NoRepeatedNgram(config.no_repeat_ngram))
    if config.max_repeats:
        found.append(NoLoop(config.max_repeats))
    if config.min_length_ratio:
        found.append(MinimumLength(config.min_length_ratio, end=symbols.end))
    return found


def constrain(
    scores: Tensor,
    tokens: Tensor,
    sentences: Sequence[Sentence],
    *,
    config: SearchConfig,
    symbols: Symbols,
) -> None:
    """Set to -inf in place, in scores (B, K, V), all that must not follow tokens (B, K, T + 1).

    Where only one token may follow, a prefix's or the end at the bound, it keeps its price, so
    that the score stays the model's score.
    """
    demanded = [sentence.demanded_next(symbols.end) for sentence in sentences]
    rows = [b for b, token in enumerate(demanded) if token is not None]
    if rows:
        demanding = torch.tensor(rows, device=scores.device)
        only = torch.tensor([demanded[b] for b in rows], device=scores.device)
        price = scores[demanding, :, only]  # (rows, K)
    for constraint in constraints_of(config, symbols):
        constraint.forbid(scores, tokens, sentences)
    if rows:
        scores[demanding] = -math.inf
        scores[demanding, :, only] = price


@dataclass(frozen=True)
class ForbiddenSymbols:
    """Symbols that are no part of a text."""

    symbols: tuple[int, ...]

    def forbid(self, scores: Tensor, tokens: Tensor, sentences: Sequence[Sentence]) -> None:
        """Forbid them everywhere."""
        scores.index_fill_(-1, _on_device(self.symbols, scores.device), -math.inf)


@cache
def _on_device(symbols: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(symbols, dtype=torch.long, device=device)


@dataclass(frozen=True)
class NoRepeatedNgram:
    """No run of `size` tokens comes twice in a hypothesis (Paulus et al. 2018, section 2.5)."""

    size: int

    def forbid(self, scores: Tensor, tokens: Tensor, sentences: Sequence[Sentence]) -> None:
        """Forbid each token that came before behind the same `size` - 1 tokens."""
        width = tokens.size(2)
        if width <= self.size:
            return
        windows = tokens.unfold(2, self.size, 1)  # (B, K, W, n)
        last = tokens[:, :, None, width - self.size + 1 :]  # (B, K, 1, n - 1)
        is_again = (windows[..., :-1] == last).all(dim=3)
        starts = torch.arange(windows.size(2), device=tokens.device)
        is_again &= starts >= _first_indices(tokens, sentences)[:, None, None]
        _forbid_tokens(scores, windows[..., -1], is_again)


@dataclass(frozen=True)
class NoLoop:
    """No run of up to `LONGEST_LOOP` tokens comes more than `most` times directly in a row."""

    most: int

    def forbid(self, scores: Tensor, tokens: Tensor, sentences: Sequence[Sentence]) -> None:
        """Forbid each token that would complete a run for the time after the last allowed one.

        Runs of p tokens come `most` + 1 times in a row where `most` * p tokens equal those p
        positions before them; the last of them is yet to come.
        """
        width = tokens.size(2)
        first = _first_indices(tokens, sentences)[:, None]
        returning, is_loop = [], []
        for period in range(1, min(LONGEST_LOOP, width // (self.most + 1)) + 1):
            start = width - self.most * period + 1
            before = tokens[:, :, start - period : width - period]
            is_loop.append((tokens[:, :, start:] == before).all(dim=2) & (first <= start - period))
            returning.append(tokens[:, :, width - period])
        if returning:
            _forbid_tokens(scores, torch.stack(returning, dim=2), torch.stack(is_loop, dim=2))


@dataclass(frozen=True)
class MinimumLength:
    """A hypothesis has at least `ratio` times the source tokens, rounded down, or its bound.

    It gives way where the constraints before it leave no word to follow.
    """

    ratio: float
    end: int

    def forbid(self, scores: Tensor, tokens: Tensor, sentences: Sequence[Sentence]) -> None:
        """Forbid the end before that length."""
        is_short = [
            sentence.length < math.floor(self.ratio * (sentence.source_length - 1))
            for sentence in sentences
        ]
        if not any(is_short):
            return
        end = scores[..., self.end].clone()  # (B, K)
        scores[..., self.end] = -math.inf
        must_go_on = scores.amax(dim=2) > -math.inf
        must_go_on &= torch.tensor(is_short, device=scores.device)[:, None]
        scores[..., self.end] = end.masked_fill(must_go_on, -math.inf)


def _first_indices(tokens: Tensor, sentences: Sequence[Sentence]) -> Tensor:
    """(B) where the first token behind the start symbol stands in tokens (B, K, T + 1)."""
    width = tokens.size(2)
    firsts = [width - sentence.length for sentence in sentences]
    return torch.tensor(firsts, device=tokens.device)


def _forbid_tokens(scores: Tensor, tokens: Tensor, where: Tensor) -> None:
    """Set scores (B, K, V) to -inf at those of tokens (B, K, M) where `where` (B, K, M) holds."""
    nothing = torch.zeros((), device=scores.device)
    scores.scatter_add_(2, tokens, nothing.expand(where.shape).masked_fill(where, -math.inf))
