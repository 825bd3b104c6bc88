"""A sentence under search, what it asks for by itself, and the symbols that search must know."""

from __future__ import annotations

from dataclasses import dataclass, field

from mt.search.constrained.phrases import Phrase, PhraseProgress
from mt.search.hypothesis import FinishedHypotheses


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """The token ids that search must know."""

    start: int
    end: int
    forbidden: tuple[int, ...] = ()
    """Ids that no hypothesis may hold: padding, unknown, and the start symbol itself."""


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What one sentence asks of its translation, beyond what the settings ask of all."""

    prefix: tuple[int, ...] = ()
    """The first tokens of each hypothesis; no constraint holds for them."""
    phrases: tuple[Phrase, ...] = ()
    """What every hypothesis must hold."""
    random_stream: tuple[int, ...] = ()
    """Names the random numbers of its samples; equal ones give equal sentences equal samples."""


NO_DEMANDS = Demands()


@dataclass(kw_only=True)
class Sentence:
    """A sentence under search."""

    key: int
    """What the caller knows it by."""
    source_length: int
    """Its tokens, the end symbol included."""
    limit: int
    """Most tokens of a hypothesis, its end symbol not counted."""
    demands: Demands
    finished: FinishedHypotheses
    length: int = 0
    """Tokens of its live hypotheses."""
    is_done: bool = False
    progress: list[PhraseProgress] = field(default_factory=list)
    """How far the hypothesis in each slot is with the phrases, kept by `beam_allocation`."""

    def demanded_next(self, end: int) -> int | None:
        """The one token that may follow: of the prefix, or the `end` at the bound; else None."""
        prefix = self.demands.prefix
        if self.length < len(prefix):
            return prefix[self.length]
        return end if self.length >= self.limit else None
