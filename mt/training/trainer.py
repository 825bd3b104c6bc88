"""The training loop: batches in, better weights out. It prints nothing and reports by events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from mt.config import TrainingConfig
from mt.events import Listener, Notice
from mt.model.translation_model import TranslationModel, count_parameters
from mt.training.agreement import Agreement
from mt.training.batch import Batch
from mt.training.best import BestTracker
from mt.training.checkpoint import Parts, load_checkpoint
from mt.training.compiling import WIDTH_MULTIPLE
from mt.training.data_loader import BatchStream, TrainingData
from mt.training.distributed import Ranks
from mt.training.freezing import describe_frozen, freeze
from mt.training.going_back import go_back
from mt.training.gradients import Gradients
from mt.training.kept_weights import WeightKeeper
from mt.training.optimizer import make_optimizer
from mt.training.progress import Progress
from mt.training.saving import Saver
from mt.training.timetable import Timetable
from mt.training.update_step import UpdateStep
from mt.training.validation import DivergedError, Validator
from mt.training.validation_step import ValidationStep
from mt.training.weight_average import WeightAverage

INTERRUPTED = "interrupted"
"""Why a run ended that was asked to stop."""


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
        self.gradients = Gradients(
            model=self.model,
            config=self.config,
            device=self.device,
            dtype=self.dtype,
            ranks=self.ranks,
            progress=self.progress,
            listener=self.listener,
            compiler=self.compiler,
            shard=self.shard,
        )
        trained = self.gradients.objective.model
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
            optimizer=make_optimizer(trained, trained.layers(), self.config, dtype=self.dtype),
            progress=self.progress,
            tracker=BestTracker(metric=self.config.metric, patience=self.config.patience),
            generators=self.gradients.generators,
        )
        self.keeper = WeightKeeper(
            folder=self.folder, count=self.config.keep_weights, metric=self.config.metric
        )
        self._timetable = Timetable(
            config=self.config,
            progress=self.progress,
            tracker=self.parts.tracker,
            stream=self.stream,
            num_ranks=self.ranks.size,
        )
        self._agreement = Agreement(
            ranks=self.ranks,
            progress=self.progress,
            should_stop=lambda: self.should_stop(),  # whatever that is by then
        )
        self._saver = Saver(
            folder=self.folder, parts=self.parts, device=self.device, agreement=self._agreement
        )

    def resume(self) -> None:
        """Go on from the newest checkpoint in the folder.

        Where its rate has fallen by a shorter budget than the one in force, go on from before that.
        """
        load_checkpoint(self.folder, self.parts, rank=self.ranks.rank)
        newest = self.progress.update
        if self._timetable.is_cooled_too_early():
            told = go_back(self.folder, self.parts, rank=self.ranks.rank)
            if told is not None:
                self.listener(Notice(text=told))
        elif self.progress.cooldown is not None:  # what is left of it is by the budget in force
            before = self.progress.cooldown.update
            is_begun = before < newest
            self.progress.cooldown = self._timetable.cooldown_from(before) if is_begun else None
        if self.ranks.is_first:
            self.keeper.drop_after(self.progress.update)
        self._saver.resume(is_newest=self.progress.update == newest)
        self._agreement.resume()

    def run(self) -> str:
        """Train until the budget or the patience ends, or a stop is asked; returns why.

        The state is saved before each validation and after it, and by time.

        Raises TrainingError when gradients stay non-finite and when weights or the loss of a
        validation are no longer finite; the last good state is kept.
        """
        if self.config.freeze:
            self.listener(Notice(text=describe_frozen(self.model, self.config.freeze)))
        num_parameters = count_parameters(self.model)
        self.listener(self._timetable.started(num_parameters, self.device, self.dtype))
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
                if self._saver.is_sound and self._timetable.is_cooldown_next():
                    self.progress.cooldown = self._timetable.cooldown_from(self.progress.update)
                    self.save()  # a longer run will go on from here
                    continue
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
        self.listener(self._timetable.ended(reason))
        return reason

    def try_largest(self) -> None:
        """Compute the gradient of the largest batch, so that what does not fit shows at once."""
        batches = [self.stream.largest()] * min(self.config.accumulate, 2)
        self._update_step.try_gradient(batches)

    def _validate_last(self) -> None:
        """Validate the last update, if that was not done and no stop is asked."""
        if not (self._timetable.is_validated or self._agreement.is_stopped):
            self._validate(is_last=True)

    def _is_due(self) -> bool:
        """Whether to validate now."""
        return not self._agreement.is_stopped and self._timetable.is_validation_due()

    @property
    def validated_update(self) -> int:
        """The update of the last validation; -1 before the first."""
        is_none = self.progress.validated_update == 0 and self.parts.tracker.best is None
        return -1 if is_none else self.progress.validated_update

    def reason_to_end(self) -> str | None:
        """Why the run is over, in words, or None while it is not."""
        reason = self._timetable.reason_to_end()
        is_complete = reason is not None and self._timetable.is_validated
        return INTERRUPTED if self._agreement.is_stopped and not is_complete else reason

    @property
    def _update_step(self) -> UpdateStep:
        return UpdateStep(
            config=self.config,
            parts=self.parts,
            gradients=self.gradients,
            stream=self.stream,
            timetable=self._timetable,
            agreement=self._agreement,
            saver=self._saver,
            device=self.device,
            tf32=self.tf32,
            listener=self.listener,
        )

    def _update(self, batches: Sequence[Batch]) -> None:
        self._update_step.run(batches)

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
            plan=self._timetable.plan,
            dev=self.data.dev,
            validator=self.validator,
            keep_best=self.keep_best,
            keeper=self.keeper,
            device=self.device,
            is_compiled=self.compiler is not None,
            is_sharded=self.shard,
            listener=self.listener,
        )
        try:
            is_done = step.run(epoch=self.stream.epochs, is_last=is_last)
        except DivergedError as error:
            raise self._saver.diverged(str(error)) from error
        if is_done:
            self.save()
