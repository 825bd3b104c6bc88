"""How a token knows its position.

Sinusoidal and learned encodings are added to embeddings (`is_added`). What rotary and relative
ones give is for self-attention (`mt.model.rotary`, `mt.model.relative`).

Shapes: B batch, T positions, D model width, E head width.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mt.config import ModelConfig, Sinusoids
from mt.model.reach import check_reach


def sinusoids(
    num_positions: int, d_model: int, *, start: int = 0, order: Sinusoids = "interleaved"
) -> Tensor:
    """The table of Vaswani et al. 2017, section 3.5, as float64 (num_positions, d_model).

    PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(p / 10000^(2i/D)), for the positions
    from `start` on. In "halves" all sines come first, with T = D/2 PE(p, i) = sin(p / 10000^(i/T))
    and PE(p, T + i) = cos of the same; "marian" has i/(T - 1) for i/T.
    """
    position = torch.arange(start, start + num_positions, dtype=torch.float64)[:, None]
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)
    last = d_model - 2 if order == "marian" else d_model
    angle = position * torch.exp(pair * (-math.log(10000.0) / last))
    if order != "interleaved":
        return torch.cat((angle.sin(), angle.cos()), dim=1)
    # (T, D/2) sines and cosines -> (T, D/2, 2) -> (T, D), interleaved
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


class _Table(nn.Module):
    """A fixed table, in float32 at first, that grows when a longer sequence comes."""

    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        self._size = 256
        self.register_buffer("table", self._made(self._size).float(), persistent=False)

    def _made(self, size: int) -> Tensor:
        """The table for sequences of up to `size` tokens, in float64."""
        raise NotImplementedError

    def _grow(self, end: int) -> None:
        if end > self._size:
            size = max(end, 2 * self._size)
            with torch.inference_mode(False):  # training may use what a search has grown
                grown = self._made(size).to(self.table.dtype)
                self.table = grown.to(self.table.device)
            self._size = size


class _PlaceTable(_Table):
    """A table with one row a position."""

    def forward(self, length: int, start: int = 0) -> Tensor:
        """The rows of positions start … start + length - 1, (length, D or E)."""
        end = start + length
        self._grow(end)
        return self.table[start:end]

    def at(self, positions: Tensor, longest: int) -> Tensor:
        """The rows of some positions (B), the largest of which is `longest`: (B, D or E)."""
        self._grow(longest + 1)
        return self.table[positions]


class SinusoidalPositions(_PlaceTable):
    """Fixed sinusoids; any length works."""

    is_added = True

    def __init__(self, d_model: int, order: Sinusoids = "interleaved") -> None:
        self.d_model = d_model
        self.order: Sinusoids = order
        super().__init__()

    def _made(self, size: int) -> Tensor:
        return sinusoids(size, self.d_model, order=self.order)


class RotaryPositions(_PlaceTable):
    """Cosines, then sines, of the angles by which heads are turned, (length, E)."""

    is_added = False

    def __init__(self, head_width: int) -> None:
        self.head_width = head_width
        super().__init__()

    def _made(self, size: int) -> Tensor:
        table = sinusoids(size, self.head_width)
        return torch.cat((table[:, 1::2], table[:, 0::2]), dim=1)


class RelativePositions(_Table):
    """Fixed sinusoids of offsets, larger ones first."""

    is_added = False

    def __init__(self, d_model: int) -> None:
        self.d_model = d_model
        super().__init__()

    def _made(self, size: int) -> Tensor:
        return sinusoids(2 * size, self.d_model, start=-size).flip(0)

    def forward(self, length: int) -> Tensor:
        """Those of the offsets length - 1, length - 2, … -length: (2 length, D)."""
        table, zero = self.around(length)
        return table[zero + 1 - length : zero + 1 + length]

    def around(self, length: int) -> tuple[Tensor, int]:
        """The whole table, at least for `length` tokens, and in which row offset 0 is.

        Offset o is o rows before it.
        """
        self._grow(length)
        table = self.table
        return table, table.size(0) // 2 - 1


class LearnedPositions(nn.Module):
    """A learned vector for each of `max_positions` positions; longer sequences are refused."""

    is_added = True

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

    def at(self, positions: Tensor, longest: int) -> Tensor:
        """The encodings of some positions (B), the largest of which is `longest`: (B, D).

        Raises DataError beyond the table.
        """
        self._check(longest + 1)
        return self.table[positions]

    def check_sides(self, *lengths: int) -> None:
        """Raise DataError for a side longer than its share of a table for several sides."""
        share = self.max_positions // len(lengths)
        for length in lengths:
            self._check(length, share)

    def _check(self, length: int, bound: int | None = None) -> None:
        check_reach(
            length - 1,
            bound or self.max_positions,
            what="a sequence",
            hint="Split the text, or train with positions of another kind",
        )


Positions = SinusoidalPositions | LearnedPositions | RotaryPositions | RelativePositions


def make_positions(config: ModelConfig, *, sides: int = 1) -> Positions:
    """The positions that `config.positions` names, for so many sides of a pair in one sequence."""
    if config.positions == "learned":
        return LearnedPositions(config.d_model, sides * config.max_positions)
    if config.positions == "rotary":
        return RotaryPositions(config.d_model // config.heads)
    if config.positions == "relative":
        return RelativePositions(config.d_model)
    return SinusoidalPositions(config.d_model, config.sinusoids)
