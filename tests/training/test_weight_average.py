"""The average of the weights follows its closed form, its warm-up included."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from torch import nn

from mt.training.weight_average import WeightAverage


def mean_of(values: list[float], decay: Fraction) -> float:
    """What the average of `values` after the first is, in exact arithmetic.

    The weight of value n is (1 - d_n) times all later d, with d_n = min(decay, (1 + n) / (10 + n)).
    """
    decays = [min(decay, Fraction(1 + n, 10 + n)) for n in range(len(values))]
    total = Fraction(0)
    for n, value in enumerate(values):
        weight = Fraction(1) if n == 0 else 1 - decays[n]
        for later in decays[n + 1 :]:
            weight *= later
        total += weight * Fraction(value)
    return float(total)


@pytest.mark.parametrize(
    ("decay", "num_updates"),
    [
        (Fraction(999, 1000), 1),
        (Fraction(999, 1000), 30),
        (Fraction(1, 2), 12),  # the warm-up ends at update 8
        (Fraction(0), 5),
    ],
)
def test_the_average_is_the_sum_over_all_weights_by_the_closed_form(
    decay: Fraction, num_updates: int
) -> None:
    model = nn.Linear(1, 1, bias=False).double()
    values = [float(3 * n % 7 - 3) for n in range(num_updates + 1)]
    nn.init.constant_(model.weight, values[0])
    average = WeightAverage(model, float(decay))
    for n, value in enumerate(values[1:], start=1):
        nn.init.constant_(model.weight, value)
        average.update(n)
    assert float(average.tensors()[0]) == pytest.approx(
        mean_of(values, decay), rel=1e-10, abs=1e-12
    )


def test_within_applied_the_model_holds_the_average_and_after_it_its_weights() -> None:
    model = nn.Linear(2, 2)
    average = WeightAverage(model, 0.5)
    first = [p.detach().clone() for p in model.parameters()]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    last = [p.detach().clone() for p in model.parameters()]
    with average.applied():
        assert all(map(torch.equal, model.parameters(), first))
    assert all(map(torch.equal, model.parameters(), last))
    assert all(map(torch.equal, average.tensors(), first))
