"""Relative positions against the formula of Transformer-XL, written out term by term."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mt.model.positions import RelativePositions, sinusoids
from mt.model.relative import RelativeAttention, by_offset
from mt.model.translation_model import padding_bias


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def make_attention(shared: int | None = None) -> RelativeAttention:
    torch.manual_seed(0)
    attention = RelativeAttention(8, 2, 0.0, key_value_heads=shared).double()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.copy_(0.5 * torch.randn_like(parameter))
    return attention


def offsets_of(length: int) -> Tensor:
    """(2 T, D) sinusoids of T - 1, T - 2, … -T, in float64."""
    return sinusoids(2 * length, 8, start=-length).flip(0)


def naive(attention: RelativeAttention, x: Tensor, mask: Tensor, *, is_causal: bool) -> Tensor:
    """Every score by itself, O(T^2 D): x (B, T, D), mask (B, T) -> (B, T, D)."""
    heads, width = attention.heads, attention.head_width
    query = attention.query(x)
    key, value = attention.key_value(x).chunk(2, dim=-1)
    shared = attention.key_value_heads
    out = torch.zeros_like(x)
    for b in range(x.size(0)):
        for h in range(heads):
            own = slice(h * width, (h + 1) * width)
            group = h * shared // heads
            theirs = slice(group * width, (group + 1) * width)
            u, v = attention.content_bias[own], attention.position_bias[own]
            for i in range(x.size(1)):
                seen = [j for j in range(x.size(1)) if mask[b, j] and not (is_causal and j > i)]
                scores = []
                for j in seen:
                    offset = attention.position.weight[own] @ sinusoids(1, 8, start=i - j)[0]
                    content = (query[b, i, own] + u) @ key[b, j, theirs]
                    place = (query[b, i, own] + v) @ offset
                    scores.append((content + place) / math.sqrt(width))
                weights = torch.stack(scores).softmax(dim=0)
                out[b, i, own] = weights @ value[b, seen, theirs]
    found: Tensor = attention.output(out)
    return found


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shared", [None, 1])
@pytest.mark.parametrize("length", [1, 2, 7])
@torch.no_grad()
def test_relative_attention_equals_the_naive_formula(
    length: int, shared: int | None, is_causal: bool
) -> None:
    attention = make_attention(shared)
    x = draw(2, length, 8)
    mask = torch.ones(2, length, dtype=torch.bool)
    if not is_causal:
        mask[1, 4:] = False
    found = attention(
        x,
        x,
        None if is_causal else padding_bias(mask).double(),
        encodings=offsets_of(length),
        is_causal=is_causal,
    )
    expected = naive(attention, x, mask, is_causal=is_causal)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("length", [1, 40, 700])
def test_the_table_holds_the_sinusoids_of_offsets(length: int) -> None:
    positions = RelativePositions(8)
    torch.testing.assert_close(positions(length), offsets_of(length).float())
    table, zero = positions.around(length)
    for offset in (0, length - 1, 1 - length):
        expected = sinusoids(1, 8, start=offset)[0].float()
        torch.testing.assert_close(table[zero - offset], expected)


def test_gradients_are_right() -> None:
    attention = make_attention()
    names = [name for name, _ in attention.named_parameters()]
    assert {"content_bias", "position_bias", "position.weight"} <= set(names)
    x = draw(1, 4, 8).requires_grad_()
    values = [parameter.detach().clone().requires_grad_() for parameter in attention.parameters()]

    def loss(x: Tensor, *values: Tensor) -> Tensor:
        out: Tensor = torch.func.functional_call(
            attention,
            dict(zip(names, values, strict=True)),
            (x, x, None),
            {"encodings": offsets_of(4), "is_causal": True},
        )
        return out

    assert torch.autograd.gradcheck(loss, (x, *values))


def test_scores_of_offsets_come_to_stand_under_their_keys() -> None:
    length = 4
    for num_offsets in (2 * length, length + 1):
        offsets = torch.arange(length - 1, length - 1 - num_offsets, -1)
        found = by_offset(offsets.expand(length, num_offsets).contiguous())
        place = torch.arange(length)
        is_meant = torch.ones(length, length, dtype=torch.bool)
        if num_offsets == length + 1:
            is_meant = is_meant.tril()
        assert torch.equal(found[is_meant], (place[:, None] - place)[is_meant])


def test_attention_without_places_is_refused() -> None:
    x = torch.randn(1, 3, 8)
    with pytest.raises(ValueError, match="needs encodings"):
        RelativeAttention(8, 2, 0.0)(x, x, None)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("autocast", [True, False])
@torch.no_grad()
def test_in_bfloat16_only_the_projections_are_rounded_on_cpus(
    autocast: bool, is_causal: bool
) -> None:
    """The weights of attention are those of float64 from the same rounded projections."""
    attention = make_attention().float().bfloat16().float()
    x, offsets = draw(2, 30, 8).bfloat16(), offsets_of(30).bfloat16()
    rounded = [
        linear(given.float()).bfloat16().double()
        for linear, given in (
            (attention.query, x),
            (attention.key_value, x),
            (attention.position, offsets),
        )
    ]
    query, key = rounded[0].view(2, 30, 2, 4), rounded[1].chunk(2, dim=-1)[0].view(2, 30, 2, 4)
    u, v = (bias.double().view(2, 4) for bias in (attention.content_bias, attention.position_bias))
    content = torch.einsum("bihe,bjhe->bhij", query + u, key)
    index = torch.arange(30)
    of_pairs = rounded[2].view(60, 2, 4)[29 - (index[:, None] - index)]  # (T, T, H, E)
    scores = (content + torch.einsum("bihe,ijhe->bhij", query + v, of_pairs)) / math.sqrt(4)
    if is_causal:
        scores = scores.masked_fill(index[:, None] < index, -math.inf)

    seen: list[Tensor] = []
    attention.recorder = seen.append
    if not autocast:
        attention, x = attention.bfloat16(), x.bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        out = attention(x, x, None, encodings=offsets, is_causal=is_causal)
    assert out.dtype == torch.bfloat16
    (weights,) = seen
    assert weights.dtype == torch.float32
    torch.testing.assert_close(weights.double(), scores.softmax(dim=3), rtol=1e-4, atol=1e-6)
