"""The gradient of an update on several cores: parts of its batches side by side.

Threads that share every product of a small model meet at a barrier after each of them, and wait
there whenever another program takes a core; threads of one interpreter wait for its lock likewise.
Processes that have each a part of the batch meet once an update, and a part that no worker has
begun is computed by the run itself (docs/log.md). Each part draws from a generator of its own, and
the gradients are added in the order of the parts: who computes a part changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.events import Listener, Notice, ignore
from mt.model.device import using_threads
from mt.training.batch import Batch, cut
from mt.training.distributed import Ranks
from mt.training.gradient_part import Part, gradient_of
from mt.training.loss import Objective
from mt.training.out_of_memory import Accumulated
from mt.training.shared_memory import CAN_SHARE
from mt.training.worker_processes import WorkerEndedError, WorkerProcesses

_LEAST_TOKENS = 1024  # padded, of a part where there are more than two
_LEAST_TOKENS_OF_TWO = 256
_SECONDS_WITHOUT = 2.0
"""Of a run before processes are started, which takes as long; a shorter run needs none."""
_JOB_BYTES = 48  # of a padded token, at most: four numbers of 8 bytes and two marks
_JOB_REST = 1 << 16

_Found = tuple[Tensor, list[Tensor]]
"""The loss of a part and its gradient."""


def make_workers(
    objective: Objective,
    config: TrainingConfig,
    *,
    device: torch.device,
    ranks: Ranks,
    listener: Listener = ignore,
) -> Workers | None:
    """As many parts as torch has threads, fewer where they would be small.

    None where one is enough, and where GPUs or other processes share the work.
    """
    if device.type != "cpu" or ranks.size > 1:
        return None
    count = min(torch.get_num_threads(), num_parts(config.batch_tokens))
    if count < 2:
        return None
    job_bytes = _JOB_BYTES * config.batch_tokens * config.accumulate + _JOB_REST
    return Workers(objective, count=count, seed=config.seed, job_bytes=job_bytes, listener=listener)


def num_parts(batch_tokens: int) -> int:
    """The most parts of a batch of so many padded tokens that are worth a core each."""
    return max(batch_tokens // _LEAST_TOKENS, 2 if batch_tokens >= 2 * _LEAST_TOKENS_OF_TWO else 1)


class Workers:
    """Computes gradients on the CPU, the parts of every batch side by side."""

    def __init__(
        self,
        objective: Objective,
        *,
        count: int,
        seed: int,
        job_bytes: int = _JOB_REST,
        listener: Listener = ignore,
    ) -> None:
        self._objective = objective
        self._parameters = [p for p in objective.parameters() if p.requires_grad]
        self.threads = max(torch.get_num_threads() // count, 1)
        """Threads of torch for each part."""
        self._job_bytes = job_bytes
        self._listener = listener
        self._processes: WorkerProcesses | None = None
        self._may_start = CAN_SHARE
        self._pool = None if CAN_SHARE else ThreadPoolExecutor(count, "gradient")
        self._begun: float | None = None
        self.generators = [torch.Generator().manual_seed(seed + i) for i in range(count)]
        """Those of dropout, one a part; a checkpoint holds their states."""

    def accumulate(self, batches: Sequence[Batch], *, dropout: float = 1.0) -> Accumulated:
        """Leave the gradient of `batches` in the parameters, divided by their target tokens.

        `dropout` is the share of its rates that dropout has.
        """
        num_tokens = sum(batch.num_target_tokens for batch in batches)
        shares: list[list[Batch]] = [[] for _ in self.generators]
        for batch in batches:
            for share, piece in zip(shares, cut(batch, len(shares)), strict=False):
                share.append(piece)
        parts = [Part(batches=share, num_tokens=num_tokens, dropout=dropout) for share in shares]
        self._start()
        with using_threads(self.threads):
            found = self._found(parts)
            loss, gradient = found[0]
            for other_loss, other in found[1:]:
                loss = loss + other_loss
                torch._foreach_add_(gradient, other)
        for parameter, its_gradient in zip(self._parameters, gradient, strict=True):
            parameter.grad = its_gradient
        return Accumulated(loss=loss, num_tokens=num_tokens)

    def _start(self) -> None:
        """Start the processes when the run has gone on for long enough to be worth it."""
        now = time.monotonic()
        self._begun = now if self._begun is None else self._begun
        if self._processes is not None or not self._may_start:
            return
        if now - self._begun < _SECONDS_WITHOUT:
            return
        self._may_start = False
        try:
            self._processes = WorkerProcesses(
                self._objective,
                num_parts=len(self.generators),
                num_threads=self.threads,
                job_bytes=self._job_bytes,
            )
        except OSError as error:
            self._warn(f"no worker processes could be started ({error.strerror})")

    def _found(self, parts: Sequence[Part]) -> list[_Found]:
        """What came out of each part, in their order."""
        if self._pool is not None:
            return list(self._pool.map(self._compute, range(len(parts)), parts))
        processes = self._processes
        found: dict[int, _Found] = {}
        if processes is not None:
            try:
                self._share(parts, processes, found)
            except WorkerEndedError as error:
                processes.close()
                self._processes = None
                self._warn(str(error))
        for number, part in enumerate(parts):
            if number not in found:
                found[number] = self._compute(number, part)
        return [found[number] for number in range(len(parts))]

    def _share(
        self, parts: Sequence[Part], processes: WorkerProcesses, found: dict[int, _Found]
    ) -> None:
        """Compute parts together with the processes; what is done is in `found`."""
        offered = [
            number
            for number, part in enumerate(parts)
            if number and part.batches and processes.offer(number, part, self.generators[number])
        ]
        for number, part in enumerate(parts):
            if number not in offered:
                found[number] = self._compute(number, part)
        while (taken := processes.take_back()) is not None:
            found[taken] = self._compute(taken, parts[taken])
        while not found.keys() >= set(offered):
            done, loss, gradient = processes.result(self.generators)
            found[done] = (loss, gradient)

    def _compute(self, number: int, part: Part) -> _Found:
        torch.set_num_threads(self.threads)  # each thread of the pool has its own number
        return gradient_of(self._objective, self._parameters, part, self.generators[number])

    def _warn(self, what: str) -> None:
        text = f"{what}: this process goes on without, with the same results but slower"
        self._listener(Notice(text=text, is_warning=True))
