"""Random numbers that are a function of a key and a counter: Philox4x32-10 (Salmon et al. 2011).

There is no state that a draw would change: a number follows from what it is drawn for, and neither
from what was drawn before nor from what is drawn beside it. All on the device of the counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from mt.files.digests import key_of_bytes

_MASK = 0xFFFFFFFF
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10

Words = tuple[Tensor, Tensor, Tensor, Tensor]
"""Four words of 32 bits each, in int64; the shapes broadcast."""


def philox(counter: Words, key: tuple[Tensor, Tensor]) -> Words:
    """Four random words for each counter and key."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for number in range(_ROUNDS):
        if number:
            k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
        # Of a product that overflows int64 the 64 bits are right all the same.
        first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            ((second >> 32) & _MASK) ^ c1 ^ k0,
            second & _MASK,
            ((first >> 32) & _MASK) ^ c3 ^ k1,
            first & _MASK,
        )
    return c0, c1, c2, c3


@lru_cache(maxsize=1 << 14)  # that of a sentence is asked for at each step
def key_of(*parts: int | Sequence[int]) -> tuple[int, int]:
    """Two words of a key for some whole numbers; other numbers, other words."""
    key = key_of_bytes(repr(parts).encode())
    return key & _MASK, key >> 32


def gumbels(keys: Tensor, counters: Tensor, count: int) -> Tensor:
    """(R, count) numbers of the standard Gumbel distribution, float32.

    keys (R, 2) and counters (R, 3) are words; the fourth word of a counter is the index of the
    number, so that a row with more of them begins with the same.
    """
    index = torch.arange((count + 3) // 4, device=keys.device)
    words = philox(
        (index, counters[:, :1], counters[:, 1:2], counters[:, 2:]), (keys[:, :1], keys[:, 1:])
    )
    # (R, ceil(count / 4)) four times -> (R, count)
    bits = torch.stack(words, dim=2).flatten(1)[:, :count]
    # -log(-log(u)) with u = 1 - v: float32 is fine near 0, where v makes the large ones.
    v = bits.to(torch.float32).add_(0.5).mul_(2.0**-32).clamp_(max=1 - 2.0**-24)
    return v.neg_().log1p_().neg_().log_().neg_()
