"""What keeps the model card true: a listener of training, and scores on test sets."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mt.config import Config
from mt.digests import blake2b_of_lines
from mt.errors import ModelFolderError
from mt.events import Event, RunDescribed, TrainingEnded, TrainingStarted, Validated
from mt.model_folder import folder as model_folder
from mt.model_folder.card import CardFacts
from mt.model_folder.card_file import add_test_scores, write_card
from mt.model_folder.scores import (
    CardScore,
    ResultOnSet,
    add_result,
    current_results,
    digest_of_weights,
)
from mt.preparation.reuse import Prepared
from mt.tasks.evaluate import Evaluation
from mt.tasks.requests import EvaluateRequest, StrPath

_KINDS = (RunDescribed, TrainingStarted, Validated, TrainingEnded)


class CardWriter:
    """A listener that keeps the model card true, from what earlier runs recorded on."""

    def __init__(self, folder: Path, config: Config, prepared: Prepared) -> None:
        self._folder = folder
        self._facts = CardFacts(config=config, corpus=prepared.corpus, dev=prepared.dev)
        for event in _recorded(folder / model_folder.METRICS):
            self._take(event)

    def __call__(self, event: Event) -> None:
        """Write the card anew when there is something new to say."""
        if not self._take(event) or isinstance(event, RunDescribed):
            return
        if isinstance(event, TrainingStarted) and (self._folder / model_folder.CARD).exists():
            return  # a resumed run: what it adds is told with its first news
        self._facts.results = current_results(self._folder)
        write_card(self._folder, self._facts)

    def _take(self, event: Event) -> bool:
        """Note what an event tells; whether it is any news."""
        facts = self._facts
        match event:
            case RunDescribed():
                facts.runs.append(event)
            case TrainingStarted():
                facts.started, facts.ended = event, None
            case Validated():
                if event.update == 0:
                    facts.before = event.scores
                if not event.is_best:
                    return False
                facts.best = event
            case TrainingEnded():
                facts.ended = event
            case _:
                return False
        return True


def _recorded(metrics: Path) -> Iterator[Event]:
    """What earlier runs recorded that a card tells of; records of an older mt may lack fields."""
    kinds = {kind.__name__: kind for kind in _KINDS}
    for line in metrics.read_bytes().split(b"\n") if metrics.exists() else []:
        try:
            record: dict[str, Any] = json.loads(line) if line else {}
            kind = kinds.get(record.pop("event", ""))
            if kind is not None:
                yield kind(**record)
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue  # damaged, or of another version


def require_card(folder: Path) -> None:
    """Raise ModelFolderError where scores could not be written into a model folder."""
    if not folder.is_dir():
        return  # told when it is read
    if not os.access(folder, os.W_OK):
        raise ModelFolderError(
            f"--card cannot write into {folder}: it is read-only for you",
            hint="Leave --card out, or copy the folder",
        )


def add_scores(request: EvaluateRequest, evaluation: Evaluation, *, command: str) -> None:
    """Put what the first system, the model of `request`, scored into its card."""
    sources, references = evaluation.sources, evaluation.references
    assert sources is not None and request.model is not None and request.source is not None
    folder = Path(request.model)
    scores = []
    for result in evaluation.results[: len(evaluation.recipe.metrics)]:
        assert result.interval is not None
        scores.append(
            CardScore(
                name=result.score.name,
                score=result.score.score,
                signature=result.score.signature,
                mean=result.interval.mean,
                half_width=result.interval.half_width,
            )
        )
    seen = evaluation.overlap
    add_result(
        folder,
        ResultOnSet(
            source=_as_text(request.source),
            references=tuple(map(_as_text, request.references)),
            source_digest=blake2b_of_lines(sources),
            reference_digests=tuple(map(blake2b_of_lines, references)),
            num_lines=len(sources),
            num_seen=None if seen is None else seen.num_either,
            scores=tuple(scores),
            beside=tuple(map(str, evaluation.trivial or ())),
            command=command,
            date=time.strftime("%Y-%m-%d"),
            weights=digest_of_weights(folder),
        ),
    )
    add_test_scores(folder)


def _as_text(path: StrPath) -> str:
    """The name of a file as it was typed; bytes that are no text are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")
