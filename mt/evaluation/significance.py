"""Confidence intervals, and whether two systems differ by more than chance.

The samples and their statistics are those of sacreBLEU with the same seed. One thing differs: a
sampled difference that equals the observed one counts as one that is as large, as the tests were
published. sacreBLEU counts only larger ones, and so finds two equal systems different with
p = 0.0001.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mt.evaluation.metrics import Measured

BOOTSTRAP, RANDOMISATION = "bs", "ar"
NUM_SAMPLES = {BOOTSTRAP: 1_000, RANDOMISATION: 10_000}
SEED = 12345
_SAME = 1e-9  # far below the last digit of any score

_Scores = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The middle 95 % of scores of samples drawn from the sentences of a test set."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, samples: _Scores) -> Interval:
        """The interval of sampled scores, (R,)."""
        ordered = np.sort(samples)
        outside = len(ordered) // 40
        return cls(
            mean=float(ordered.mean()),
            half_width=float(ordered[len(ordered) - outside - 1] - ordered[outside]) / 2,
        )


def bootstrap_scores(measured: Measured, *, num_samples: int, seed: int) -> _Scores:
    """Scores of samples of N sentences with replacement, (R,) (Koehn 2004)."""
    counts = measured.counts.astype(np.float32)
    rng = np.random.default_rng(seed)
    num_sentences = len(counts)
    return np.array(
        [
            measured.metric.score(
                counts[rng.choice(num_sentences, size=num_sentences, replace=True)].sum(axis=0)
            )
            for _ in range(num_samples)
        ]
    )


def paired_bootstrap(baseline: _Scores, system: _Scores, difference: float) -> float:
    """The p-value of a difference of scores by paired bootstrap resampling (Koehn 2004).

    `baseline` and `system`, (R,), are scores of the same samples of sentences. p is the share of
    samples in which the absolute difference is at least `difference` above its mean.
    """
    differences = np.abs(system - baseline)
    return _p_value(differences - differences.mean(), difference)


def paired_randomisation(
    baseline: Measured, system: Measured, *, num_samples: int, seed: int
) -> float:
    """The p-value of the difference of two systems by paired approximate randomisation.

    In each of R trials the two outputs of a sentence are exchanged with probability 1/2; p is the
    share of trials in which the systems differ as much as they do (Riezler and Maxwell 2005).
    """
    kept = np.random.default_rng(seed).integers(
        2, size=(num_samples, len(baseline.counts)), dtype=np.bool_
    )
    # One product is enough: what one side does not get, the other does.
    both = baseline.counts.sum(axis=0) + system.counts.sum(axis=0)
    change = baseline.counts - system.counts
    moves = change.any(axis=1)
    first = np.concatenate(
        [
            system.counts.sum(axis=0) + trials[:, moves].astype(np.float64) @ change[moves]
            for trials in np.array_split(kept, max(num_samples // 500, 1))
        ]
    )
    score = baseline.metric.score
    differences = np.array([abs(score(one) - score(both - one)) for one in first])
    return _p_value(differences, abs(baseline.value - system.value))


def _p_value(sampled: _Scores, observed: float) -> float:
    """(c + 1) / (R + 1), where c of R sampled statistics are as large as the observed one."""
    at_least = int((sampled >= abs(observed) - _SAME).sum())
    return (at_least + 1) / (len(sampled) + 1)
