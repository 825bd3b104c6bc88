"""The schedule against its closed form, and the optimizer against torch's plain AdamW."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mt.config import TrainingConfig
from mt.training.budget import budget_done, minutes_done
from mt.training.optimizer import make_optimizer
from mt.training.progress import Progress
from mt.training.schedule import dropout_share, learning_rate
from mt.training.weight_average import WeightAverage


@pytest.mark.parametrize("update", [1, 2, 399, 400, 401, 1600, 10**6])
def test_without_a_budget_it_is_the_formula_of_vaswani_scaled_to_its_peak(update: int) -> None:
    warmup, peak = 400, 5e-3
    formula = min(update**-0.5, update * warmup**-1.5) * peak * warmup**0.5
    rate = learning_rate(update, peak_rate=peak, warmup_updates=warmup)
    assert rate == pytest.approx(formula, rel=1e-12)


def test_update_zero_does_not_exist() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        learning_rate(0, peak_rate=1.0, warmup_updates=1)


def test_a_short_budget_of_minutes_shortens_the_warm_up_and_a_long_one_does_not() -> None:
    def rates(updates_in_budget: int) -> list[float]:
        return [
            learning_rate(
                update,
                peak_rate=1.0,
                warmup_updates=100,
                minutes_done=(update - 1) / updates_in_budget,
            )
            for update in range(1, updates_in_budget + 1)
        ]

    plain = [learning_rate(u, peak_rate=1.0, warmup_updates=100) for u in range(1, 1001)]
    assert rates(1000) == plain
    short = rates(50)
    assert short[:11] == sorted(short[:11])
    assert short[10] == pytest.approx(1.0)
    assert max(short) <= 1.0


def test_a_cooldown_ends_at_zero_and_touches_nothing_before() -> None:
    def rate(budget_done: float) -> float:
        return learning_rate(
            1, peak_rate=1.0, warmup_updates=1, cooldown=0.25, budget_done=budget_done
        )

    assert rate(0.0) == rate(0.75) == 1.0
    assert rate(0.875) == pytest.approx(0.5)
    assert rate(1.0) == 0.0


def test_dropout_rises_in_four_steps_and_then_stays() -> None:
    epochs = (0.0, 4.99, 5.0, 9.9, 10.0, 15.0, 19.99, 20.0, 300.0)
    shares = [dropout_share(each, 20.0) for each in epochs]
    assert shares == [0.0, 0.0, 0.25, 0.25, 0.5, 0.75, 0.75, 1.0, 1.0]
    assert dropout_share(0.0, 0.0) == 1.0


def test_the_largest_share_of_the_budgets_counts() -> None:
    progress = Progress(update=5, seconds=30.0)
    assert budget_done(TrainingConfig(), progress, epochs=3.0) == 0.0
    config = TrainingConfig(max_updates=20, max_minutes=2.0, max_epochs=4.0)
    assert minutes_done(config, progress) == 0.25
    assert budget_done(config, progress, epochs=3.0) == 0.75
    assert budget_done(config, progress, epochs=9.0) == 1.0
    assert minutes_done(TrainingConfig(max_updates=20), progress) == 0.0


def test_the_optimizer_steps_as_plain_adamw_does() -> None:
    torch.manual_seed(0)
    config = TrainingConfig(weight_decay=0.1, peak_rate=0.01)
    ours, theirs = nn.Linear(5, 4).double(), nn.Linear(5, 4).double()
    theirs.load_state_dict(ours.state_dict())
    fused = make_optimizer(ours, (), config)
    plain = torch.optim.AdamW(
        [
            {"params": [theirs.weight], "weight_decay": 0.1},
            {"params": [theirs.bias], "weight_decay": 0.0},
        ],
        lr=0.01,
        betas=(0.9, 0.98),
        eps=1e-9,
        foreach=False,
    )
    for _ in range(5):
        x = torch.randn(3, 5, dtype=torch.float64)
        for model, optimizer in ((ours, fused), (theirs, plain)):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours.weight, theirs.weight, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(ours.bias, theirs.bias, rtol=1e-10, atol=1e-12)


def test_the_average_is_its_recurrence_and_is_lent_to_the_model() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    average = WeightAverage(model, 0.9)
    expected = model.weight.detach().clone()
    for n in range(1, 200):
        with torch.no_grad():
            model.weight.normal_()
        average.update(n)
        decay = min(0.9, (1 + n) / (10 + n))
        expected = decay * expected + (1 - decay) * model.weight.detach()
    last = model.weight.detach().clone()
    with average.applied():
        torch.testing.assert_close(model.weight, expected)
    assert torch.equal(model.weight, last)


def test_an_average_with_decay_zero_is_the_weights() -> None:
    model = nn.Linear(3, 2)
    average = WeightAverage(model, 0.0)
    with torch.no_grad():
        model.weight.normal_()
    average.update(1)
    assert torch.equal(average.tensors()[0], model.weight)
