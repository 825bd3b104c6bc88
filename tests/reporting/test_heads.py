"""Entropy and names of heads, on matrices whose answer is known."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mt.reporting.heads import (
    LEAST_WEIGHT,
    PATTERNS,
    HeadProfile,
    Kind,
    Pattern,
    entropy,
    pattern_cells,
    profile_heads,
    visible_keys,
)

KINDS: tuple[Kind, ...] = ("cross", "encoder", "decoder")
CASES = [(kind, pattern) for kind in KINDS for pattern in PATTERNS[kind]]


def uniform(kind: Kind, num_queries: int, num_keys: int) -> Tensor:
    visible = visible_keys(kind, num_queries, num_keys).double()
    return visible / visible.sum(dim=1, keepdim=True)


def profile(kind: Kind, weights: Tensor) -> HeadProfile:
    return profile_heads(kind, weights[None, None])[0][0]


def shaped(kind: Kind, pattern: Pattern, share: float, size: int = 9) -> Tensor:
    """A head with `share` of each row on the pattern and the rest on the other visible keys."""
    size_keys = size + 2 if kind == "cross" else size
    visible = visible_keys(kind, size, size_keys).double()
    cells = pattern_cells(kind, pattern, size, size_keys).double() * visible
    others = visible - cells
    weights = torch.zeros(size, size_keys, dtype=torch.float64)
    for row in range(size):
        num, rest = float(cells[row].sum()), float(others[row].sum())
        on_pattern = 0.0 if num == 0 else 1.0 if rest == 0 else share
        weights[row] = cells[row] * (on_pattern / max(num, 1))
        weights[row] += others[row] * ((1 - on_pattern) / max(rest, 1))
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(size, dtype=torch.float64))
    return weights


def test_entropy_is_that_of_the_formula_term_by_term() -> None:
    torch.manual_seed(0)
    weights = torch.rand(2, 3, 4, 5, dtype=torch.float64).softmax(dim=-1)
    weights[0, 0, 0] = torch.tensor([0.5, 0.5, 0.0, 0.0, 0.0])
    found = entropy(weights)
    for place in torch.cartesian_prod(torch.arange(2), torch.arange(3), torch.arange(4)).tolist():
        row = weights[tuple(place)].tolist()
        expected = -sum(a * math.log(a) for a in row if a > 0)
        assert float(found[tuple(place)]) == pytest.approx(expected, rel=1e-12)
    assert float(found[0, 0, 0]) == pytest.approx(math.log(2))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_have_the_most_entropy_and_no_name(kind: Kind) -> None:
    for size in (1, 2, 3, 4, 7, 20):
        found = profile(kind, uniform(kind, size, size))
        visible = range(1, size + 1) if kind == "decoder" else [size] * size
        expected = sum(math.log(num) for num in visible) / size
        assert found.entropy == pytest.approx(expected)
        assert found.spread == pytest.approx(1.0 if size > 1 else 0.0)
        assert found.names == ()


@pytest.mark.parametrize("kind", KINDS)
def test_all_weight_on_one_key_has_no_entropy(kind: Kind) -> None:
    weights = torch.zeros(6, 6)
    weights[:, 0] = 1.0
    found = profile(kind, weights)
    assert found.entropy == 0.0
    assert found.spread == 0.0


@pytest.mark.parametrize(("kind", "pattern"), CASES)
def test_a_head_of_a_pattern_has_its_name_alone(kind: Kind, pattern: Pattern) -> None:
    found = profile(kind, shaped(kind, pattern, 0.9))
    assert found.names == (pattern,)
    assert found.weights[pattern] > 0.85


@pytest.mark.parametrize(("kind", "pattern"), CASES)
def test_the_name_begins_at_the_threshold(kind: Kind, pattern: Pattern) -> None:
    # So long that equal weights put little on any pattern.
    below = profile(kind, shaped(kind, pattern, LEAST_WEIGHT - 0.04, size=40))
    above = profile(kind, shaped(kind, pattern, LEAST_WEIGHT + 0.04, size=40))
    assert pattern not in below.names
    assert pattern in above.names


def test_what_equal_weights_would_do_as_well_is_no_pattern() -> None:
    """Of four source tokens the band about the diagonal holds more than half."""
    weights = shaped("cross", "diagonal", 0.8, size=3)
    found = profile("cross", weights[:, :4] / weights[:, :4].sum(dim=1, keepdim=True))
    assert found.weights["diagonal"] > LEAST_WEIGHT
    assert "diagonal" not in found.names


def test_two_queries_make_no_pattern() -> None:
    assert profile("encoder", torch.eye(2)).names == ()
    assert profile("encoder", torch.eye(3)).names == ("diagonal",)
    # The first query of the decoder sees itself alone and does not count.
    assert profile("decoder", torch.eye(3)).names == ()
    assert profile("decoder", torch.eye(4)).names == ("diagonal",)


def test_the_diagonal_of_cross_attention_follows_the_lengths() -> None:
    """Twice as many target tokens as source tokens: two steps for each."""
    weights = torch.zeros(16, 8)
    weights[torch.arange(16), torch.arange(16) // 2] = 1.0
    assert profile("cross", weights).names == ("diagonal",)
    assert profile("cross", weights.flip(1)).names == ()


def test_profiles_stand_by_layer_and_head() -> None:
    weights = torch.eye(5).expand(3, 2, 5, 5).clone()
    weights[2, 1] = torch.eye(5).roll(1, dims=1)
    found = profile_heads("encoder", weights)
    assert [(each.layer, each.head) for row in found for each in row] == [
        (layer, head) for layer in range(3) for head in range(2)
    ]
    assert found[2][1].names == ("next-token",)
    assert found[0][0].names == ("diagonal",)


def test_a_pattern_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no next-token heads are looked for in decoder"):
        pattern_cells("decoder", "next-token", 3, 3)
