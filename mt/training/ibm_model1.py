"""Which target pieces a source piece gives, learnt from pairs by IBM model 1 (Brown et al. 1993).

    p(t | s) = sum over all pairs of the posterior of the link s-t, over the same sum for all t
    posterior of the link s-t in a pair = p(t | s) / sum over the source pieces r of p(t | r)

where each source has a null piece beside its own, for what none of its own gives. The order of the
pieces plays no part.

Cells are where a source and a target piece of a pair meet; kinds, M of them, are the two
pieces that meet there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 5  # of expectation maximisation
_CELLS = 2_000_000  # of a chunk: memory holds some numbers for each, and one for each of all
_Tokens = NDArray[np.integer]
_Pair = tuple[_Tokens, _Tokens]


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """What each source piece gives, the likeliest first."""

    first: NDArray[np.int32]
    """(source vocabulary + 1) the target pieces of source piece i are from `first[i]` on, up to
    `first[i + 1]`."""
    targets: NDArray[np.int32]
    """(M)"""
    probabilities: NDArray[np.float64]
    """(M) p(t | s)"""

    def likeliest(self, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """`first` and `targets`, of each source piece the `count` likeliest targets at most."""
        sizes = np.diff(self.first)
        rank = np.arange(len(self.targets)) - np.repeat(self.first[:-1], sizes)
        first = np.concatenate(([0], np.minimum(sizes, count).cumsum()))
        return first.astype(np.int32), self.targets[rank < count]


@dataclass(frozen=True, kw_only=True)
class _Chunk:
    """The cells of some pairs."""

    kind: NDArray[np.int32]
    """The kind of each cell; those of a target token stand together."""
    start: NDArray[np.int64]
    """Where those of each target token begin."""

    def posterior(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        joint = probability[self.kind]
        sums = np.add.reduceat(joint, self.start)
        joint /= np.repeat(sums, np.diff(self.start, append=len(joint)))
        return joint


def learn_lexicon(
    sources: Sequence[_Tokens],
    targets: Sequence[_Tokens],
    *,
    source_vocab: int,
    target_vocab: int,
) -> Lexicon:
    """Learn from pairs of token ids; pairs with an empty side teach nothing."""
    pairs = [(s, t) for s, t in zip(sources, targets, strict=True) if len(s) and len(t)]
    if not pairs:
        nothing = np.zeros(0, np.int32)
        first = np.zeros(source_vocab + 1, np.int32)
        return Lexicon(first=first, targets=nothing, probabilities=np.zeros(0))
    parts = [_chunk(part, target_vocab) for part in _parts(pairs)]
    kinds, _ = _distinct(np.concatenate([found for found, _ in parts]))
    chunks = []
    for found, chunk in parts:
        index = np.searchsorted(kinds, found).astype(np.int32)
        chunks.append(_Chunk(kind=index[chunk.kind], start=chunk.start))
    del parts
    source = kinds // target_vocab
    probability = np.ones(len(kinds))
    for _ in range(_ROUNDS):
        counts = np.zeros(len(kinds))
        for chunk in chunks:
            counts += np.bincount(chunk.kind, chunk.posterior(probability), minlength=len(kinds))
        probability = counts / np.bincount(source, counts)[source]
    order = np.lexsort((-probability, source))
    order = order[source[order] > 0]  # what the null piece gives is no source piece's
    return Lexicon(
        first=np.searchsorted(source[order], np.arange(1, source_vocab + 2)).astype(np.int32),
        targets=(kinds[order] % target_vocab).astype(np.int32),
        probabilities=probability[order],
    )


def _parts(pairs: Sequence[_Pair]) -> Iterator[Sequence[_Pair]]:
    """Pairs in chunks of so many cells."""
    begin = num_cells = 0
    for end, (source, target) in enumerate(pairs, start=1):
        num_cells += (len(source) + 1) * len(target)
        if num_cells >= _CELLS:
            yield pairs[begin:end]
            begin, num_cells = end, 0
    if begin < len(pairs):
        yield pairs[begin:]


def _chunk(pairs: Sequence[_Pair], target_vocab: int) -> tuple[NDArray[np.int64], _Chunk]:
    """The cells of some pairs, with kinds of their own: a number for the two pieces of each kind.

    The null piece is source piece 0, the others are counted from 1.
    """
    lengths = np.array([(len(source) + 1, len(target)) for source, target in pairs])
    source = np.concatenate([np.append(s.astype(np.int64) + 1, 0) for s, _ in pairs])
    target = np.concatenate([t.astype(np.int64) for _, t in pairs])
    width = np.repeat(lengths[:, 0], lengths[:, 1])  # cells of each target token
    begin = np.repeat(lengths[:, 0].cumsum() - lengths[:, 0], lengths[:, 1])
    start = width.cumsum() - width
    index = np.arange(width.sum()) + np.repeat(begin - start, width)
    kinds, kind = _distinct(source[index] * target_vocab + np.repeat(target, width))
    return kinds, _Chunk(kind=kind, start=start)


def _distinct(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """As `np.unique(numbers, return_inverse=True)`, which takes several times as long."""
    order = numbers.argsort()
    ordered = numbers[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])
    inverse = np.empty(len(numbers), np.int32)
    inverse[order] = is_new.cumsum() - 1
    return ordered[is_new], inverse
