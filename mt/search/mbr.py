"""Minimum-Bayes-risk choice: of several candidates, the one that is most like all of them.

    E(h) = sum over r of p(r) u(h, r)

with the candidates themselves as references r, each with its share p of the weight, and a utility
u such as sentence chrF (Kumar and Byrne 2004; Eikema and Aziz 2022). The most probable translation
can be an odd one; this one has many neighbours. It knows texts and a utility that it is
given, not how either is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Utility = Callable[[Sequence[str]], NDArray[np.float64]]
"""K texts -> (K, K): how good the text of a row is when that of a column is the reference."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One of the texts to choose from."""

    text: str
    score: float
    """The model's; of texts with the same expected utility the one with the larger comes first."""
    weight: float = 1.0
    """Its share before they are made to sum to one: 1 for each sample, or a probability."""


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A distinct text with its expected utility."""

    index: int
    """Index among the candidates; of equal texts that of the one with the best score."""
    expected_utility: float


def rank_by_consensus(candidates: Sequence[Candidate], utility: Utility) -> list[Ranked]:
    """Each distinct text once, by expected utility, best first.

    Equal texts are one candidate with the sum of their weights: it is the same whether a text
    drawn three times is given three times or once with three times the weight. Equal expected
    utilities are ordered by score, then by index.

    Raises ValueError for no candidate, for a weight that is negative or not finite, and when all
    are zero.
    """
    if not candidates:
        raise ValueError("there must be one candidate at least")
    weights: dict[str, float] = {}
    best: dict[str, int] = {}
    for index, candidate in enumerate(candidates):
        text = candidate.text
        weights[text] = weights.get(text, 0.0) + candidate.weight
        if text not in best or candidate.score > candidates[best[text]].score:
            best[text] = index
    given = np.array([candidate.weight for candidate in candidates])
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise ValueError(f"weights must be finite, not negative and not all zero: {given}")
    texts = list(weights)
    share = np.array([weights[text] for text in texts]) / given.sum()
    expected = utility(texts) @ share
    ranked = [
        Ranked(index=best[text], expected_utility=float(value))
        for text, value in zip(texts, expected, strict=True)
    ]
    return sorted(
        ranked, key=lambda r: (-_rounded(r.expected_utility), -candidates[r.index].score, r.index)
    )


def probabilities(log_probabilities: Sequence[float]) -> list[float]:
    """exp(l) over the sum of all exp(l): the weights of the hypotheses of a beam.

    Raises ValueError when there is none, or none is finite.
    """
    values = np.array(log_probabilities, dtype=np.float64)
    if not np.isfinite(values).any():
        raise ValueError("there must be one finite log-probability at least")
    exponentials = np.exp(values - values.max())
    share: list[float] = (exponentials / exponentials.sum()).tolist()
    return share


def _rounded(value: float) -> float:
    """A value in which sums in another order make no difference."""
    return round(value, 9)
