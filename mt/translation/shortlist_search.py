"""Search over shortlists, and over the whole vocabulary where a shortlist is not to be trusted.

Within a shortlist probabilities are made to sum to one, so that the search is that of another
model. What it finds is scored again by the model itself, decoded by force, so that reported scores
mean the same with and without. That takes longer than shortlists save (docs/log.md): who asks for
one hypothesis and no score is spared it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch

from mt.events import WholeVocabulary
from mt.search.hypothesis import CLOSE, Hypothesis, SearchResult
from mt.search.penalty import length_penalty
from mt.search.sentence import NO_DEMANDS
from mt.translation.forced import Forced, TokenPair, force_together
from mt.translation.replicas import Replica, together
from mt.translation.searching import Searcher, Source
from mt.translation.shortlist import Shortlist
from mt.translation.shortlist_model import SYMBOLS, ShortlistModel

_FEWEST = 4  # candidates for each place of the beam


@dataclass(frozen=True, kw_only=True)
class ShortlistSearcher:
    """Searches as `whole` does, each sentence over the candidates of its shortlist.

    A sentence that demands something by itself has the whole vocabulary: what it demands may lie
    outside its shortlist, and is said in ids of that vocabulary.
    """

    whole: Searcher
    short: Searcher
    shortlist: Shortlist
    exact_scores: bool
    """Whether a single hypothesis is scored too; several always are, and put in order."""

    @staticmethod
    def of(whole: Searcher, shortlist: Shortlist, *, exact_scores: bool) -> ShortlistSearcher:
        """A searcher with the settings and the models of `whole`.

        Raises ValueError for a shortlist of another vocabulary.
        """
        return ShortlistSearcher(
            whole=whole,
            short=dataclasses.replace(
                whole,
                replicas=[_over_shortlists(replica, shortlist) for replica in whole.replicas],
                symbols=SYMBOLS,
            ),
            shortlist=shortlist,
            exact_scores=exact_scores,
        )

    def search(self, sources: Sequence[Source]) -> list[SearchResult]:
        """The results of sources, as `Searcher.search` gives them."""
        reasons = [self._objection(source) for source in sources]
        is_whole = [reason is not None for reason in reasons]
        if any(is_whole):
            self.whole.listener(
                WholeVocabulary(
                    num_demanding=reasons.count("demanding"),
                    num_unknown=reasons.count("unknown"),
                    num_unfit=reasons.count("unfit"),
                )
            )
        short = [source for source, whole in zip(sources, is_whole, strict=True) if not whole]
        rest = [source for source, whole in zip(sources, is_whole, strict=True) if whole]
        found = iter(self._over_shortlists(short) if short else ())
        others = iter(self.whole.search(rest) if rest else ())
        return [next(others) if whole else next(found) for whole in is_whole]

    def _objection(self, source: Source) -> Literal["demanding", "unknown", "unfit"] | None:
        """Why a sentence is to have the whole vocabulary, if it is."""
        if source.demands != NO_DEMANDS:
            return "demanding"
        if not self.shortlist.knows(source.tokens):
            return "unknown"
        size = len(self.shortlist.candidates(source.tokens))
        fewest = _FEWEST * self.whole.config.beam
        return None if fewest <= size <= self.shortlist.target_vocab // 2 else "unfit"

    def _over_shortlists(self, sources: Sequence[Source]) -> list[SearchResult]:
        found = []
        for source, result in zip(sources, self.short.search(sources), strict=True):
            ids = self.shortlist.candidates(source.tokens)
            hypotheses = tuple(
                dataclasses.replace(each, tokens=tuple(ids[list(each.tokens)].tolist()))
                for each in result.hypotheses
            )
            found.append(dataclasses.replace(result, hypotheses=hypotheses))
        if self.exact_scores or self.whole.config.n_best > 1:
            return self._scored(sources, found)
        return found

    def _scored(
        self, sources: Sequence[Source], results: Sequence[SearchResult]
    ) -> list[SearchResult]:
        """The results with the scores of the model, best first."""
        pairs = [
            (source.tokens, hypothesis.tokens)
            for source, result in zip(sources, results, strict=True)
            for hypothesis in result.hypotheses
        ]
        forced = iter(self._forced(pairs, self.whole.capacity))
        scored = []
        for source, result in zip(sources, results, strict=True):
            logs = [next(forced).log_probability for _ in result.hypotheses]
            ranked = self._ranked(result.hypotheses, logs)
            if self.whole.is_exact and self._is_close(ranked):
                # Of their company alone their order follows, not of that of a batch.
                own = [(source.tokens, each.tokens) for each in result.hypotheses]
                again = self._forced(own, len(own))
                ranked = self._ranked(result.hypotheses, [each.log_probability for each in again])
            scored.append(dataclasses.replace(result, hypotheses=ranked))
        return scored

    def _forced(self, pairs: Sequence[TokenPair], batch_size: int) -> list[Forced]:
        first = self.whole.replicas[0]
        is_narrow = first.device.type != "cpu" and first.members[0].kind == "bfloat16"
        dtype = torch.bfloat16 if is_narrow else torch.float32
        return force_together(first.originals, pairs, batch_size=batch_size, dtype=dtype)

    def _ranked(
        self, hypotheses: Sequence[Hypothesis], logs: Sequence[float]
    ) -> tuple[Hypothesis, ...]:
        scored = [
            dataclasses.replace(each, log_probability=log, score=log / self._divisor(each))
            for each, log in zip(hypotheses, logs, strict=True)
        ]
        return tuple(sorted(scored, key=lambda each: -each.score))

    def _is_close(self, ranked: Sequence[Hypothesis]) -> bool:
        return any(
            better.score - worse.score < CLOSE / self._divisor(better)
            for better, worse in pairwise(ranked)
        )

    def _divisor(self, hypothesis: Hypothesis) -> float:
        config = self.whole.config
        return length_penalty(config.length_penalty, config.alpha, len(hypothesis.tokens) + 1)


def _over_shortlists(replica: Replica, shortlist: Shortlist) -> Replica:
    """The same models, each over the candidates of a sentence: they predict together as before.

    Each makes the probabilities of these sum to one before the mean of all is taken.
    """
    for member in replica.members:
        vocabulary = member.output_weight.size(0)
        if vocabulary != shortlist.target_vocab:
            raise ValueError(
                f"a shortlist of {shortlist.target_vocab} target pieces does not fit a model of "
                f"{vocabulary}"
            )
    members = [ShortlistModel(member, shortlist) for member in replica.members]
    return dataclasses.replace(replica, model=together(members))
