"""A held-out set, when the user gives none.

Which pairs are held out follows from a hash of their source alone, so that order and additions
to the corpus change nothing, and all pairs of one source go the same way: no held-out source
occurs in the rest.
"""

from __future__ import annotations

import hashlib


def position(key: str) -> float:
    """A number in [0, 1) that follows from `key` alone, evenly spread."""
    digest = hashlib.blake2b(key.encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def held_out_threshold(num_pairs: int, wanted: int) -> float:
    """Pairs whose `position` lies below this are held out: `wanted`, at most a tenth of all."""
    return min(wanted / max(num_pairs, 1), 0.1)
