"""The gradient of an update: that of the tokens of all its batches, of all ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.errors import TrainingError
from mt.events import Listener
from mt.model.device import fitting_in_memory
from mt.model.translation_model import TranslationModel
from mt.training.batch import Batch
from mt.training.compiling import compile_layers
from mt.training.distributed import Ranks
from mt.training.loss import Objective
from mt.training.out_of_memory import SMALLER, Accumulated, MemoryGuard
from mt.training.progress import Progress
from mt.training.sharding import sharded
from mt.training.workers import make_workers


@dataclass(kw_only=True)
class Gradients:
    """Adds up the gradients of batches, each divided by the tokens of the whole update."""

    model: TranslationModel
    """What is trained; without weights of its own where those are sharded."""
    config: TrainingConfig
    device: torch.device
    dtype: torch.dtype
    ranks: Ranks
    progress: Progress
    listener: Listener
    compiler: str | None
    """Backend of `torch.compile` for the layers; None: as they are."""
    shard: bool
    """Whether weights are sharded over the ranks."""

    def __post_init__(self) -> None:
        objective = Objective(self.model, smoothing=self.config.label_smoothing, dtype=self.dtype)
        with fitting_in_memory("the model", hint=SMALLER):
            objective = sharded(objective, self.device) if self.shard else objective.to(self.device)
        self.objective = objective
        self._workers = None
        if self.compiler is None:
            self._workers = make_workers(
                objective,
                self.config,
                device=self.device,
                ranks=self.ranks,
                listener=self.listener,
            )
        else:  # a compiled layer shares its products among threads by itself
            compile_layers(objective.model, backend=self.compiler)
        self.generators = () if self._workers is None else self._workers.generators
        """Random generators of the parts of a batch."""
        workers = self._workers
        self.num_threads = torch.get_num_threads() if workers is None else workers.threads
        """Of a part; more would wait for each other on a busy machine."""
        self._memory = MemoryGuard(listener=self.listener, progress=self.progress)
        self._parallel = self.ranks.parallel(objective)

    def loss(self, batch: Batch) -> Tensor:
        """The loss of a batch, summed over its target tokens; its backward pass joins the ranks."""
        loss: Tensor = self._parallel(batch)
        return loss

    def accumulate(
        self,
        batches: Sequence[Batch],
        *,
        drop_gradient: Callable[[], None],
        dropout: float = 1.0,
    ) -> Accumulated:
        """Leave the gradient of `batches`, and of those of the other ranks, in the parameters.

        `dropout` is the share of its rates that dropout has.
        A single process computes in pieces what does not fit in memory. Of several ranks none can
        begin anew by itself: there it raises TrainingError.
        """
        if self._workers is not None:
            return self._workers.accumulate(batches, dropout=dropout)
        self.objective.set_dropout(dropout)
        if self.ranks.size == 1:
            return self._memory.accumulate(
                batches, drop_gradient=drop_gradient, add_gradient=self._add
            )
        mine = sum(batch.num_target_tokens for batch in batches)
        num_tokens = round(self.ranks.summed(mine)[0])
        drop_gradient()
        *first, last = batches
        try:
            with self.ranks.unsynchronised(self._parallel):
                losses = [self._add(batch, num_tokens) for batch in first]
            losses.append(self._add(last, num_tokens))
        except torch.OutOfMemoryError as error:
            raise TrainingError(
                "a batch does not fit in the memory of the device of "
                f"rank {self.ranks.rank} of {self.ranks.size}",
                hint="Make the batches smaller: --batch-tokens, and more of them an update: "
                "--set training.accumulate=…",
            ) from error
        return Accumulated(loss=torch.stack(losses).sum(), num_tokens=num_tokens)

    def _add(self, batch: Batch, num_tokens: int) -> Tensor:
        """Add the gradient of a batch; returns its loss, not divided.

        Ranks average their gradients, so that what is to be their sum is multiplied before.
        """
        loss = self.loss(batch)
        (loss * (self.ranks.size / num_tokens)).backward()  # type: ignore[no-untyped-call]
        return loss.detach()
