"""What is reported of a run at its start and at its end."""

from __future__ import annotations

import torch

from mt.config import TrainingConfig
from mt.events import TrainingEnded, TrainingStarted
from mt.training.best import METRIC_NAMES, BestTracker
from mt.training.progress import Progress


def training_started(
    num_parameters: int,
    config: TrainingConfig,
    progress: Progress,
    *,
    updates_per_epoch: int,
    device: torch.device,
    dtype: torch.dtype,
) -> TrainingStarted:
    """A run begins, or goes on, after `progress`."""
    minutes = config.max_minutes
    return TrainingStarted(
        num_parameters=num_parameters,
        first_update=progress.update + 1,
        updates_per_epoch=updates_per_epoch,
        max_updates=config.max_updates,
        max_seconds=None if minutes is None else 60 * minutes,
        device=device.type,
        precision=str(dtype).removeprefix("torch."),
        max_epochs=config.max_epochs,
    )


def training_ended(
    config: TrainingConfig, progress: Progress, tracker: BestTracker, reason: str
) -> TrainingEnded:
    """A run is over, for a reason in words."""
    training = progress.seconds - progress.validation_seconds
    return TrainingEnded(
        update=progress.update,
        reason=reason,
        seconds=progress.seconds,
        tokens_per_second=progress.target_tokens / max(training, 1e-9),
        validation_seconds=progress.validation_seconds,
        metric=METRIC_NAMES[config.metric],
        best=tracker.best,
        best_update=tracker.best_update,
        best_pairs=tracker.best_pairs,
        num_skipped=progress.num_skipped,
        num_skipped_pairs=progress.num_skipped_pairs,
    )
