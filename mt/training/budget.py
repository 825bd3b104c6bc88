"""How much of its budget a run has used up, and when it is over."""

from __future__ import annotations

from mt.config import TrainingConfig
from mt.training.best import BestTracker
from mt.training.minutes import MinutesPlan
from mt.training.progress import Progress


def reason_to_end(
    config: TrainingConfig,
    progress: Progress,
    tracker: BestTracker,
    *,
    epochs: float,
    plan: MinutesPlan | None,
) -> str | None:
    """Why a run that stands at `progress`, after so many epochs, is over; None while it is not.

    `plan` is that of a budget in minutes. The words are for people.
    """
    if config.max_updates is not None and progress.update >= config.max_updates:
        return f"{config.max_updates} updates are done"
    if config.max_epochs is not None and epochs >= config.max_epochs:
        return f"{config.max_epochs:g} epochs are done"
    if plan is not None and plan.is_over(looks_first=not tracker.has_translated):
        return f"{config.max_minutes:g} minutes are over"
    if tracker.is_exhausted:
        return f"no better {config.metric} in {config.patience} validations"
    return None


def minutes_done(config: TrainingConfig, progress: Progress, *, reserved: float = 0.0) -> float:
    """The share of the budget in minutes that is used up; 0 where there is none.

    `reserved` are seconds at its end that no update has.
    """
    if config.max_minutes is None:
        return 0.0
    return min(progress.seconds / max(60 * config.max_minutes - reserved, 1e-9), 1.0)


def budget_done(
    config: TrainingConfig, progress: Progress, *, epochs: float, reserved: float = 0.0
) -> float:
    """The largest share of a budget that is used up, from 0 to 1; 0 where there is none."""
    shares = [minutes_done(config, progress, reserved=reserved)]
    if config.max_updates is not None:
        shares.append(progress.update / config.max_updates)
    if config.max_epochs is not None:
        shares.append(epochs / config.max_epochs)
    return min(max(shares), 1.0)
