"""How far a run is: counts and times, which a checkpoint holds and all parts of training share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Cooldown:
    """A fall of the learning rate that has begun, and by what."""

    update: int
    """The last update before it, whose state is kept."""
    share: float
    """`training.cooldown`, and with it the budgets that the rate has fallen to."""
    max_updates: int | None
    max_epochs: float | None
    max_minutes: float | None


@dataclass(kw_only=True)
class Progress:
    """How far a run is."""

    update: int = 0
    """Updates made, skipped ones included."""
    epoch: int = 0
    """Epochs finished."""
    batch: int = 0
    """Batches of the running epoch that were used."""
    target_tokens: int = 0
    seconds: float = 0.0
    """Time since the first update, validation included."""
    validation_seconds: float = 0.0
    num_skipped: int = 0
    """Updates skipped since their gradient was not finite."""
    num_nonfinite: int = 0
    """Of these, the ones in a row up to the last update."""
    num_skipped_pairs: int = 0
    """Times a pair was skipped since even by itself it did not fit in memory."""
    validated_update: int = 0
    """The update after which the last validation was made."""
    validated_seconds: float = 0.0
    """When it ended, in training seconds."""
    loss_seconds: float = 0.0
    """What the loss of the validation set took in it."""
    look_seconds: float = 0.0
    """What its look took, or the last one that had one."""
    sample_seconds: float = 0.0
    """What its search took of the sample."""
    whole_seconds: float = 0.0
    """What its search took, or would have taken, of the whole set."""
    cooldown: Cooldown | None = None
    """The one that the weights have been through; None before it."""
