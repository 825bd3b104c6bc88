"""One update: the gradient of its batches, and the step of the optimizer along it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.events import BatchDone, Listener
from mt.model.device import fitting_in_memory, products_in_tf32, using_threads
from mt.training.agreement import Agreement
from mt.training.batch import Batch
from mt.training.checkpoint import Parts
from mt.training.data_loader import BatchStream
from mt.training.gradients import Gradients
from mt.training.optimizer import clip_gradient
from mt.training.out_of_memory import SMALLER
from mt.training.saving import Saver
from mt.training.timetable import Timetable


@dataclass(frozen=True, kw_only=True)
class UpdateStep:
    """Updates the weights, on all ranks together."""

    config: TrainingConfig
    parts: Parts
    gradients: Gradients
    stream: BatchStream
    timetable: Timetable
    agreement: Agreement
    saver: Saver
    device: torch.device
    tf32: bool
    """Whether CUDA may round the factors of float32 products to TF32."""
    listener: Listener

    def run(self, batches: Sequence[Batch]) -> None:
        """One optimizer step; the gradient is divided once by the tokens of all batches."""
        with using_threads(self.gradients.num_threads):
            self._run(batches)

    def try_gradient(self, batches: Sequence[Batch]) -> None:
        """Compute a gradient and forget it, with the random states and counts of before.

        What does not fit in memory shows, and the size that a GPU turned out to have room for
        stays known.
        """
        self.parts.model.train()
        progress, drop_gradient = self.parts.progress, self.parts.optimizer.zero_grad
        skipped = progress.num_skipped_pairs
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices), products_in_tf32(self.device, is_on=self.tf32):
            self.gradients.accumulate(batches, drop_gradient=drop_gradient)
        drop_gradient()
        progress.num_skipped_pairs = skipped

    def _run(self, batches: Sequence[Batch]) -> None:
        self.parts.model.train()
        optimizer = self.parts.optimizer
        with products_in_tf32(self.device, is_on=self.tf32):
            done = self.gradients.accumulate(
                batches, drop_gradient=optimizer.zero_grad, dropout=self.timetable.dropout()
            )
        length = clip_gradient(self.parts.model, self.config.clip_norm)
        if self.device.type != "cpu":
            self.stream.prepare(self.config.accumulate)  # a GPU is still at the gradient
        loss, norm = _numbers(done.loss, length)
        progress = self.parts.progress
        progress.update += 1
        rate = self.timetable.rate()
        is_finite = math.isfinite(norm)
        if is_finite and done.loss is not None:
            for group in optimizer.param_groups:
                group["lr"] = rate
            with fitting_in_memory("the step of the optimizer", hint=SMALLER):
                optimizer.step()
                self.parts.average.update(progress.update)
            progress.num_nonfinite = 0
            progress.target_tokens += done.num_tokens
        loss_sum = self.agreement.reach(loss)
        self.listener(
            BatchDone(
                update=progress.update,
                epoch=self.stream.epochs,
                loss=loss_sum / max(done.num_tokens, 1),
                rate=rate,
                gradient_norm=norm,
                num_target_tokens=done.num_tokens,
                seconds=progress.seconds,
                skipped=not is_finite,
            )
        )
        if not is_finite:
            self.saver.count_nonfinite(limit=self.config.max_nonfinite)
        elif done.num_tokens:
            loss = loss_sum / done.num_tokens
            self.saver.count_diverged(loss, limit=self.config.max_nonfinite)


def _numbers(loss: Tensor | None, norm: Tensor) -> tuple[float, float]:
    """A loss, NaN where there is none, and a norm: a GPU is waited for once, not twice."""
    if loss is None:
        return math.nan, float(norm)
    first, second = torch.stack((loss, norm)).tolist()
    return first, second
