"""Draws against exact distributions, and top-k and top-p against a plain implementation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mt.config import SamplingConfig
from mt.search.sampling.top_p import Drawn, draw_tokens


def draw(probabilities: Tensor, count: int, config: SamplingConfig, *, seed: int = 1) -> Drawn:
    """Draw `count` tokens by probabilities (V)."""
    rows = torch.zeros(count, dtype=torch.long)
    keys = torch.tensor([[seed, 7]]).expand(count, 2)
    counters = torch.stack((rows, torch.arange(count)), dim=1)
    return draw_tokens(probabilities.log()[None], rows, keys, counters, config)


def inside(probabilities: Sequence[float], config: SamplingConfig) -> dict[int, float]:
    """The tokens that may be drawn and their likelihoods, as the definitions say."""
    raised = [p ** (1 / config.temperature) for p in probabilities]
    order = sorted(range(len(raised)), key=lambda token: (-raised[token], token))
    order = order[: config.top_k]
    total = sum(raised[token] for token in order)
    kept: list[int] = []
    while not kept or sum(raised[token] for token in kept) / total < config.top_p - 1e-6:
        kept.append(order[len(kept)])
        if len(kept) == len(order):
            break
    mass = sum(raised[token] for token in kept)
    return {token: raised[token] / mass for token in kept}


def chi_square_is_usual(found: Tensor, expected: dict[int, float], count: int) -> bool:
    """Whether Pearson's statistic lies within five standard deviations of its mean.

    Tokens that are expected fewer than five times are counted together.
    """
    numbers = torch.bincount(found, minlength=max(expected) + 1).tolist()
    assert all(token in expected for token in torch.unique(found).tolist())
    cells = [(numbers[token], count * p) for token, p in expected.items() if count * p >= 5]
    rare = [(numbers[token], count * p) for token, p in expected.items() if count * p < 5]
    if sum(mean for _, mean in rare) >= 5:
        cells.append((sum(n for n, _ in rare), sum(mean for _, mean in rare)))
    statistic = sum((number - mean) ** 2 / mean for number, mean in cells)
    freedom = max(len(cells) - 1, 1)
    return bool(abs(statistic - freedom) < 5 * math.sqrt(2 * freedom))


FILTERS = [
    SamplingConfig(),
    SamplingConfig(temperature=0.5),
    SamplingConfig(temperature=2.5),
    SamplingConfig(top_k=3),
    SamplingConfig(top_p=0.9),
    SamplingConfig(top_p=0.3, temperature=1.5),
    SamplingConfig(top_k=5, top_p=0.7),
]


@pytest.mark.parametrize("config", FILTERS, ids=str)
@pytest.mark.parametrize(("vocabulary", "spread"), [(2, 1.0), (7, 1.5), (50, 1.0), (1000, 3.0)])
def test_frequencies_are_those_of_the_distribution(
    config: SamplingConfig, vocabulary: int, spread: float
) -> None:
    generator = torch.Generator().manual_seed(vocabulary)
    p = torch.softmax(spread * torch.randn(vocabulary, generator=generator).double(), dim=0)
    count = 20_000
    found = draw(p.float(), count, config).token
    assert chi_square_is_usual(found, inside(p.tolist(), config), count)


@settings(max_examples=300, deadline=None)
@given(
    parts=st.lists(st.integers(0, 8), min_size=1, max_size=12).filter(any),
    top_k=st.none() | st.integers(1, 14),
    percent=st.integers(1, 100),
    temperature=st.sampled_from([1.0, 0.5, 2.0]),
)
def test_only_tokens_of_top_k_and_top_p_are_drawn_and_each_of_them(
    parts: list[int], top_k: int | None, percent: int, temperature: float
) -> None:
    """Small whole parts: equal probabilities, and sets that reach p exactly, are common."""
    p = torch.tensor(parts, dtype=torch.float64) / sum(parts)
    config = SamplingConfig(top_k=top_k, top_p=percent / 100, temperature=temperature)
    found = set(draw(p.float(), 400, config).token.tolist())
    expected = {token: q for token, q in inside(p.tolist(), config).items() if q > 0}
    assert found <= set(expected)
    assert {token for token, q in expected.items() if q > 0.05} <= found


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.4, [1]), (0.5, [1]), (0.51, [0, 1]), (0.75, [0, 1]), (0.76, [0, 1, 2]), (1.0, [0, 1, 2])],
)
def test_top_p_is_the_smallest_set_that_reaches_p(p: float, expected: list[int]) -> None:
    """Of .25, .5 and .25; the first of two equal ones comes first."""
    found = draw(torch.tensor([0.25, 0.5, 0.25]), 200, SamplingConfig(top_p=p)).token
    assert torch.unique(found).tolist() == expected


def test_top_k_takes_the_first_of_equal_ones() -> None:
    found = draw(torch.full((6,), 1 / 6), 300, SamplingConfig(top_k=2)).token
    assert torch.unique(found).tolist() == [0, 1]


@pytest.mark.parametrize("config", [SamplingConfig(top_k=1), SamplingConfig(temperature=0.001)])
def test_top_k_of_one_and_a_low_temperature_are_greedy(config: SamplingConfig) -> None:
    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(500, 900, generator=generator)
    rows = torch.arange(500)
    keys = torch.stack((rows, rows), dim=1)
    found = draw_tokens(torch.log_softmax(logits, 1), rows, keys, keys, config)
    is_clear = logits.topk(2).values.diff()[:, 0] < -0.05
    assert is_clear.sum() > 400
    assert torch.equal(found.token[is_clear], logits.argmax(dim=1)[is_clear])


@pytest.mark.parametrize("config", FILTERS, ids=str)
@pytest.mark.parametrize("kind", ["each by itself", "probable up", "probable down"])
def test_a_token_that_is_no_close_call_survives_rounding(
    config: SamplingConfig, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Log-probabilities moved by half a close call give the same token, or it was marked.

    Close calls are made wide here, so that there are some.
    """
    monkeypatch.setattr("mt.search.sampling.top_p.CLOSE", 0.02)
    generator = torch.Generator().manual_seed(5)
    logits = 2 * torch.randn(8000, 150, generator=generator)
    rows = torch.arange(8000)
    keys = torch.stack((rows, rows + 5), dim=1)
    sign = {
        "each by itself": 1 - 2 * torch.rand(logits.shape, generator=generator),
        "probable up": (logits > 2).float() * 2 - 1,
        "probable down": 1 - (logits > 2).float() * 2,
    }[kind]

    def found(scores: Tensor) -> Drawn:
        return draw_tokens(torch.log_softmax(scores, 1), rows, keys, keys, config)

    plain, moved = found(logits), found(logits + 0.0099 * sign)
    is_moved = plain.token != moved.token
    assert is_moved.any()
    assert plain.is_close[is_moved].all()
    assert plain.is_close.float().mean() < 0.2


@pytest.mark.parametrize("config", FILTERS, ids=str)
def test_each_row_is_drawn_for_itself(
    config: SamplingConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = torch.Generator().manual_seed(6)
    step = torch.log_softmax(torch.randn(40, 60, generator=generator), dim=1)
    rows = torch.arange(40)
    keys = torch.stack((rows, rows), dim=1)
    together = draw_tokens(step, rows, keys, keys, config)
    some = torch.tensor([7, 3, 31])
    alone = draw_tokens(step, some, keys[some], keys[some], config)
    assert torch.equal(alone.token, together.token[some])
    monkeypatch.setattr("mt.search.sampling.top_p._NUMBERS", 180)
    assert torch.equal(draw_tokens(step, rows, keys, keys, config).token, together.token)
