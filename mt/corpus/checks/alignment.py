"""Where two sides stop translating each other, by their lengths.

Translations are about as long as their sources. From the line on where one side lacks a line, each
source stands beside the translation of its neighbour, and the lengths part ways.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_LEAST_PAIRS = 50
_MOST_SHIFT = 5  # lines that one side may lack at the break
_CONFIRMING = 2000  # pairs after the break that are compared, shifted
_LEAST_DROP = 0.85  # of the mean deviation, when shifted, for the break to be one


def alignment_break(source_lengths: Sequence[int], target_lengths: Sequence[int]) -> int | None:
    """The line (from 1) about which the sides part, or None where they do not.

    With d = |log(t / s) - median| of each pair, the break is where a step up fits d best (one
    change point, least squares: the difference of the means after and before, weighted by both
    counts). It counts only if the pairs after it fit better when one side is shifted by a few
    lines: other text, with other lengths, would not.
    """
    source = np.log(np.asarray(source_lengths, dtype=np.float64) + 5.0)
    target = np.log(np.asarray(target_lengths, dtype=np.float64) + 5.0)
    size = len(source)
    if size < _LEAST_PAIRS:
        return None
    centre = float(np.median(target - source))
    deviation = np.abs(target - source - centre)
    before = np.arange(1, size)
    sums = np.cumsum(deviation)
    mean_before = sums[:-1] / before
    mean_after = (sums[-1] - sums[:-1]) / (size - before)
    gain = before * (size - before) * np.clip(mean_after - mean_before, 0.0, None) ** 2
    index = int(gain.argmax()) + 1
    fits_shifted = _fits_shifted(source[index:], target[index:], centre)
    return index + 1 if fits_shifted else None


def _fits_shifted(source: NDArray[np.float64], target: NDArray[np.float64], centre: float) -> bool:
    """Whether two sides agree better when one is shifted by up to `_MOST_SHIFT` lines."""
    size = min(len(source), _CONFIRMING)
    if size < _LEAST_PAIRS // 2:
        return False
    source, target = source[:size], target[:size]

    def mean_deviation(shift: int) -> float:
        left = source[max(-shift, 0) : size - max(shift, 0)]
        right = target[max(shift, 0) : size - max(-shift, 0)]
        return float(np.abs(right - left - centre).mean())

    shifts = [shift for shift in range(-_MOST_SHIFT, _MOST_SHIFT + 1) if shift]
    return min(map(mean_deviation, shifts)) < _LEAST_DROP * mean_deviation(0)
