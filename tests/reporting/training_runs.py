"""Model folders with the records of a training that never was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mt.events import BatchDone, TrainingEnded, TrainingStarted, Validated
from mt.tasks.metrics_file import MetricsFile


def started(first_update: int = 1) -> TrainingStarted:
    return TrainingStarted(
        num_parameters=10,
        first_update=first_update,
        updates_per_epoch=100,
        max_updates=None,
        max_seconds=None,
        device="cpu",
        precision="float32",
    )


def batch(update: int, loss: float = 2.0, *, skipped: bool = False) -> BatchDone:
    return BatchDone(
        update=update,
        epoch=update / 100,
        loss=loss,
        rate=0.001,
        gradient_norm=0.5,
        num_target_tokens=100,
        seconds=update * 3.0,
        skipped=skipped,
    )


def validated(update: int, bleu: float, *, is_best: bool = True, **more: Any) -> Validated:
    scores = {"loss": 1.5, "BLEU": bleu}
    return Validated(
        update=update,
        epoch=update / 100,
        scores=scores,
        signatures={"BLEU": "nrefs:1|case:mixed"},
        is_best=is_best,
        seconds=update * 3.0,
        validation_seconds=1.0,
        **more,
    )


ENDED = TrainingEnded(
    update=60,
    reason="--updates 60 are made",
    seconds=180.0,
    tokens_per_second=1000.0,
    validation_seconds=2.0,
    metric="BLEU",
    best=12.0,
    best_update=40,
    num_skipped=0,
    num_skipped_pairs=0,
)


def write(
    folder: Path, *events: Any, resumed_update: int = 0, held_update: int | None = None
) -> Path:
    folder.mkdir(exist_ok=True)
    file = MetricsFile(
        folder / "metrics.jsonl", resumed_update=resumed_update, held_update=held_update
    )
    for event in events:
        file(event)
    return folder


def a_run(folder: Path, *, slope: float = 1.0) -> Path:
    """A folder with ten records of training and five validations, the last of them the best."""
    events: list[Any] = [started()]
    for update in range(20, 220, 20):
        events.append(batch(update, 5.0 - slope * update / 100))
        if update % 40 == 0:
            events.append(validated(update, slope * update / 10))
    return write(folder, *events)
