"""Lengths of hypotheses: what bounds them, and what their log-probabilities are divided by.

Without a penalty, search prefers short hypotheses, since each token costs log-probability.
"""

from __future__ import annotations

import math

from mt.config import LengthPenalty, SearchConfig


def length_penalty(kind: LengthPenalty, alpha: float, length: int) -> float:
    """The divisor of a hypothesis of `length` tokens, its end symbol included.

    none: 1; mean: n; gnmt: ((5 + n) / 6)^alpha (Wu et al. 2016, equation 14). All are positive
    and never fall as the length grows.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, but is {length}")
    if kind == "none":
        return 1.0
    if kind == "mean":
        return float(length)
    return float(((5.0 + length) / 6.0) ** alpha)


def length_limit(config: SearchConfig, source_length: int) -> int:
    """Most tokens of a hypothesis, its end symbol not counted, for a source of so many tokens."""
    limit = math.floor(config.max_length_ratio * source_length) + config.max_length_offset
    return limit if config.max_length is None else min(limit, config.max_length)
