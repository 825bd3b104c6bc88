"""The pair of a corpus whose source is most like a given one: a translation memory, no more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_Ids = NDArray[np.integer]


def nearest(queries: Sequence[_Ids], sources: Sequence[_Ids]) -> NDArray[np.int64]:
    """For each query the index of the source most like it, (Q,); of equals the first.

    queries, sources: token ids below some size, one array a sentence; there is one source at
    least. Likeness is the cosine of the sets of tokens, each weighted by log(S / s), where s of S
    sources hold the token (Salton and Buckley 1988). Order and repetition do not count.
    """
    sets = [np.unique(np.asarray(ids, dtype=np.int64)) for ids in sources]
    size = 1 + max((int(ids[-1]) for ids in sets if len(ids)), default=0)
    tokens = np.concatenate([np.zeros(0, np.int64), *sets])
    holders = np.repeat(np.arange(len(sets)), [len(ids) for ids in sets])
    order = np.argsort(tokens, kind="stable")
    holders = holders[order]
    counts = np.bincount(tokens, minlength=size)
    ends = np.cumsum(counts)
    # Never 0: a token that all sources hold still parts them from nothing.
    weights = np.log1p(len(sets) / np.maximum(counts, 1)) ** 2
    lengths = np.sqrt(np.bincount(holders, weights=weights[tokens[order]], minlength=len(sets)))
    lengths[lengths == 0] = 1.0
    found = np.zeros(len(queries), dtype=np.int64)
    for index, ids in enumerate(queries):
        likeness = np.zeros(len(sets))
        for token in np.unique(np.asarray(ids, dtype=np.int64)):
            if token < size:
                likeness[holders[ends[token] - counts[token] : ends[token]]] += weights[token]
        found[index] = int(np.argmax(likeness / lengths))
    return found
