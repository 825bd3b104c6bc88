"""Beam search in four phases a step: expand, retire, prune, stop. Greedy search is beam 1.

The beam of a sentence has K places. A hypothesis that ends keeps its place, so that the live
ones become fewer and the search ends when none is left: each of the K results was, when it
ended, among the K best prefixes of its length. A sentence leaves the batch as soon as no live
hypothesis can change its result (`FinishedHypotheses.cannot_improve`).

Each sentence depends on itself alone: bounds are relative to its own source, and rows of other
sentences never compete with its own.

Shapes: B sentences still searched, K places, N = B * K rows, V vocabulary, T tokens so far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.config import SearchConfig
from mt.search.hypothesis import CLOSE, FinishedHypotheses, SearchResult
from mt.search.step import S, StepModel


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """The token ids that search must know."""

    start: int
    end: int
    forbidden: tuple[int, ...] = ()
    """Ids that no hypothesis may hold: padding, unknown, and the start symbol itself."""


@dataclass(frozen=True, kw_only=True)
class _Beam:
    """The live hypotheses of the sentences still searched."""

    sentences: list[int]
    """(B) the place of each sentence in the batch as it was given."""
    log_probability: Tensor
    """(B, K) float32; -inf marks a place that has ended or was never filled."""
    tokens: Tensor
    """(B, K, T + 1) what was fed so far, the start symbol first."""


@torch.inference_mode()
def beam_search(
    model: StepModel[S],
    source: Tensor,
    source_mask: Tensor,
    *,
    symbols: Symbols,
    config: SearchConfig,
) -> list[SearchResult]:
    """Search translations of source (B, S); source_mask (B, S) is True at tokens.

    The last token of each source is its end symbol and does not count for the length bound.
    Each result has the `config.n_best` best hypotheses, best first; fewer when the vocabulary and
    the bound allow fewer.
    """
    lengths = source_mask.sum(dim=1).tolist()
    limits = [length_limit(config, int(length) - 1) for length in lengths]
    finished = [FinishedHypotheses(config, max_length=limit) for limit in limits]
    state = model.start(source, source_mask)
    beam = _first_beam(source, symbols)
    while beam.sentences:
        scores, state = _expand(model, state, beam, symbols, limits)
        beam, rows = _retire_and_prune(scores, beam, symbols, config.beam, limits, finished)
        beam, kept = _stop(beam, finished)
        if beam.sentences:
            state = state.select(rows[kept].flatten())
    return [each.result() for each in finished]


def length_limit(config: SearchConfig, source_length: int) -> int:
    """Most tokens of a hypothesis, its end symbol not counted, for a source of so many tokens."""
    limit = math.floor(config.max_length_ratio * source_length) + config.max_length_offset
    return limit if config.max_length is None else min(limit, config.max_length)


def _first_beam(source: Tensor, symbols: Symbols) -> _Beam:
    """One live hypothesis a sentence: the start symbol (K = 1)."""
    size = source.size(0)
    return _Beam(
        sentences=list(range(size)),
        log_probability=torch.zeros(size, 1, device=source.device),
        tokens=torch.full((size, 1, 1), symbols.start, device=source.device),
    )


def _expand(
    model: StepModel[S], state: S, beam: _Beam, symbols: Symbols, limits: Sequence[int]
) -> tuple[Tensor, S]:
    """Give the log-probability of every one-token continuation, (B, K, V)."""
    logits, state = model.step(beam.tokens[:, :, -1].flatten(), state)
    # (N, V) -> (B, K, V)
    step = torch.log_softmax(logits.float(), dim=-1).view(*beam.log_probability.shape, -1)
    if symbols.forbidden:
        step[..., list(symbols.forbidden)] = -math.inf
    num_tokens = beam.tokens.size(2) - 1
    at_limit = [num_tokens >= limits[sentence] for sentence in beam.sentences]
    if any(at_limit):
        # Only the end may follow, at its own price: the score stays the model's score.
        rows = torch.tensor(at_limit, device=step.device)
        end = step[rows, :, symbols.end].clone()
        step[rows] = -math.inf
        step[rows, :, symbols.end] = end
    return step + beam.log_probability[:, :, None], state


def _retire_and_prune(
    scores: Tensor,
    beam: _Beam,
    symbols: Symbols,
    places: int,
    limits: Sequence[int],
    finished: Sequence[FinishedHypotheses],
) -> tuple[_Beam, Tensor]:
    """Keep the best continuations, as many as a sentence has places left; retire those that end.

    Returns the new beam and for each of its places the row it came from, (B, K).
    """
    size, width, vocabulary = scores.shape
    candidates = min(places + 1, width * vocabulary)
    top, index = scores.flatten(1).topk(candidates, dim=1)
    left = torch.tensor([places - len(finished[s]) for s in beam.sentences], device=top.device)
    _note_close_calls(top, left, beam, finished)
    top, index = top[:, :places], index[:, :places]
    origin = torch.div(index, vocabulary, rounding_mode="floor")
    token = index - origin * vocabulary
    rank = torch.arange(top.size(1), device=top.device)
    top = top.masked_fill(rank >= left[:, None], -math.inf)
    ended = (token == symbols.end) & (top > -math.inf)
    # (B, K, T + 1) -> the prefixes of the candidates (B, K', T + 1)
    prefix = beam.tokens.gather(1, origin[:, :, None].expand(-1, -1, beam.tokens.size(2)))
    for b, k in ended.nonzero().tolist():
        sentence = beam.sentences[b]
        tokens = tuple(prefix[b, k, 1:].tolist())
        finished[sentence].add(tokens, float(top[b, k]), hit_limit=len(tokens) >= limits[sentence])
    new = _Beam(
        sentences=beam.sentences,
        log_probability=top.masked_fill(ended, -math.inf),
        tokens=torch.cat((prefix, token[:, :, None]), dim=2),
    )
    first_row = torch.arange(size, device=top.device)[:, None] * width
    return new, first_row + origin


def _note_close_calls(
    top: Tensor, left: Tensor, beam: _Beam, finished: Sequence[FinishedHypotheses]
) -> None:
    """Note where the last candidate that is kept hardly beats the first that is not.

    top (B, C) is sorted; left (B) are the places that a sentence has.
    """
    edges = torch.stack((left - 1, left), dim=1).clamp(max=top.size(1) - 1)
    kept, dropped = top.gather(1, edges).unbind(1)
    is_close = (kept - dropped < CLOSE) & (dropped > -math.inf) & (left < top.size(1))
    for b in is_close.nonzero().flatten().tolist():
        finished[beam.sentences[b]].had_close_call = True


def _stop(beam: _Beam, finished: Sequence[FinishedHypotheses]) -> tuple[_Beam, list[int]]:
    """Let the sentences go that are done; returns the rest and their places in the beam."""
    best_live = beam.log_probability.max(dim=1).values.tolist()
    kept = [
        b
        for b, sentence in enumerate(beam.sentences)
        if best_live[b] > -math.inf and not finished[sentence].cannot_improve(best_live[b])
    ]
    if len(kept) == len(beam.sentences):
        return beam, kept
    return (
        _Beam(
            sentences=[beam.sentences[b] for b in kept],
            log_probability=beam.log_probability[kept],
            tokens=beam.tokens[kept],
        ),
        kept,
    )
