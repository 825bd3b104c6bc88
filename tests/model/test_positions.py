"""Positions: the closed form, lengths beyond training, and the end of a learned table."""

from __future__ import annotations

import math

import pytest
import torch

from mt.config import Sinusoids
from mt.errors import DataError
from mt.model.positions import LearnedPositions, SinusoidalPositions, sinusoids


def test_sinusoids_equal_the_closed_form() -> None:
    table = sinusoids(50, 8)
    for p in range(50):
        for i in range(4):
            angle = p / 10000 ** (2 * i / 8)
            assert table[p, 2 * i] == pytest.approx(math.sin(angle), rel=1e-10, abs=1e-12)
            assert table[p, 2 * i + 1] == pytest.approx(math.cos(angle), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(("order", "last"), [("halves", 4), ("marian", 3)])
def test_sinusoids_in_halves_equal_their_closed_form(order: Sinusoids, last: int) -> None:
    table = sinusoids(50, 8, order=order)
    for p in range(50):
        for i in range(4):
            angle = p * 10000 ** (-i / last)
            assert table[p, i] == pytest.approx(math.sin(angle), rel=1e-9, abs=1e-12)
            assert table[p, 4 + i] == pytest.approx(math.cos(angle), rel=1e-9, abs=1e-12)


def test_sinusoidal_positions_work_beyond_their_first_table() -> None:
    positions = SinusoidalPositions(8)
    expected = sinusoids(1000, 8).float()
    torch.testing.assert_close(positions(1000), expected)
    torch.testing.assert_close(positions(1, 999), expected[999:])


def test_learned_positions_refuse_a_sequence_beyond_their_table() -> None:
    positions = LearnedPositions(8, 10)
    assert positions(10).shape == (10, 8)
    with pytest.raises(DataError, match="a sequence: 10 tokens are more than the 9 that"):
        positions(1, 10)
