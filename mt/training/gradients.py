"""The gradient of an update: that of the tokens of all its batches, of all ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from mt.errors import TrainingError
from mt.training.batch import Batch
from mt.training.distributed import Ranks
from mt.training.loss import Objective
from mt.training.out_of_memory import Accumulated, MemoryGuard
from mt.training.workers import Workers


class Gradients:
    """Adds up the gradients of batches, each divided by the tokens of the whole update."""

    def __init__(
        self,
        objective: Objective,
        *,
        ranks: Ranks,
        memory: MemoryGuard,
        workers: Workers | None = None,
    ) -> None:
        self.objective = objective
        self._parallel = ranks.parallel(objective)
        self._ranks = ranks
        self._memory = memory
        self._workers = workers

    def loss(self, batch: Batch) -> Tensor:
        """The loss of a batch, summed over its target tokens; its backward pass joins the ranks."""
        loss: Tensor = self._parallel(batch)
        return loss

    def accumulate(
        self, batches: Sequence[Batch], *, drop_gradient: Callable[[], None]
    ) -> Accumulated:
        """Leave the gradient of `batches`, and of those of the other ranks, in the parameters.

        A process alone computes in pieces what does not fit in memory. Of several ranks none can
        begin anew by itself: there it raises TrainingError.
        """
        if self._workers is not None:
            return self._workers.accumulate(batches)
        if self._ranks.size == 1:
            return self._memory.accumulate(
                batches, drop_gradient=drop_gradient, add_gradient=self._add
            )
        mine = sum(batch.num_target_tokens for batch in batches)
        num_tokens = round(self._ranks.summed(mine)[0])
        drop_gradient()
        *first, last = batches
        try:
            with self._ranks.unsynchronised(self._parallel):
                losses = [self._add(batch, num_tokens) for batch in first]
            losses.append(self._add(last, num_tokens))
        except torch.OutOfMemoryError as error:
            raise TrainingError(
                "a batch does not fit in the memory of the device of "
                f"rank {self._ranks.rank} of {self._ranks.size}",
                hint="Make the batches smaller: --batch-tokens, and more of them an update: "
                "--set training.accumulate=…",
            ) from error
        return Accumulated(loss=torch.stack(losses).sum(), num_tokens=num_tokens)

    def _add(self, batch: Batch, num_tokens: int) -> Tensor:
        """Add the gradient of a batch; returns its loss, not divided.

        Ranks average their gradients, so that what is to be their sum is multiplied before.
        """
        loss = self.loss(batch)
        (loss * (self._ranks.size / num_tokens)).backward()  # type: ignore[no-untyped-call]
        return loss.detach()
