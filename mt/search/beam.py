"""Beam search in four phases a step: expand, retire, prune, stop. Greedy search is beam 1.

The beam of a sentence has K slots. A hypothesis that ends keeps its slot, so that the live ones
become fewer and the search ends when none is left: each of the K results was, when it
ended, among the K best prefixes of its length. A sentence is done as soon as no live hypothesis
can change its result (`FinishedHypotheses.cannot_improve`).

Each sentence depends only on itself: bounds are relative to its own source, and rows of other
sentences never compete with its own. So sentences may come and go: `Beam.joined` lets waiting ones
take the slots of those that are done.

Shapes: B sentences, K slots, N = B * K rows, V vocabulary, T tokens of the longest hypothesis.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from mt.config import SamplingConfig, SearchConfig
from mt.errors import ModelNumbersError
from mt.search.constrained.beam_allocation import allocate, forbid_early_ends, has_phrases
from mt.search.constrained.constraints import constrain
from mt.search.hypothesis import CLOSE, FinishedHypotheses, FinishedSamples, SearchResult
from mt.search.penalty import length_limit
from mt.search.sentence import Demands, Sentence, Symbols
from mt.search.step import S, StepModel
from mt.search.topk import best_of_rows

_DEAD = 4  # sentences are dropped when one in so many is done: dropping copies what stays


@dataclass(frozen=True, kw_only=True)
class Beam(Generic[S]):
    """The live hypotheses of sentences, and what the model remembers of them."""

    sentences: list[Sentence]
    """(B)"""
    log_probability: Tensor
    """(B, K) float32; -inf marks a slot that has ended or was never filled."""
    tokens: Tensor
    """(B, K, T + 1) what was fed so far, the start symbol first; shorter ones to the right."""
    state: S

    @staticmethod
    def begin(
        model: StepModel[S],
        source: Tensor,
        source_mask: Tensor,
        keys: Sequence[int],
        *,
        demands: Sequence[Demands],
        symbols: Symbols,
        config: SearchConfig,
        sampling: SamplingConfig | None = None,
    ) -> Beam[S]:
        """One hypothesis a sentence, the start symbol: source (B, S), mask (B, S) True at tokens.

        The last token of each source is its end symbol and does not count for the length bound.
        With `sampling` the sentences are sampled instead of searched.

        Raises ValueError for a prefix that holds the end or a forbidden symbol, and for samples
        that demand phrases: only a search finds hypotheses that hold them.
        """
        if sampling is not None and any(each.phrases for each in demands):
            raise ValueError("a sentence that is sampled cannot demand phrases")
        lengths = [int(length) for length in source_mask.sum(dim=1).tolist()]
        limits = [
            _with_room(of_sentence.prefix, length_limit(config, length - 1), symbols)
            for of_sentence, length in zip(demands, lengths, strict=True)
        ]
        size = source.size(0)
        return Beam(
            sentences=[
                Sentence(
                    key=key,
                    source_length=length,
                    limit=limit,
                    demands=of_sentence,
                    finished=FinishedHypotheses(config, limit)
                    if sampling is None
                    else FinishedSamples(config, limit, samples=sampling.samples),
                )
                for key, length, limit, of_sentence in zip(
                    keys, lengths, limits, demands, strict=True
                )
            ],
            log_probability=torch.zeros(size, 1, device=source.device),
            tokens=torch.full((size, 1, 1), symbols.start, device=source.device),
            state=model.start(source, source_mask),
        )

    @property
    def num_open(self) -> int:
        """Sentences that are not done."""
        return sum(not sentence.is_done for sentence in self.sentences)

    def joined(self, other: Beam[S]) -> Beam[S]:
        """With the sentences of `other` behind its own; both must have as many slots."""
        length = max(self.tokens.size(2), other.tokens.size(2))
        tokens = [
            functional.pad(each, (length - each.size(2), 0)) for each in (self.tokens, other.tokens)
        ]
        return Beam(
            sentences=self.sentences + other.sentences,
            log_probability=torch.cat((self.log_probability, other.log_probability)),
            tokens=torch.cat(tokens),
            state=self.state.joined(other.state),
        )


def _with_room(prefix: tuple[int, ...], limit: int, symbols: Symbols) -> int:
    """The length bound where hypotheses begin with `prefix`: no less than it has tokens."""
    impossible = {symbols.end, *symbols.forbidden}.intersection(prefix)
    if impossible:
        raise ValueError(f"a prefix cannot hold the symbols {sorted(impossible)}")
    return max(limit, len(prefix))


def advance(
    model: StepModel[S], beam: Beam[S], *, symbols: Symbols, config: SearchConfig
) -> tuple[Beam[S], list[tuple[int, SearchResult]]]:
    """Make one step; gives the beam after it, and the keys and results of sentences now done.

    Raises ModelNumbersError when the model gives NaN, as all logits of -inf do.
    """
    scores, state = _expand(model, beam, symbols, config)
    beam, rows, best_live = _retire_and_prune(scores, beam, symbols, config.beam)
    done = stop(beam.sentences, best_live)
    return without_done(dataclasses.replace(beam, state=state), rows), done


def _expand(
    model: StepModel[S], beam: Beam[S], symbols: Symbols, config: SearchConfig
) -> tuple[Tensor, S]:
    """Give the log-probability of every one-token continuation, (B, K, V); -inf is forbidden."""
    step, state = next_tokens(model, beam, symbols=symbols, config=config)
    return step.add_(beam.log_probability[:, :, None]), state


def next_tokens(
    model: StepModel[S], beam: Beam[S], *, symbols: Symbols, config: SearchConfig
) -> tuple[Tensor, S]:
    """Give the log-probability of every next token, (B, K, V); -inf is forbidden."""
    logits, state = model.step(beam.tokens[:, :, -1].flatten(), beam.state)
    # (N, V) -> (B, K, V)
    step = torch.log_softmax(logits, dim=-1, dtype=torch.float32)
    step = step.view(*beam.log_probability.shape, -1)
    constrain(step, beam.tokens, beam.sentences, config=config, symbols=symbols)
    return step, state


def _retire_and_prune(
    scores: Tensor, beam: Beam[S], symbols: Symbols, num_slots: int
) -> tuple[Beam[S], Tensor, list[float]]:
    """Keep the best continuations, as many as a sentence has slots left; retire those that end.

    Returns the new beam, with the state of the old one, for each of its slots the row it came
    from, (B, K), and the best log-probability that is live in each sentence.

    What is best comes from the device at once, since each transfer waits for all that it has to
    do; these few numbers are sorted out on the host.
    """
    size, width, vocabulary = scores.shape
    candidates = min(num_slots + 1, width * vocabulary)
    with_phrases = has_phrases(beam.sentences)
    if with_phrases:
        forbid_early_ends(scores, beam.sentences, symbols)
    best = best_of_rows(scores.flatten(1), candidates)
    top, index = (each.cpu().numpy() for each in best)
    _refuse_nan(top, beam.sentences)
    num_left = [num_slots - len(each.finished) for each in beam.sentences]
    _note_close_calls(top, num_left, beam.sentences)
    if with_phrases:
        allocated = allocate(scores, *best, num_left, sentences=beam.sentences, symbols=symbols)
        top, index = (each.cpu().numpy() for each in allocated)
    if candidates < num_slots:  # of a small vocabulary there are not so many
        missing = ((0, 0), (0, num_slots - candidates))
        top = np.pad(top, missing, constant_values=-np.inf)
        index = np.pad(index, missing)
    top, index = top[:, :num_slots], index[:, :num_slots]
    origin = index // vocabulary
    token = index - origin * vocabulary
    top = np.where(np.arange(num_slots) < np.array(num_left)[:, None], top, -np.inf)
    ended = (token == symbols.end) & (top > -np.inf)
    live = np.where(ended, np.float32(-np.inf), top)
    device = scores.device
    rows = torch.from_numpy(origin + np.arange(size)[:, None] * width).to(device)
    # (B * K, T + 1) -> the prefixes of the candidates (B, K', T + 1)
    prefix = beam.tokens.flatten(0, 1)[rows]
    _retire(prefix, top, ended, beam.sentences)
    for sentence in beam.sentences:
        sentence.length += 1
    new = dataclasses.replace(
        beam,
        log_probability=torch.from_numpy(live).to(device),
        tokens=torch.cat((prefix, torch.from_numpy(token[:, :, None]).to(device)), dim=2),
    )
    return new, rows, live.max(axis=1).tolist()


def _refuse_nan(top: NDArray[np.float32], sentences: Sequence[Sentence]) -> None:
    """Raise ModelNumbersError where a sentence that is searched has a NaN among its best, (B, C).

    NaN counts as the largest of numbers, so that it is there if it is anywhere. It compares as
    false with all of them: a search that went on with it would never end.
    """
    of_sentence = np.isnan(top[:, 0])
    if of_sentence.any():
        for is_nan, sentence in zip(of_sentence.tolist(), sentences, strict=True):
            if is_nan and not sentence.is_done:
                raise ModelNumbersError("a next token")


def _retire(
    prefix: Tensor,
    top: NDArray[np.float32],
    ended: NDArray[np.bool_],
    sentences: Sequence[Sentence],
) -> None:
    """Hand the hypotheses that ended to their sentences: prefix (B, K, T), top and ended (B, K)."""
    b, k = ended.nonzero()
    if not len(b):
        return
    slots = (torch.from_numpy(each).to(prefix.device) for each in (b, k))
    found = zip(
        b.tolist(), k.tolist(), prefix[tuple(slots)].tolist(), top[b, k].tolist(), strict=True
    )
    for of_sentence, slot, fed, log_probability in found:
        sentence = sentences[of_sentence]
        tokens = tuple(fed[len(fed) - sentence.length :])
        is_at_limit = len(tokens) >= sentence.limit
        sentence.finished.add(tokens, log_probability, slot=slot, hit_limit=is_at_limit)


def _note_close_calls(
    top: NDArray[np.float32], left: Sequence[int], sentences: Sequence[Sentence]
) -> None:
    """Note where the last candidate that is kept hardly beats the first that is not.

    top (B, C) is sorted; left (B) are the slots that a sentence has.
    """
    for best, count, sentence in zip(top.tolist(), left, sentences, strict=True):
        if 0 < count < len(best) and best[count] > -math.inf and not sentence.is_done:
            sentence.finished.had_close_call |= best[count - 1] - best[count] < CLOSE


def stop(
    sentences: Sequence[Sentence], best_live: Sequence[float]
) -> list[tuple[int, SearchResult]]:
    """Mark the sentences whose result no live hypothesis can change, and give those results.

    `best_live` are the best log-probabilities that are live. A model may hold what is demanded for
    impossible. Such a sentence has its prefix for a result, at a score of -inf.
    """
    done = []
    for sentence, best in zip(sentences, best_live, strict=True):
        if sentence.is_done:
            continue
        if best == -math.inf or sentence.finished.cannot_improve(best):
            if not len(sentence.finished):
                sentence.finished.add(sentence.demands.prefix, -math.inf, slot=0, hit_limit=False)
            sentence.is_done = True
            done.append((sentence.key, sentence.finished.result()))
    return done


def without_done(beam: Beam[S], rows: Tensor) -> Beam[S]:
    """Let the state follow the beam, whose slots come from `rows` (B, K), and drop what is done.

    Few that are done stay a while, since dropping them copies the others; none beyond its limit.
    """
    sentences = beam.sentences
    kept = [b for b, sentence in enumerate(sentences) if not sentence.is_done]
    num_done = len(sentences) - len(kept)
    is_late = any(each.is_done and each.length >= each.limit for each in sentences)
    if not num_done or (num_done * _DEAD < len(sentences) and not is_late):
        return dataclasses.replace(beam, state=beam.state.select(rows))
    length = max((sentences[b].length for b in kept), default=0)
    staying = torch.tensor(kept, dtype=torch.long, device=rows.device)
    return Beam(
        sentences=[sentences[b] for b in kept],
        log_probability=beam.log_probability[staying],
        tokens=beam.tokens[staying][:, :, beam.tokens.size(2) - length - 1 :],
        state=beam.state.select(rows[staying]) if kept else beam.state,
    )
