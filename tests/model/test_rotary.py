"""Rotary positions: the formula in complex numbers, and scores of offsets alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mt.model.attention import attention_weights
from mt.model.positions import RotaryPositions
from mt.model.rotary import RotaryAttention, rotated


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def places_of(length: int, width: int) -> Tensor:
    """In float64, where modules hold a table in float32."""
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10000 ** (
        torch.arange(0, width, 2, dtype=torch.float64) / width
    )
    return torch.cat((angle.cos(), angle.sin()), dim=1)


def test_rotating_equals_the_product_of_complex_numbers() -> None:
    torch.manual_seed(0)
    x = draw(2, 3, 40, 8)
    number = torch.complex(x[..., :4], x[..., 4:])
    place = torch.arange(40, dtype=torch.float64)[:, None]
    frequency = 10000 ** (-2 * torch.arange(4, dtype=torch.float64) / 8)
    expected = number * torch.exp(1j * place * frequency)
    found = rotated(x, places_of(40, 8))
    torch.testing.assert_close(found[..., :4], expected.real, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(found[..., 4:], expected.imag, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("length", [40, 700])
def test_the_table_holds_cosines_and_sines_of_any_length(length: int) -> None:
    torch.testing.assert_close(RotaryPositions(8)(length), places_of(length, 8).float())


@torch.no_grad()
def test_weights_depend_on_the_offset_alone() -> None:
    torch.manual_seed(0)
    attention = RotaryAttention(16, 2, 0.0).double()
    x, places = draw(1, 6, 16), places_of(50, 8)

    def weights(start: int) -> Tensor:
        query, key, _, bias, _ = attention.prepare(
            x, x, None, places[start : start + 6], is_causal=False
        )
        return attention_weights(query, key, bias)

    torch.testing.assert_close(weights(0), weights(44), rtol=1e-10, atol=1e-12)
    other = torch.cat((places[:3], places[13:16]))
    query, key, *_ = attention.prepare(x, x, None, other, is_causal=False)
    assert not torch.allclose(attention_weights(query, key, None), weights(0))


def test_the_gradient_of_rotating_is_right() -> None:
    torch.manual_seed(0)
    x = draw(2, 5, 6).requires_grad_()
    assert torch.autograd.gradcheck(lambda y: rotated(y, places_of(5, 6)), (x,))


def test_attention_without_places_is_refused() -> None:
    x = torch.randn(1, 3, 8)
    with pytest.raises(ValueError, match="needs encodings"):
        RotaryAttention(8, 2, 0.0)(x, x, None)
