"""What a run leaves for people and programs: the model card, and `metrics.jsonl`."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mt.atomic import replaced_file, write_text
from mt.config import Config
from mt.events import (
    BatchDone,
    CorpusRead,
    Event,
    Listener,
    PairDropped,
    TrainingEnded,
    TrainingStarted,
    Validated,
    ignore,
)
from mt.translate import model_folder
from mt.translate.model_card import CardFacts, model_card

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
                if _update_of(line) <= resumed_update
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


@contextmanager
def rejected_pairs(path: Path | None) -> Iterator[Listener]:
    """A listener that writes each dropped pair to `path`: reason, place, source, target.

    The file appears when all of the corpus is read, or not at all. Without a path it listens to
    nothing.
    """
    if path is None:
        yield ignore
        return
    with replaced_file(path) as temporary, temporary.open("wb") as out:

        def write(event: Event) -> None:
            if isinstance(event, PairDropped):
                place = f"{event.origin}:{event.line}"
                fields = (event.reason, place, event.source, event.target)
                line = "\t".join(field.replace("\t", " ") for field in fields)
                out.write(f"{line}\n".encode())

        yield write


def _update_of(line: str) -> float:
    """The update that a record belongs to; infinite for what a kill left half written."""
    try:
        return float(json.loads(line).get("update", 0))
    except ValueError:
        return math.inf


def _scores_at_start(metrics: Path) -> dict[str, float]:
    """The scores of the weights that a resumed run had started from, if it scored them."""
    for line in metrics.read_text("utf-8").split("\n") if metrics.exists() else []:
        if '"Validated"' in line and _update_of(line) == 0:
            scores: dict[str, float] = json.loads(line)["scores"]
            return scores
    return {}


class CardWriter:
    """A listener that keeps the model card true."""

    def __init__(self, folder: Path, config: Config, corpus: CorpusRead) -> None:
        self._path = folder / model_folder.CARD
        self._facts = CardFacts(
            config=config, corpus=corpus, before=_scores_at_start(folder / model_folder.METRICS)
        )

    def __call__(self, event: Event) -> None:
        """Write the card anew when there is something new to say."""
        if isinstance(event, TrainingStarted):
            self._facts.started = event
            if self._path.exists():
                return  # a resumed run: the card stays until there are better weights
        elif isinstance(event, Validated) and event.is_best:
            self._facts.best = event
            if event.update == 0:
                self._facts.before = event.scores
        else:
            return
        write_text(self._path, model_card(self._facts))
