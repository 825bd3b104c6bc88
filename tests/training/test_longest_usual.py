"""The length that a model is trained to handle."""

from __future__ import annotations

import numpy as np
import pytest

from mt.preparation.pipeline import longest_usual


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([5], 5),
        ([3, 9, 4], 9),
        ([*range(1000), 5000], 999),  # one in a thousand is beyond
        ([7] * 500_000 + [60] * 101 + [90] * 99, 60),  # and never more than 100
    ],
)
def test_few_sources_are_longer(lengths: list[int], expected: int) -> None:
    assert longest_usual(np.array(lengths, dtype=np.int32)) == expected
