"""Dropout that is cheap on CPUs.

`torch.nn.functional.dropout` draws one random number an element, which takes a fifth of a
training step of a small model on a CPU. Here one 64-bit draw makes eight elements: each byte is
compared with a threshold, so that the rate is rounded to a multiple of 1/256 and the scale is
that of the rounded rate: the expectation stays exact.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional


class _Drawing(threading.local):
    """The generator that a thread draws from on the CPU; None is torch's default one."""

    generator: torch.Generator | None = None


_drawing = _Drawing()


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Within, dropout on the CPU draws from `generator` in this thread."""
    before = _drawing.generator
    _drawing.generator = generator
    try:
        yield
    finally:
        _drawing.generator = before


class Dropout(nn.Module):
    """Zero each element with probability `rate` and scale the rest by 1 / (1 - rate).

    Srivastava et al. 2014. Random numbers come from torch's default generator,
    or on the CPU from that of `drawing_from`.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"rate must lie in [0, 1), but is {rate}")
        self.rate = rate
        self.share = 1.0
        """Of `rate`, that is in force: see `set_dropout_share`."""

    @property
    def rate_in_force(self) -> float:
        """The rate by which elements are zeroed now; 0 in evaluation mode."""
        return self.rate * self.share if self.training else 0.0

    def forward(self, x: Tensor) -> Tensor:
        """Any shape in, the same shape out; the identity in evaluation mode.

        GPUs draw fast enough, and a compiler fuses torch's own dropout with what stands around it.
        """
        rate = self.rate_in_force
        if rate == 0.0:
            return x
        if x.device.type != "cpu" or torch.compiler.is_compiling():
            return functional.dropout(x, rate)
        threshold = min(max(round(rate * 256), 1), 255)
        draws = torch.empty((x.numel() + 7) // 8, dtype=torch.int64)
        # The full range of 64 bits: random_() without bounds leaves the sign bit zero.
        draws.random_(-(2**63), None, generator=_drawing.generator)
        keep = draws.view(torch.uint8)[: x.numel()].view(x.shape) >= threshold
        return x * keep.to(x.dtype).mul_(256 / (256 - threshold))

    def extra_repr(self) -> str:
        """Show the rate in the printed model."""
        return f"rate={self.rate}"


def set_dropout_share(model: nn.Module, share: float) -> None:
    """From now on every dropout of `model` has a share, from 0 to 1, of its rate."""
    for module in model.modules():
        if isinstance(module, Dropout):
            module.share = share
