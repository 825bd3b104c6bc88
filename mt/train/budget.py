"""How much of its budget a run has used up, and when it is over."""

from __future__ import annotations

from mt.config import TrainingConfig
from mt.train.checkpoint import Progress
from mt.train.validation import BestTracker


def reason_to_end(
    config: TrainingConfig, progress: Progress, tracker: BestTracker, *, epochs: float
) -> str | None:
    """Why a run that stands at `progress`, after so many epochs, is over; None while it is not.

    The words are for people.
    """
    if config.max_updates is not None and progress.update >= config.max_updates:
        return f"{config.max_updates} updates are done"
    if config.max_epochs is not None and epochs >= config.max_epochs:
        return f"{config.max_epochs:g} epochs are done"
    if config.max_minutes is not None and progress.seconds >= 60 * config.max_minutes:
        return f"{config.max_minutes:g} minutes are over"
    if tracker.is_exhausted:
        return f"no better {config.metric} in {config.patience} validations"
    return None


def minutes_done(config: TrainingConfig, progress: Progress) -> float:
    """The share of the budget in minutes that is used up; 0 where there is none."""
    if config.max_minutes is None:
        return 0.0
    return min(progress.seconds / (60 * config.max_minutes), 1.0)


def budget_done(config: TrainingConfig, progress: Progress, *, epochs: float) -> float:
    """The largest share of a budget that is used up, from 0 to 1; 0 where there is none."""
    shares = [minutes_done(config, progress)]
    if config.max_updates is not None:
        shares.append(progress.update / config.max_updates)
    if config.max_epochs is not None:
        shares.append(epochs / config.max_epochs)
    return min(max(shares), 1.0)
