"""An exponential moving average of the weights, which translates better than the last weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """avg <- d * avg + (1 - d) * weights, with d = min(decay, (1 + n) / (10 + n)) at update n.

    The warm-up of the decay forgets the first, random weights (Polyak and Juditsky 1992 for the
    averaging). With decay 0 the average is the weights themselves.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._decay = decay
        self._parameters: list[Tensor] = list(model.parameters())
        self._average = [p.detach().clone() for p in self._parameters]

    @torch.no_grad()
    def update(self, num_updates: int) -> None:
        """Take in the weights after update `num_updates`."""
        decay = min(self._decay, (1 + num_updates) / (10 + num_updates))
        torch._foreach_lerp_(self._average, self._parameters, 1.0 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within, the model holds the averaged weights."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def tensors(self) -> list[Tensor]:
        """The average, in the order of the parameters; these are the tensors themselves."""
        return self._average

    @torch.no_grad()
    def _swap(self) -> None:
        for parameter, average in zip(self._parameters, self._average, strict=True):
            held = parameter.detach().clone()
            parameter.copy_(average)
            average.copy_(held)
