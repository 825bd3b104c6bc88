"""Which sentences are searched together: those that are done go, and waiting ones take their rows.

The caller gives groups of sentences of like lengths, each as it is to be encoded. As soon as there
is room for the next group, it makes its first step by itself and joins the beam.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.config import SamplingConfig, SearchConfig
from mt.search.beam import Beam, advance
from mt.search.hypothesis import SearchResult
from mt.search.sampling.sampler import advance_samples
from mt.search.sentence import NO_DEMANDS, Demands, Symbols
from mt.search.step import S, StepModel


@dataclass(frozen=True, kw_only=True)
class Group:
    """Sentences that are encoded together."""

    keys: Sequence[int]
    """(B) what the caller knows them by."""
    source: Tensor
    """(B, S) token ids, an end symbol last."""
    source_mask: Tensor
    """(B, S) True at tokens."""
    demands: Sequence[Demands]
    """(B) what each asks for by itself."""


def search_groups(
    model: StepModel[S],
    groups: Iterable[Group],
    *,
    symbols: Symbols,
    config: SearchConfig,
    capacity: int,
    max_tokens: int | None = None,
    sampling: SamplingConfig | None = None,
) -> Iterator[tuple[int, SearchResult]]:
    """Search all sentences, at most `capacity` at a time; a larger group goes by itself.

    Where given, `max_tokens` bounds the padded source tokens of those searched at a time.

    Gives the key and the result of each sentence as it is done. A result has the `config.n_best`
    best hypotheses, best first; fewer when the vocabulary and the bound allow fewer. With
    `sampling` it has the samples, in the order of their numbers; `config` bounds and scores them.
    """
    waiting = iter(groups)
    group = next(waiting, None)
    beam: Beam[S] | None = None
    while True:
        num_open = 0 if beam is None else beam.num_open
        while group is not None and (
            not num_open or _has_room(beam, num_open, group, capacity, max_tokens)
        ):
            new, done = _begun(model, group, symbols, config, sampling)
            yield from done
            if new.num_open:
                beam = new if beam is None or not num_open else beam.joined(new)
                num_open = beam.num_open
            group = next(waiting, None)
        if beam is None or not num_open:
            return
        with torch.inference_mode():
            beam, done = _advanced(model, beam, symbols, config, sampling)
        yield from done


def _has_room(
    beam: Beam[S] | None, num_open: int, group: Group, capacity: int, max_tokens: int | None
) -> bool:
    """Whether a group may join: there is room, and its sources are of like lengths."""
    if beam is None or num_open + len(group.keys) > capacity:
        return beam is None
    width = group.source.size(1)
    longest = max(width, *(sentence.source_length for sentence in beam.sentences))
    padded = (num_open + len(group.keys)) * longest
    return 2 * width >= longest and (max_tokens is None or padded <= max_tokens)


@torch.inference_mode()
def _begun(
    model: StepModel[S],
    group: Group,
    symbols: Symbols,
    config: SearchConfig,
    sampling: SamplingConfig | None,
) -> tuple[Beam[S], list[tuple[int, SearchResult]]]:
    """The beam of a group after its first step."""
    beam = Beam.begin(
        model,
        group.source,
        group.source_mask,
        group.keys,
        demands=group.demands,
        symbols=symbols,
        config=config,
        sampling=sampling,
    )
    return _advanced(model, beam, symbols, config, sampling)


def _advanced(
    model: StepModel[S],
    beam: Beam[S],
    symbols: Symbols,
    config: SearchConfig,
    sampling: SamplingConfig | None,
) -> tuple[Beam[S], list[tuple[int, SearchResult]]]:
    """The beam after a step of search or of sampling, and what is done."""
    if sampling is not None:
        return advance_samples(model, beam, symbols=symbols, config=config, sampling=sampling)
    return advance(model, beam, symbols=symbols, config=config)


def beam_search(
    model: StepModel[S],
    source: Tensor,
    source_mask: Tensor,
    *,
    symbols: Symbols,
    config: SearchConfig,
    demands: Sequence[Demands] | None = None,
) -> list[SearchResult]:
    """Search translations of source (B, S), all at once; source_mask (B, S) is True at tokens.

    `demands` (B) are what each sentence asks for by itself; without them, nothing.
    """
    size = source.size(0)
    group = Group(
        keys=range(size),
        source=source,
        source_mask=source_mask,
        demands=demands if demands is not None else [NO_DEMANDS] * size,
    )
    found = dict(search_groups(model, [group], symbols=symbols, config=config, capacity=size))
    return [found[key] for key in range(size)]
