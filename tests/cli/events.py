"""Events as the trainer reports them."""

from __future__ import annotations

from mt.events import BatchDone


def batch(update: int, *, loss: float = 1.0) -> BatchDone:
    return BatchDone(
        update=update,
        epoch=0.5,
        loss=loss,
        rate=0.1,
        gradient_norm=1.0,
        num_target_tokens=7,
        seconds=1.0,
    )
