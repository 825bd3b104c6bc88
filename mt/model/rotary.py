"""Rotary positions (RoPE, Su et al. 2021): positions turn queries and keys by angles.

Shapes: B batch, T positions, D model width, H heads, E head width.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mt.model.attention import AttentionInputs, MultiHeadAttention


def rotated(x: Tensor, encodings: Tensor) -> Tensor:
    """The pairs (x_i, x_{i + E/2}) of x (..., E) turned by the angles of their positions.

    encodings (..., E) are cosines, then sines, of E/2 angles p / 10000^(2i/E). As complex numbers,
    (x_i + j x_{i + E/2}) exp(j angle_i): the product of a query and a key depends on the positions
    by their offset alone.
    """
    cosine, sine = encodings.chunk(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    turned = torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
    return turned.to(x.dtype)


class RotaryAttention(MultiHeadAttention):
    """Self-attention whose queries and keys are turned; values are not."""

    def prepare(
        self,
        x: Tensor,
        memory: Tensor,
        bias: Tensor | None,
        encodings: Tensor | None,
        *,
        is_causal: bool,
    ) -> AttentionInputs:
        """As in `MultiHeadAttention`; `encodings` (T, E) as in `rotated`."""
        if encodings is None:
            raise ValueError("rotary attention needs encodings of positions")
        plain = super().prepare(x, memory, bias, None, is_causal=is_causal)
        return plain._replace(
            query=rotated(plain.query, encodings), key=rotated(plain.key, encodings)
        )
