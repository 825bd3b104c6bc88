"""The gradient of one part of a batch, in the process of the run or in a worker's.

A part is what is computed with a random generator of its own; which process computes it changes
no bit of it.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Sequence

import torch
from torch import Tensor

from mt.model.dropout import drawing_from
from mt.training.batch import Batch
from mt.training.loss import Objective


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """What is to be computed: the loss of some batches and its gradient."""

    batches: Sequence[Batch]
    num_tokens: int
    """Target tokens of the whole update, which the gradient is divided by."""
    dropout: float = 1.0
    """The share of its rates that dropout has."""

    def packed(self, generator: torch.Generator) -> bytes:
        """The part and the state of its generator, for `unpacked` in another process."""
        arrays = [
            {name: tensor.numpy() for name, tensor in vars(batch).items()} for batch in self.batches
        ]
        numbers = (self.num_tokens, self.dropout)
        return pickle.dumps((arrays, numbers, generator.get_state().numpy()), protocol=5)


def unpacked(packed: memoryview) -> tuple[Part, torch.Generator]:
    """What `Part.packed` packed; only ever read from memory shared with the run itself."""
    arrays, (num_tokens, dropout), state = pickle.loads(packed)  # noqa: S301
    batches = [
        Batch(**{name: torch.from_numpy(array) for name, array in batch.items()})
        for batch in arrays
    ]
    generator = torch.Generator()
    generator.set_state(torch.from_numpy(state))
    return Part(batches=batches, num_tokens=num_tokens, dropout=dropout), generator


def gradient_of(
    objective: Objective, parameters: Sequence[Tensor], part: Part, generator: torch.Generator
) -> tuple[Tensor, list[Tensor]]:
    """The loss of a part in nats, () and not divided, and its gradient, divided.

    Dropout draws from `generator`. A part without batches has the gradient zero.
    """
    total = torch.zeros(())
    gradient: list[Tensor] | None = None
    objective.set_dropout(part.dropout)
    with drawing_from(generator):
        for batch in part.batches:
            loss = objective(batch)
            found = torch.autograd.grad(loss / part.num_tokens, parameters)
            total = total + loss.detach()
            if gradient is None:
                gradient = list(found)
            else:
                torch._foreach_add_(gradient, found)
    if gradient is None:
        gradient = [torch.zeros_like(parameter) for parameter in parameters]
    return total, gradient
