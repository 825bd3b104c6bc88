"""The training loop: batches in, better weights out. It prints nothing and reports by events."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.events import BatchDone, Listener, Notice, TrainingEnded, TrainingStarted
from mt.model.device import fitting_in_memory, products_in_tf32, using_threads
from mt.model.translation_model import TranslationModel, count_parameters
from mt.training.agreement import Agreement
from mt.training.batch import Batch
from mt.training.best import METRIC_NAMES, BestTracker
from mt.training.budget import budget_done, minutes_done, reason_to_end
from mt.training.checkpoint import Parts, Progress, load_checkpoint
from mt.training.compiling import WIDTH_MULTIPLE, compile_layers, uncompiled
from mt.training.data_loader import BatchStream, TrainingData
from mt.training.distributed import Ranks
from mt.training.freezing import describe_frozen, freeze
from mt.training.gradients import Gradients
from mt.training.kept_weights import WeightKeeper
from mt.training.loss import Objective
from mt.training.minutes import MinutesPlan
from mt.training.optimizer import clip_gradient, make_optimizer
from mt.training.out_of_memory import MemoryGuard
from mt.training.saving import Saver
from mt.training.schedule import learning_rate
from mt.training.sharding import holding, sharded
from mt.training.validation import (
    DivergedError,
    TranslationScores,
    ValidationTask,
    Validator,
    score_weights,
    validation_interval,
)
from mt.training.validation_step import ValidationStep
from mt.training.weight_average import WeightAverage
from mt.training.workers import make_workers

INTERRUPTED = "interrupted"
"""Why a run ended that was asked to stop."""
_SMALLER = "Take a smaller --preset, or free the device of other programs"


@dataclass(kw_only=True)
class Trainer:
    """One training run, new or resumed."""

    model: TranslationModel
    """Holds averaged weights in validation, else the trained ones; none where those are sharded."""
    config: TrainingConfig
    data: TrainingData
    device: torch.device
    dtype: torch.dtype
    """Type of the products; weights, sums and the optimizer's moments stay float32."""
    folder: Path
    """Where checkpoints go."""
    validator: Validator
    """Scores translations by the weights that the model holds when it is called."""
    keep_best: Callable[[Progress], None]
    """Called when the model holds the best weights so far, to keep them."""
    listener: Listener
    should_stop: Callable[[], bool] = lambda: False
    """Asked after each update; True ends the run, on all ranks, with everything saved."""
    compiler: str | None = None
    """Backend of `torch.compile` for the layers, in updates and not in validation; None: as is."""
    tf32: bool = True
    """Whether updates on CUDA may round the factors of float32 products to TF32."""
    validates_start: bool = False
    """Whether the weights to start from are worth a score, as those of a trained model are."""
    progress: Progress = field(default_factory=Progress)
    ranks: Ranks = field(default_factory=Ranks)
    shard: bool = False
    """Whether weights are sharded over the ranks."""

    def __post_init__(self) -> None:
        freeze(self.model, self.config.freeze)
        objective = Objective(self.model, smoothing=self.config.label_smoothing, dtype=self.dtype)
        with fitting_in_memory("the model", hint=_SMALLER):
            objective = sharded(objective, self.device) if self.shard else objective.to(self.device)
        trained = objective.model
        workers = None
        if self.compiler is None:
            workers = make_workers(
                objective,
                self.config,
                device=self.device,
                ranks=self.ranks,
                listener=self.listener,
            )
        else:  # a compiled layer shares its products among threads by itself
            compile_layers(trained, backend=self.compiler)
        self.stream = BatchStream(
            self.data,
            self.config,
            self.progress,
            device=self.device,
            ranks=self.ranks,
            multiple=1 if self.compiler is None else WIDTH_MULTIPLE,
        )
        self.parts = Parts(
            model=trained,
            average=WeightAverage(trained, self.config.average_decay),
            optimizer=make_optimizer(trained, self.config),
            progress=self.progress,
            tracker=BestTracker(metric=self.config.metric, patience=self.config.patience),
            generators=() if workers is None else workers.generators,
        )
        self.keeper = WeightKeeper(
            folder=self.folder, count=self.config.keep_weights, metric=self.config.metric
        )
        self._threads = torch.get_num_threads() if workers is None else workers.threads
        memory = MemoryGuard(listener=self.listener, progress=self.progress)
        self.gradients = Gradients(objective, ranks=self.ranks, memory=memory, workers=workers)
        minutes = self.config.max_minutes
        self._plan = None
        if minutes is not None:
            self._plan = MinutesPlan(budget=60 * minutes, progress=self.progress)
        self._interval = validation_interval(self.config, self._updates_per_epoch)
        self._agreement = Agreement(
            ranks=self.ranks,
            progress=self.progress,
            should_stop=lambda: self.should_stop(),  # whatever that is by then
        )
        self._saver = Saver(
            folder=self.folder,
            parts=self.parts,
            device=self.device,
            agreement=self._agreement,
        )

    def resume(self) -> None:
        """Go on from the newest checkpoint in the folder."""
        load_checkpoint(self.folder, self.parts, rank=self.ranks.rank)
        if self.ranks.is_first:
            self.keeper.drop_after(self.progress.update)
        self._saver.resume()
        self._agreement.resume()

    def run(self) -> str:
        """Train until the budget or the patience ends, or a stop is asked; returns why.

        The state is saved before each validation and after it, and by time.

        Raises TrainingError when gradients stay non-finite and when weights or the loss of a
        validation are no longer finite; the last good state is kept.
        """
        self._report_start()
        if self.validates_start and self.progress.update == 0 and self.parts.tracker.best is None:
            self._validate()
        if self.device.type == "cuda":
            self.try_largest()
        micro_batches = iter(self.stream)
        self._agreement.start()
        self._agreement.reach()
        if self._is_due():  # a kill came between the save and the validation
            self._validate()
        while (reason := self.reason_to_end()) is None:
            while self.reason_to_end() is None:
                self._update([next(micro_batches) for _ in range(self.config.accumulate)])
                if self._agreement.is_stopped:
                    continue
                if self._is_due():
                    self._validate()
                elif self._saver.is_due:
                    self.save()
            self._agreement.reach()
            self._validate_last()
            # A last validation that took less than was kept for it leaves time for more updates.
        self._validate_last()
        self.save()
        reason = self.reason_to_end() or reason
        self._report_end(reason)
        return reason

    def try_largest(self) -> None:
        """Compute the gradient of the largest batch, so that what does not fit shows at once.

        Nothing of it stays but the size that a GPU turned out to have room for.
        """
        self.parts.model.train()
        batches = [self.stream.largest()] * min(self.config.accumulate, 2)
        drop_gradient, skipped = self.parts.optimizer.zero_grad, self.progress.num_skipped_pairs
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices), products_in_tf32(self.device, is_on=self.tf32):
            self.gradients.accumulate(batches, drop_gradient=drop_gradient)
        drop_gradient()
        self.progress.num_skipped_pairs = skipped

    def _validate_last(self) -> None:
        """Validate the last update, if that was not done and no stop is asked."""
        is_validated = self.progress.validated_update == self.progress.update
        if not (is_validated or self._agreement.is_stopped):
            self._validate(is_last=True)

    def _is_due(self) -> bool:
        """Whether the validation after this update is still to be made, a stop aside."""
        update = self.progress.update
        if self._agreement.is_stopped or update in (0, self.progress.validated_update):
            return False
        is_due = update % self._interval == 0
        if self._plan is None:
            return is_due
        looks = self._looks_first
        return (is_due and self._plan.allows(looks_first=looks)) or self._plan.wants_to_know(
            looks_first=looks
        )

    @property
    def _looks_first(self) -> bool:
        return not self.parts.tracker.has_translated

    @property
    def validated_update(self) -> int:
        """The update of the last validation; -1 before the first."""
        is_none = self.progress.validated_update == 0 and self.parts.tracker.best is None
        return -1 if is_none else self.progress.validated_update

    def _report_end(self, reason: str) -> None:
        training = self.progress.seconds - self.progress.validation_seconds
        tracker = self.parts.tracker
        self.listener(
            TrainingEnded(
                update=self.progress.update,
                reason=reason,
                seconds=self.progress.seconds,
                tokens_per_second=self.progress.target_tokens / max(training, 1e-9),
                validation_seconds=self.progress.validation_seconds,
                metric=METRIC_NAMES[self.config.metric],
                best=tracker.best,
                best_update=tracker.best_update,
                best_pairs=tracker.best_pairs,
                num_skipped=self.progress.num_skipped,
                num_skipped_pairs=self.progress.num_skipped_pairs,
            )
        )

    @property
    def _updates_per_epoch(self) -> int:
        return math.ceil(self.stream.batches_in_epoch / (self.config.accumulate * self.ranks.size))

    def reason_to_end(self) -> str | None:
        """Why the run is over, in words, or None while it is not."""
        tracker, epochs = self.parts.tracker, self.stream.epochs
        reason = reason_to_end(self.config, self.progress, tracker, epochs=epochs, plan=self._plan)
        is_complete = reason is not None and self.progress.validated_update == self.progress.update
        return INTERRUPTED if self._agreement.is_stopped and not is_complete else reason

    def _update(self, batches: Sequence[Batch]) -> None:
        """One optimizer step, with the threads of a part of its gradient.

        More would wait for each other at every operation on a busy machine.
        """
        with using_threads(self._threads):
            self._step(batches)

    def _step(self, batches: Sequence[Batch]) -> None:
        """One optimizer step; the gradient is divided once by the tokens of all batches."""
        self.parts.model.train()
        optimizer = self.parts.optimizer
        with products_in_tf32(self.device, is_on=self.tf32):
            done = self.gradients.accumulate(batches, drop_gradient=optimizer.zero_grad)
        length = clip_gradient(self.parts.model, self.config.clip_norm)
        if self.device.type != "cpu":
            self.stream.prepare(self.config.accumulate)  # a GPU is still at the gradient
        loss, norm = _numbers(done.loss, length)
        progress = self.progress
        progress.update += 1
        rate = self._rate()
        is_finite = math.isfinite(norm)
        if is_finite and done.loss is not None:
            for group in optimizer.param_groups:
                group["lr"] = rate
            with fitting_in_memory("the step of the optimizer", hint=_SMALLER):
                optimizer.step()
                self.parts.average.update(progress.update)
            progress.num_nonfinite = 0
            progress.target_tokens += done.num_tokens
        loss_sum = self._agreement.reach(loss)
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
            self._saver.count_nonfinite(limit=self.config.max_nonfinite)
        elif done.num_tokens:
            loss = loss_sum / done.num_tokens
            self._saver.count_diverged(loss, limit=self.config.max_nonfinite)

    def _rate(self) -> float:
        """The learning rate of the running update."""
        config, progress = self.config, self.progress
        reserved = 0.0
        if self._plan is not None:
            reserved = self._plan.reserved(looks_first=self._looks_first)
        return learning_rate(
            progress.update,
            peak_rate=config.peak_rate,
            warmup_updates=config.warmup_updates,
            minutes_done=minutes_done(config, progress),
            cooldown=config.cooldown,
            budget_done=budget_done(config, progress, epochs=self.stream.epochs, reserved=reserved),
        )

    def save(self) -> None:
        """Write a checkpoint with the random states of all ranks.

        Raises TrainingError, and leaves the last one, where weights are not finite or the loss of
        the last update was absurd.
        """
        self._saver.save()

    def _validate(self, *, is_last: bool = False) -> None:
        """Save, validate, and save what that came to; a stop ends it without scores."""
        self.save()
        step = ValidationStep(
            model=self.model,
            parts=self.parts,
            agreement=self._agreement,
            plan=self._plan,
            score=self._score,
            keep_best=self.keep_best,
            keeper=self.keeper,
            listener=self.listener,
        )
        try:
            is_done = step.run(self._averaged(), epoch=self.stream.epochs, is_last=is_last)
        except DivergedError as error:
            raise self._saver.diverged(str(error)) from error
        if is_done:
            self.save()

    def _score(self, task: ValidationTask) -> TranslationScores | None:
        """The scores of the weights that the model holds; None where a stop was asked for."""
        dev, validator = self.data.dev, self.validator
        return score_weights(self.model, dev, validator, task, device=self.device, ranks=self.ranks)

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Let the model hold the averaged weights, whole, in layers that are not compiled."""
        average = self.parts.average
        held = holding(self.model, average.tensors()) if self.shard else average.applied()
        with held, uncompiled(is_compiled=self.compiler is not None):
            yield

    def _report_start(self) -> None:
        minutes = self.config.max_minutes
        if self.config.freeze:
            self.listener(Notice(text=describe_frozen(self.model, self.config.freeze)))
        self.listener(
            TrainingStarted(
                num_parameters=count_parameters(self.model),
                first_update=self.progress.update + 1,
                updates_per_epoch=self._updates_per_epoch,
                max_updates=self.config.max_updates,
                max_seconds=None if minutes is None else 60 * minutes,
                device=self.device.type,
                precision=str(self.dtype).removeprefix("torch."),
                max_epochs=self.config.max_epochs,
            )
        )


def _numbers(loss: Tensor | None, norm: Tensor) -> tuple[float, float]:
    """A loss, NaN where there is none, and a norm: a GPU is waited for once, not twice."""
    if loss is None:
        return math.nan, float(norm)
    first, second = torch.stack((loss, norm)).tolist()
    return first, second
