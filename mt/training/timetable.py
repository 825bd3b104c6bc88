"""What follows from how far a run is: its learning rate, when it validates, when it ends."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import torch

from mt.config import TrainingConfig
from mt.events import TrainingEnded, TrainingStarted
from mt.training.best import METRIC_NAMES, BestTracker
from mt.training.budget import budget_done, minutes_done, reason_to_end
from mt.training.data_loader import BatchStream
from mt.training.minutes import MinutesPlan
from mt.training.progress import Cooldown, Progress
from mt.training.schedule import cooldown_left, dropout_share, learning_rate
from mt.training.validation import validation_interval


@dataclass(kw_only=True)
class Timetable:
    """The same on all ranks, since all know the same progress."""

    config: TrainingConfig
    progress: Progress
    tracker: BestTracker
    stream: BatchStream
    num_ranks: int

    def __post_init__(self) -> None:
        minutes = self.config.max_minutes
        self.plan: MinutesPlan | None = None
        """That of a budget in minutes."""
        if minutes is not None:
            self.plan = MinutesPlan(budget=60 * minutes, progress=self.progress)
        self._interval = validation_interval(self.config, self.updates_per_epoch)

    @property
    def updates_per_epoch(self) -> int:
        """Updates of the running epoch."""
        return math.ceil(self.stream.batches_in_epoch / (self.config.accumulate * self.num_ranks))

    @property
    def is_validated(self) -> bool:
        """Whether the last update was validated."""
        return self.progress.validated_update == self.progress.update

    def is_validation_due(self) -> bool:
        """Whether the validation after this update is still to be made."""
        update = self.progress.update
        if update == 0 or self.is_validated:
            return False
        is_due = update % self._interval == 0
        if self.plan is None:
            return is_due
        looks = self._looks_first
        return (is_due and self.plan.allows(looks_first=looks)) or self.plan.wants_to_know(
            looks_first=looks
        )

    def reason_to_end(self) -> str | None:
        """Why the run is over, in words, or None while it is not."""
        epochs = self.stream.epochs
        return reason_to_end(
            self.config, self.progress, self.tracker, epochs=epochs, plan=self.plan
        )

    def rate(self) -> float:
        """The learning rate of the running update."""
        config, progress = self.config, self.progress
        done = budget_done(config, progress, epochs=self.stream.epochs, reserved=self._reserved)
        return learning_rate(
            progress.update,
            peak_rate=config.peak_rate,
            warmup_updates=config.warmup_updates,
            minutes_done=minutes_done(config, progress),
            cooldown=config.cooldown,
            budget_done=done,
        )

    def is_cooldown_next(self) -> bool:
        """Whether the next update is the first one of the cooldown."""
        config, progress = self.config, self.progress
        if not config.cooldown or progress.cooldown is not None:
            return False
        following = dataclasses.replace(progress, update=progress.update + 1)
        # Where epochs end is not known without a look at the next one, so look only if need be.
        epochs = 0.0
        if config.max_epochs is not None:
            epochs = self.stream.epochs_after(config.accumulate)
        done = budget_done(config, following, epochs=epochs, reserved=self._reserved)
        return cooldown_left(config.cooldown, done) < 1.0

    def cooldown_from(self, update: int) -> Cooldown:
        """The cooldown by the settings in force, of which this is the last update before it."""
        config = self.config
        return Cooldown(
            update=update,
            share=config.cooldown,
            max_updates=config.max_updates,
            max_epochs=config.max_epochs,
            max_minutes=config.max_minutes,
        )

    def is_cooled_too_early(self) -> bool:
        """Whether the rate fell by shorter budgets, or a longer cooldown, than those in force."""
        cooldown = self.progress.cooldown
        if cooldown is None or cooldown.update == self.progress.update:
            return False
        then = dataclasses.replace(
            self.config,
            cooldown=cooldown.share,
            max_updates=cooldown.max_updates,
            max_epochs=cooldown.max_epochs,
            max_minutes=cooldown.max_minutes,
        )
        epochs = self.stream.epochs
        left, left_then = (
            cooldown_left(each.cooldown, budget_done(each, self.progress, epochs=epochs))
            for each in (self.config, then)
        )
        return left > left_then

    def dropout(self) -> float:
        """The share of its rates that dropout has in the running update."""
        return dropout_share(self.stream.epochs, self.config.dropout_epochs)

    def started(
        self, num_parameters: int, device: torch.device, dtype: torch.dtype
    ) -> TrainingStarted:
        """What is reported when the run begins or goes on."""
        return TrainingStarted(
            num_parameters=num_parameters,
            first_update=self.progress.update + 1,
            updates_per_epoch=self.updates_per_epoch,
            max_updates=self.config.max_updates,
            max_seconds=None if self.plan is None else self.plan.budget,
            device=device.type,
            precision=str(dtype).removeprefix("torch."),
            max_epochs=self.config.max_epochs,
        )

    def ended(self, reason: str) -> TrainingEnded:
        """What is reported when the run is over, for a reason in words."""
        progress, best = self.progress, self.tracker.in_folder
        training = progress.seconds - progress.validation_seconds
        return TrainingEnded(
            update=progress.update,
            reason=reason,
            seconds=progress.seconds,
            tokens_per_second=progress.target_tokens / max(training, 1e-9),
            validation_seconds=progress.validation_seconds,
            metric=METRIC_NAMES[self.config.metric],
            best=None if best is None else best.score,
            best_update=None if best is None else best.update,
            best_pairs=None if best is None else best.num_pairs,
            is_of_shorter_run=self.tracker.held is not None,
            num_skipped=progress.num_skipped,
            num_skipped_pairs=progress.num_skipped_pairs,
        )

    @property
    def _reserved(self) -> float:
        """Seconds at the end of a budget in minutes that no update has."""
        return 0.0 if self.plan is None else self.plan.reserved(looks_first=self._looks_first)

    @property
    def _looks_first(self) -> bool:
        return not self.tracker.has_translated
