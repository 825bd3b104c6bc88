"""Length penalties against their formulas."""

from __future__ import annotations

import pytest

from mt.search.penalty import length_penalty


def test_each_penalty_is_its_formula() -> None:
    assert length_penalty("none", 0.7, 9) == 1.0
    assert length_penalty("mean", 0.7, 9) == 9.0
    assert length_penalty("gnmt", 0.6, 7) == pytest.approx(2.0**0.6)
    assert length_penalty("gnmt", 0.0, 7) == 1.0


@pytest.mark.parametrize("kind", ["none", "mean", "gnmt"])
def test_a_penalty_never_falls_with_length(kind: str) -> None:
    values = [length_penalty(kind, 0.6, n) for n in range(1, 50)]  # type: ignore[arg-type]
    assert values == sorted(values)
    assert values[0] > 0


def test_a_length_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        length_penalty("mean", 1.0, 0)
