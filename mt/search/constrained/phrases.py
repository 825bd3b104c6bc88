"""Phrases that a hypothesis must hold, and how far a hypothesis has come with each.

A phrase is a sequence of token ids, or one of several. It counts where it stands as whole words,
which is known with the token that follows: "Haus" is not met by "Hausmeister". What is begun and
then left goes on with the longest end of it that may begin the phrase again, as in the string
search of Knuth, Morris and Pratt (1977); phrases are short, so that this is found by trying.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class WordEdges:
    """Where words end between tokens."""

    begins_inside: bytes
    """By token id: 1 where its first character may go on with the word of the token before it."""
    ends_inside: bytes
    """By token id: 1 where the word of its last character may go on in the token after it."""
    begins_apart: bytes
    """By token id: 1 where a space comes first."""

    def part(self, before: int, after: int) -> bool:
        """Whether no word goes on from one token to the next."""
        return not (self.ends_inside[before] and self.begins_inside[after])


class Reached(NamedTuple):
    """How far a hypothesis has come with a phrase."""

    begun: tuple[int, ...] = ()
    """Its last tokens, as many of them as are a beginning of the phrase, or all of it."""
    times: int = 0
    """How often the phrase stands before them."""


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """Token ids that must stand in a hypothesis, as whole words."""

    alternatives: tuple[tuple[int, ...], ...]
    """Any of these will do."""
    edges: WordEdges = field(repr=False)
    times: int = 1
    """How often it must stand there, side by side: the first that ends counts."""
    is_exact: bool = False
    """Whether it may not stand there more often."""
    is_word: bool = False
    """Whether its own first and last characters, whatever they are, count as letters."""

    def __post_init__(self) -> None:
        if not self.alternatives or not all(self.alternatives):
            raise ValueError("a phrase needs alternatives, none of them empty")
        if self.times < 1:
            raise ValueError(f"times must be at least 1, but is {self.times}")

    @property
    def length(self) -> int:
        """The fewest tokens that it takes."""
        return self.times * min(map(len, self.alternatives))

    def after(self, reached: Reached, previous: int, token: int) -> Reached:
        """How far a hypothesis comes by `token`, behind its last token so far, `previous`."""
        begun, times = reached
        if times >= self.times and not self.is_exact:
            return reached
        if not begun and token not in self._next[()]:
            return reached
        if begun and self._is_whole(begun) and self._may_follow(previous, token):
            return self.after(Reached((), times + 1), previous, token)
        written = (*begun, token)
        for start in range(len(written)):
            if written[start:] in self._beginnings and (
                self._may_begin(written[start - 1], written[start])
                if start
                # What was begun did so where a word may; else this token is the first.
                else begun or self._may_begin(previous, token)
            ):
                return Reached(written[start:], times)
        return Reached((), times)

    def ways_on(self, reached: Reached, previous: int) -> frozenset[int]:
        """The tokens that lead a hypothesis on, behind its last token so far."""
        begun, times = reached
        if begun and self._is_whole(begun):
            begun, times = (), times + 1
        if times >= self.times:
            return frozenset()
        tokens = self._next.get(begun, frozenset())
        return tokens if begun else frozenset(t for t in tokens if self._may_begin(previous, t))

    def times_at_end(self, reached: Reached) -> int:
        """How often it stands in a hypothesis that ends here."""
        return reached.times + (bool(reached.begun) and self._is_whole(reached.begun))

    def is_met_at_end(self, reached: Reached) -> bool:
        """Whether it stands as often as asked in a hypothesis that ends here."""
        times = self.times_at_end(reached)
        return times == self.times if self.is_exact else times >= self.times

    def share(self, reached: Reached) -> float:
        """How often it stands there, at most as often as asked, and what share of the next time."""
        times = self.times_at_end(reached)
        if times >= self.times:
            return self.times
        return times + self._shares.get(reached.begun, 0.0)

    def is_exceeded(self, reached: Reached) -> bool:
        """Whether it stands more often than it may, whatever follows."""
        return self.is_exact and reached.times > self.times

    def _is_whole(self, begun: tuple[int, ...]) -> bool:
        """Whether an alternative ends with the last token of what is begun."""
        return any(
            begun[start:] in self.alternatives
            and (not start or self._may_begin(begun[start - 1], begun[start]))
            for start in range(len(begun))
        )

    def _may_begin(self, before: int, first: int) -> bool:
        """Whether a word may begin with its first token, behind another."""
        if self.is_word:
            return not self.edges.ends_inside[before] or bool(self.edges.begins_apart[first])
        return self.edges.part(before, first)

    def _may_follow(self, last: int, after: int) -> bool:
        """Whether its word ends with its last token, before another."""
        if self.is_word:
            return not self.edges.begins_inside[after]
        return self.edges.part(last, after)

    @cached_property
    def _beginnings(self) -> frozenset[tuple[int, ...]]:
        return frozenset(
            each[:end] for each in self.alternatives for end in range(1, len(each) + 1)
        )

    @cached_property
    def _shares(self) -> dict[tuple[int, ...], float]:
        """The share that each beginning has of the alternative that it is nearest to."""
        found: dict[tuple[int, ...], float] = {}
        for each in sorted(self.alternatives, key=len, reverse=True):
            found |= {each[:end]: end / len(each) for end in range(1, len(each))}
        return found

    @cached_property
    def _next(self) -> dict[tuple[int, ...], frozenset[int]]:
        """The tokens after each beginning, the empty one among them."""
        found: dict[tuple[int, ...], set[int]] = {}
        for each in self.alternatives:
            for end, token in enumerate(each):
                found.setdefault(each[:end], set()).add(token)
        return {begun: frozenset(tokens) for begun, tokens in found.items()}


class PhraseProgress(NamedTuple):
    """How far a hypothesis has come with the phrases of its sentence."""

    last: int
    """Its last token."""
    reached: tuple[Reached, ...]
    bound: frozenset[int] = frozenset()
    """Phrases of which it must go through with one: it began them only because they are asked
    for."""
    is_lost: bool = False
    """It has left what it is bound to, or has a phrase more often than it may."""

    def after(
        self, phrases: Sequence[Phrase], token: int, *, is_forced: bool = False
    ) -> PhraseProgress:
        """With one token more; `is_forced` where it was chosen only for a phrase."""
        reached = tuple(
            phrase.after(each, self.last, token)
            for phrase, each in zip(phrases, self.reached, strict=True)
        )
        bound, is_lost = self.bound, self.is_lost
        if bound:
            is_done = any(reached[i].times > self.reached[i].times for i in bound)
            on = frozenset(i for i in bound if reached[i].begun == (*self.reached[i].begun, token))
            bound, is_lost = (frozenset() if is_done else on), is_lost or not (is_done or on)
        if is_forced and not bound:
            bound = frozenset(i for i, each in enumerate(reached) if each.begun)
        is_lost = is_lost or any(map(Phrase.is_exceeded, phrases, reached))
        return PhraseProgress(token, reached, bound, is_lost)

    def may_end(self, phrases: Sequence[Phrase]) -> bool:
        """Whether it has all that it needs."""
        return not self.is_lost and all(map(Phrase.is_met_at_end, phrases, self.reached))

    def bank(self, phrases: Sequence[Phrase]) -> float:
        """How many phrases it has, of one that is begun the share that it has of it."""
        return sum(map(Phrase.share, phrases, self.reached))
