"""Learning rates as pure functions of the update."""

from __future__ import annotations

import math


def inverse_square_root(update: int, *, peak_rate: float, warmup_updates: int) -> float:
    """The rate of update 1, 2, …: linear up to `peak_rate`, then peak * sqrt(warmup / update).

    Vaswani et al. 2017, section 5.3, with the peak as the parameter.
    """
    if update < 1:
        raise ValueError(f"update must be at least 1, but is {update}")
    if update <= warmup_updates:
        return peak_rate * update / warmup_updates
    return peak_rate * math.sqrt(warmup_updates / update)
