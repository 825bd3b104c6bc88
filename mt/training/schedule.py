"""Learning rates as pure functions of the update, and of how much of the budget is used up."""

from __future__ import annotations

import math

_LONGEST_WARMUP = 0.2  # of a budget in minutes
_DROPOUT_STEPS = 4  # each is compiled anew where layers are


def learning_rate(
    update: int,
    *,
    peak_rate: float,
    warmup_updates: int,
    minutes_done: float = 0.0,
    cooldown: float = 0.0,
    budget_done: float = 0.0,
) -> float:
    """The rate of update 1, 2, …: linear up to `peak_rate`, then peak * sqrt(warmup / update).

    Vaswani et al. 2017, section 5.3, with the peak as the parameter. Two things fit it to a budget,
    by shares of it that are used up, from 0 to 1:

    - The warm-up takes at most a fifth of a budget in minutes: the rate is
      peak * max(update / warmup, minutes_done / 0.2) where that is the smaller one.
    - Over the last `cooldown` of the whole budget it falls linearly to zero on top, by
      `cooldown_left`.
    """
    if update < 1:
        raise ValueError(f"update must be at least 1, but is {update}")
    warm = min(max(update / warmup_updates, minutes_done / _LONGEST_WARMUP), 1.0)
    decay = min(math.sqrt(warmup_updates / update), 1.0)
    return peak_rate * warm * decay * min(cooldown_left(cooldown, budget_done), 1.0)


def cooldown_left(cooldown: float, budget_done: float) -> float:
    """What a cooldown leaves of the rate: (1 - budget_done) / cooldown, and never less than 0.

    Before the cooldown that is more than 1; without one it is infinite.
    """
    return max(1.0 - budget_done, 0.0) / cooldown if cooldown else math.inf


def dropout_share(epochs: float, rise: float) -> float:
    """The share of its rates that dropout has after so many epochs: 0, 1/4, … 1 over `rise` epochs.

    Text that is seen for the first times cannot be learnt by heart yet (Morerio et al. 2017).
    """
    if epochs >= rise:
        return 1.0
    return math.floor(_DROPOUT_STEPS * epochs / rise) / _DROPOUT_STEPS
