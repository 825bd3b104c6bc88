"""What a model folder knows of how its model was made, read from its files, for the model card.

`config.toml`, `metrics.jsonl` and `scores.json` hold it; of averaged weights `average.json`, since
no training recorded anything. Nothing is read from the card, which is text.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.config import Config
from mt.events import CorpusRead, Event, RunDescribed, TrainingEnded, TrainingStarted, Validated
from mt.files import write_text
from mt.model_folder.folder import METRICS, WEIGHTS_HELD
from mt.model_folder.imported import Imported
from mt.model_folder.scores import SetResult, current_results

AVERAGE = "average.json"
_KINDS = {kind.__name__: kind for kind in (RunDescribed, TrainingStarted, Validated, TrainingEnded)}
_KINDS[WEIGHTS_HELD] = Validated


@dataclass(frozen=True, kw_only=True)
class Averaged:
    """Weights that are the mean of others."""

    sources: tuple[str, ...]
    """What each of them was."""
    num_parameters: int
    command: str
    """By which the mean was made."""

    def save(self, folder: Path) -> None:
        """Write `average.json` into a model folder."""
        text = json.dumps(dataclasses.asdict(self), indent=1)  # in ASCII: names need not be UTF-8
        write_text(folder / AVERAGE, f"{text}\n")


@dataclass(kw_only=True)
class CardFacts:
    """What is known of a model so far."""

    config: Config
    runs: tuple[RunDescribed, ...] = ()
    """The run that made it, and those that resumed that."""
    started: TrainingStarted | None = None
    best: Validated | None = None
    ended: TrainingEnded | None = None
    starting_scores: dict[str, float] = dataclasses.field(default_factory=dict)
    """Of the weights that fine-tuning started from."""
    starting_also: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    """Theirs on further validation sets."""
    averaged: Averaged | None = None
    imported: Imported | None = None
    corpus: CorpusRead | None = None
    dev: tuple[tuple[str, int], ...] = ()
    """Name and number of pairs of each corpus of the validation set."""
    results: tuple[SetResult, ...] = ()
    """On test sets, of these weights."""

    @property
    def commands(self) -> list[str]:
        """What was typed to make the model, each command once."""
        others = [each.command for each in (self.imported, self.averaged) if each is not None]
        return list(dict.fromkeys([*(run.command for run in self.runs), *others]))


def read_facts(folder: Path, config: Config) -> CardFacts:
    """All that is known of the model in a folder but its corpus.

    Records that are damaged or of another version are passed over. Raises ModelFolderError where
    `scores.json` is damaged.
    """
    facts = CardFacts(
        config=config,
        averaged=_averaged(folder / AVERAGE),
        imported=Imported.load(folder),
        results=current_results(folder),
    )
    for event in _recorded(folder / METRICS):
        match event:
            case RunDescribed():
                facts.runs += (event,)
            case TrainingStarted():
                facts.started, facts.ended = event, None
            case Validated():
                if event.update == 0:
                    facts.starting_scores, facts.starting_also = event.scores, event.also
                if event.is_best:
                    facts.best = event
            case TrainingEnded():
                facts.ended = event
    return facts


def _recorded(metrics: Path) -> Iterator[Event]:
    for line in metrics.read_bytes().split(b"\n") if metrics.exists() else []:
        try:
            record: dict[str, Any] = json.loads(line) if line else {}
            kind = _KINDS.get(record.pop("event", ""))
            if kind is not None:
                yield kind(**record)
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue


def _averaged(path: Path) -> Averaged | None:
    try:
        record = json.loads(path.read_bytes())
        return Averaged(**{**record, "sources": tuple(record["sources"])})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None  # not averaged, or by mt 0.1
