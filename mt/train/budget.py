"""When a run is over: by its budget or its patience. The words are for people."""

from __future__ import annotations

from mt.config import TrainingConfig
from mt.train.checkpoint import Progress
from mt.train.validation import BestTracker


def reason_to_end(
    config: TrainingConfig, progress: Progress, tracker: BestTracker, *, epochs: float
) -> str | None:
    """Why a run that stands at `progress`, after so many epochs, is over; None while it is not."""
    if config.max_updates is not None and progress.update >= config.max_updates:
        return f"{config.max_updates} updates are done"
    if config.max_epochs is not None and epochs >= config.max_epochs:
        return f"{config.max_epochs:g} epochs are done"
    if config.max_minutes is not None and progress.seconds >= 60 * config.max_minutes:
        return f"{config.max_minutes:g} minutes are over"
    if tracker.is_exhausted:
        return f"no better {config.metric} in {config.patience} validations"
    return None
