"""What tests of sampling have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mt.translation.translation import Translation

Samples = list[list[tuple[int, ...]]]
"""The tokens of each sample of each line."""


def tokens_of(translations: Sequence[Translation]) -> Samples:
    return [[each.tokens for each in one.hypotheses] for one in translations]


def letters_in_common(given: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[float(len(set(h) & set(r))) for r in given] for h in given])
