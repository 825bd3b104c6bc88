"""How often the pairs of each direction come: in proportion to n^(1/T), for n pairs.

T = 1 leaves them as they are, and the larger it is, the more alike they become (Arivazhagan et al.
2019). An epoch has as many pairs as before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def balance_weights(
    counts: Sequence[int], groups: Sequence[int], temperature: float
) -> tuple[float, ...]:
    """The weight of each corpus, of so many pairs, by the direction that `groups` numbers.

    w_g = N p_g / n_g with p_g = n_g^(1/T) / sum_h n_h^(1/T) over the directions, N = sum_g n_g.
    """
    sizes = np.bincount(groups, weights=counts).astype(np.float64)
    shares = np.where(sizes > 0, sizes ** (1 / temperature), 0.0)
    shares /= shares.sum()
    weights = sizes.sum() * shares / np.maximum(sizes, 1)
    return tuple(float(weights[group]) for group in groups)


def times(
    rows: NDArray[np.bool_], origins: NDArray[np.uint16], weights: Sequence[float]
) -> NDArray[np.int64]:
    """How often each row comes when those of corpus o come weights[o] times, evenly spread."""
    found = np.zeros(len(rows), dtype=np.int64)
    for origin, weight in enumerate(weights):
        mine = np.flatnonzero(rows & (origins == origin))
        steps = np.floor(np.arange(len(mine) + 1) * weight + 1e-9).astype(np.int64)
        found[mine] = np.diff(steps)
    return found
