"""A held-out set, when the user gives none.

Which pairs are held out follows from a hash of their source only, so that order and additions
to the corpus change nothing, and all pairs of one source go the same way: no held-out source occurs
in the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mt.corpus.keys import KeyTable


def choose_held_out(
    table: KeyTable, candidates: NDArray[np.bool_], wanted: int
) -> NDArray[np.bool_]:
    """Which of the `candidates` are held out: about `wanted`, at most a tenth, at least one."""
    # Numbers in [0, 1), evenly spread, that depend only on the sources.
    positions = table.column("source").astype(np.float64) / 2.0**64
    num_candidates = int(candidates.sum())
    if not num_candidates:
        return candidates
    share = min(wanted / num_candidates, 0.1)
    threshold = max(share, np.nextafter(positions[candidates].min(), 1.0))
    chosen: NDArray[np.bool_] = candidates & (positions < threshold)
    return chosen
