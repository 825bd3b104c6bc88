"""Several step models that predict together: an ensemble is a step model again.

It averages probabilities, not their logarithms: for members m = 1 … M

    log p(y | …) = log((1 / M) sum_m p_m(y | …))
                 = logsumexp_m(log softmax(logits_m)) - log M

The mean of probabilities is a distribution as it stands: it sums to one, so that the score of a
hypothesis is a log-probability that forced decoding finds token by token. The mean of the logs is
not one until it is divided by a sum over the vocabulary, and there a single member that holds a
token for all but impossible has a veto over the others; here it has one voice in M.

Shapes: N rows, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mt.search.step import State, StepModel


@dataclass(frozen=True)
class EnsembleState:
    """What the members remember of N rows, each in its own form, in their order."""

    members: tuple[State, ...]

    def select(self, rows: Tensor) -> EnsembleState:
        """Every member keeps the given rows (B', K')."""
        return EnsembleState(tuple(state.select(rows) for state in self.members))

    def joined(self, other: EnsembleState) -> EnsembleState:
        """Every member has the sentences of `other` behind its own."""
        pairs = zip(self.members, other.members, strict=True)
        return EnsembleState(tuple(mine.joined(more) for mine, more in pairs))


class Ensemble:
    """Members that read the same source tokens and predict tokens of the same vocabulary.

    `members` are the step models, in order.
    """

    def __init__(self, members: Sequence[StepModel[Any]]) -> None:
        """Average `members`; one that stands there twice counts twice. ValueError without any."""
        if not members:
            raise ValueError("an ensemble needs a member")
        self.members = tuple(members)

    def start(self, source: Tensor, source_mask: Tensor) -> EnsembleState:
        """Every member reads source (B, S) with source_mask (B, S)."""
        return EnsembleState(tuple(each.start(source, source_mask) for each in self.members))

    def step(self, tokens: Tensor, state: EnsembleState) -> tuple[Tensor, EnsembleState]:
        """Feed tokens (N,) to every member; log-probabilities (N, V) of the next, float32.

        Their softmax is the mean of the members' probabilities: they are normalised already.
        """
        log_probabilities, states = [], []
        for member, remembered in zip(self.members, state.members, strict=True):
            logits, after = member.step(tokens, remembered)
            log_probabilities.append(torch.log_softmax(logits, dim=-1, dtype=torch.float32))
            states.append(after)
        return log_mean(log_probabilities), EnsembleState(tuple(states))


def log_mean(log_probabilities: Sequence[Tensor]) -> Tensor:
    """log((1 / M) sum_m exp(x_m)) of M tensors of one shape, element by element.

    Computed from logarithms, so that what is too unlikely for a float32 keeps its price: it may be
    the end symbol at the length bound.
    """
    total = log_probabilities[0]
    for more in log_probabilities[1:]:
        total = torch.logaddexp(total, more)
    return total - math.log(len(log_probabilities))
