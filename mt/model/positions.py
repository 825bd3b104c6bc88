"""How a token knows its place: an encoding that is added to its embedding.

Shapes: B batch, T positions, D model width.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mt.config import ModelConfig
from mt.errors import DataError


def sinusoids(num_positions: int, d_model: int, *, start: int = 0) -> Tensor:
    """The table of Vaswani et al. 2017, section 3.5, as float64 (num_positions, d_model).

    PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(p / 10000^(2i/D)), for the positions
    from `start` on.
    """
    place = torch.arange(start, start + num_positions, dtype=torch.float64)[:, None]
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = place * torch.exp(pair * (-math.log(10000.0) / d_model))
    # (T, D/2) sines and cosines -> (T, D/2, 2) -> (T, D), interleaved
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


class SinusoidalPositions(nn.Module):
    """Fixed sinusoids; any length works. The table grows when a longer sequence comes."""

    table: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("table", sinusoids(256, d_model).float(), persistent=False)

    def forward(self, length: int, start: int = 0) -> Tensor:
        """The encodings of positions start … start + length - 1, (length, D)."""
        end = start + length
        self._grow(end)
        return self.table[start:end]

    def at(self, places: Tensor, longest: int) -> Tensor:
        """The encodings of some places (B), the largest of which is `longest`: (B, D)."""
        self._grow(longest + 1)
        return self.table[places]

    def _grow(self, end: int) -> None:
        if end > self.table.size(0):
            size = max(end, 2 * self.table.size(0))
            with torch.inference_mode(False):  # training may use what a search has grown
                grown = sinusoids(size, self.d_model).to(self.table.dtype)
                self.table = grown.to(self.table.device)


class LearnedPositions(nn.Module):
    """A learned vector for each of `max_positions` places; longer sequences are refused."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.max_positions = max_positions
        self.table = nn.Parameter(torch.empty(max_positions, d_model))

    def forward(self, length: int, start: int = 0) -> Tensor:
        """The encodings of positions start … start + length - 1, (length, D).

        Raises DataError beyond the table.
        """
        self._check(start + length)
        return self.table[start : start + length]

    def at(self, places: Tensor, longest: int) -> Tensor:
        """The encodings of some places (B), the largest of which is `longest`: (B, D).

        Raises DataError beyond the table.
        """
        self._check(longest + 1)
        return self.table[places]

    def _check(self, length: int) -> None:
        if length > self.max_positions:
            raise DataError(
                f"a sequence of {length} tokens is longer than the table of "
                f"{self.max_positions} learned positions",
                hint="Split the text, or train with sinusoidal positions",
            )


Positions = SinusoidalPositions | LearnedPositions


def make_positions(config: ModelConfig) -> Positions:
    """The positions that `config.positions` names."""
    if config.positions == "learned":
        return LearnedPositions(config.d_model, config.max_positions)
    return SinusoidalPositions(config.d_model)
