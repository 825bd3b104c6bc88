"""`metrics.jsonl`: one JSON object a line for what happened in training."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

from mt.atomic import write_text
from mt.events import BatchDone, Event, TrainingEnded, TrainingStarted, Validated

_UPDATES_BETWEEN_RECORDS = 20


class MetricsFile:
    """A listener that appends to a file; each line is whole on the disk when it returns."""

    def __init__(self, path: Path, *, resumed_update: int = 0) -> None:
        """On a resume, records beyond `resumed_update` are dropped: they will come again."""
        self._path = path
        if path.exists():
            kept = [
                line
                for line in path.read_text("utf-8").split("\n")
                if line and json.loads(line).get("update", 0) <= resumed_update
            ]
            write_text(path, "".join(f"{line}\n" for line in kept))

    def __call__(self, event: Event) -> None:
        """Write one event, if it is worth it."""
        if isinstance(event, BatchDone):
            if event.update % _UPDATES_BETWEEN_RECORDS and not event.skipped:
                return
        elif not isinstance(event, TrainingStarted | Validated | TrainingEnded):
            return
        record = {"event": type(event).__name__, **dataclasses.asdict(event)}
        record = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in record.items()
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
