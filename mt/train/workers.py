"""The gradient of an update on several cores: parts of its batches side by side, a thread each.

Threads that share every product of a small model meet at a barrier after each of them, and wait
there whenever another program takes a core. Threads that have each a part of the batch meet once
an update: as fast on an idle machine, twice as fast on a busy one (docs/log.md). They share the
weights; each draws from its own generator, and their gradients are added in a fixed order, so
that which of them is faster changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.model.device import using_threads
from mt.model.dropout import drawing_from
from mt.train.batch import Batch, cut
from mt.train.distributed import Ranks
from mt.train.memory import Accumulated
from mt.train.objective import Objective

_LEAST_TOKENS = 1024  # padded, of a part


def make_workers(
    objective: Objective, config: TrainingConfig, *, device: torch.device, ranks: Ranks
) -> Workers | None:
    """One worker a thread of torch, fewer where parts of a batch would be small.

    None where one is enough, and where GPUs or other processes share the work.
    """
    if device.type != "cpu" or ranks.size > 1:
        return None
    count = min(torch.get_num_threads(), config.batch_tokens // _LEAST_TOKENS)
    return Workers(objective, count=count, seed=config.seed) if count > 1 else None


class Workers:
    """Threads that compute gradients on the CPU, each of its part of every batch."""

    def __init__(self, objective: Objective, *, count: int, seed: int) -> None:
        self._objective = objective
        self._parameters = [p for p in objective.parameters() if p.requires_grad]
        self._threads = max(torch.get_num_threads() // count, 1)
        self._pools = [ThreadPoolExecutor(1, f"gradient-{i}") for i in range(count)]
        self.generators = [torch.Generator().manual_seed(seed + i) for i in range(count)]
        """Those of dropout, one a worker; a checkpoint holds their states."""

    def accumulate(self, batches: Sequence[Batch]) -> Accumulated:
        """Leave the gradient of `batches` in the parameters, divided by their target tokens."""
        num_tokens = sum(batch.num_target_tokens for batch in batches)
        shares: list[list[Batch]] = [[] for _ in self._pools]
        for batch in batches:
            for share, part in zip(shares, cut(batch, len(shares)), strict=False):
                share.append(part)
        with using_threads(self._threads):
            futures = [
                pool.submit(self._gradient, share, num_tokens, generator)
                for pool, share, generator in zip(self._pools, shares, self.generators, strict=True)
            ]
            (loss, gradient), *others = [future.result() for future in futures]
        for other_loss, other in others:
            loss = loss + other_loss
            torch._foreach_add_(gradient, other)
        for parameter, its_gradient in zip(self._parameters, gradient, strict=True):
            parameter.grad = its_gradient
        return Accumulated(loss=loss, num_tokens=num_tokens)

    def _gradient(
        self, batches: Sequence[Batch], num_tokens: int, generator: torch.Generator
    ) -> tuple[Tensor, list[Tensor]]:
        """The loss of some batches, not divided, and the gradient, divided."""
        torch.set_num_threads(self._threads)
        total = torch.zeros(())
        gradient = None
        with drawing_from(generator):
            for batch in batches:
                loss = self._objective(batch)
                found = torch.autograd.grad(loss / num_tokens, self._parameters)
                total = total + loss.detach()
                if gradient is None:
                    gradient = list(found)
                else:
                    torch._foreach_add_(gradient, found)
        if gradient is None:
            gradient = [torch.zeros_like(p) for p in self._parameters]
        return total, gradient
