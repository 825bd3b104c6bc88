"""What search asks of a model: three functions, and nothing else.

N rows stand for hypotheses under way; a state holds what the model remembers of them.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

from torch import Tensor


class State(Protocol):
    """What a model remembers of N rows."""

    def select(self, rows: Tensor) -> Self:
        """Keep the given rows (B', K'), in the given order; rows may repeat.

        The rows of a line are of one sentence. Where there are as many lines as sentences, they are
        those sentences, in order; else some of them.
        """
        ...

    def joined(self, other: Self) -> Self:
        """With the sentences of `other`, of as many rows each, behind its own."""
        ...


S = TypeVar("S", bound=State)


class StepModel(Protocol[S]):
    """A model that predicts the next token of each row."""

    def start(self, source: Tensor, source_mask: Tensor) -> S:
        """Read source (B, S) with source_mask (B, S), True at tokens; one row a sentence."""
        ...

    def step(self, tokens: Tensor, state: S) -> tuple[Tensor, S]:
        """Feed the last token of each row (N,); give unnormalised scores (N, V) of the next."""
        ...
