"""`metrics.jsonl`: what a run reports, for programs."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

from mt.events import (
    BatchDone,
    Event,
    RunDescribed,
    TrainingEnded,
    TrainingStarted,
    TrivialCompared,
    Validated,
)
from mt.files import append_text, write_text
from mt.model_folder.folder import WEIGHTS_HELD

_UPDATES_BETWEEN_RECORDS = 20
_RECORDED = (RunDescribed, TrainingStarted, Validated, TrainingEnded, TrivialCompared)


class MetricsFile:
    """A listener that appends to a file; each line is whole on the disk when it returns."""

    def __init__(
        self,
        path: Path,
        *,
        resumed_update: int = 0,
        validated_update: int | None = None,
        held_update: int | None = None,
    ) -> None:
        """On a resume, records beyond `resumed_update` are dropped: they will come again.

        So are validations beyond `validated_update`, where it is less. The one of `held_update`,
        whose weights stay the model of a run that goes back, stays under another name.
        """
        if validated_update is None:
            validated_update = resumed_update
        self._path = path
        if path.exists():
            kept = []
            for line in path.read_text("utf-8", "backslashreplace").split("\n"):
                is_beyond = _update_of(line) > resumed_update
                held = _held(line, held_update, is_beyond=is_beyond)
                if held is not None:
                    kept.append(held)
                elif not (is_beyond or _is_validation_beyond(line, validated_update)):
                    kept.append(line)
            write_text(path, "".join(f"{line}\n" for line in kept))

    def __call__(self, event: Event) -> None:
        """Write one event, if it is worth it."""
        if isinstance(event, BatchDone):
            if event.update % _UPDATES_BETWEEN_RECORDS and not event.skipped:
                return
        elif not isinstance(event, _RECORDED):
            return
        record = {"event": type(event).__name__, **dataclasses.asdict(event)}
        record = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in record.items()
        }
        append_text(self._path, json.dumps(record, ensure_ascii=False) + "\n")


def _update_of(line: str) -> float:
    """The update that a record belongs to; infinite for what a kill left half written."""
    try:
        return float(json.loads(line).get("update", 0))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return math.inf


def _held(line: str, update: int | None, *, is_beyond: bool) -> str | None:
    """The record of the weights that are held, by its name; None for other records."""
    if update is None or _update_of(line) != update:
        return None
    record = json.loads(line)
    event = record.get("event")
    is_left = is_beyond and event == Validated.__name__ and record["is_best"]
    if not (is_left or event == WEIGHTS_HELD):
        return None
    return json.dumps({**record, "event": WEIGHTS_HELD}, ensure_ascii=False)


def _is_validation_beyond(line: str, update: int) -> bool:
    """Whether a record, a whole one, is that of a validation of a later update."""
    record = json.loads(line)
    return bool(record.get("event") == Validated.__name__ and record["update"] > update)
