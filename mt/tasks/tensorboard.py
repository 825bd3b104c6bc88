"""Event files for TensorBoard, which shows the course of training in a browser.

The package `tensorboard` is an optional extra. It is asked for before anything else is done, and
what it writes stands in `tensorboard/` of the model folder.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mt.errors import ConfigError
from mt.events import BatchDone, Event, Listener, TrainingStarted, Validated, ignore

FOLDER = "tensorboard"
_UPDATES_BETWEEN_RECORDS = 10
_MOST_NATS = 700.0  # a loss of which exp is still a number


@contextmanager
def tensorboard_files(model_folder: Path | None) -> Iterator[Listener]:
    """A listener that writes event files under a model folder; without one it listens to nothing.

    Raises ConfigError when the package is not installed.
    """
    if model_folder is None:
        yield ignore
        return
    files = TensorBoardFiles(model_folder / FOLDER)
    try:
        yield files
    finally:
        files.close()


class TensorBoardFiles:
    """Listens to training and writes scalars under the names that people expect."""

    def __init__(self, folder: Path) -> None:
        """Look for the package; the folder appears with the first update."""
        try:
            module = importlib.import_module("torch.utils.tensorboard")
        except ImportError as error:
            raise ConfigError(
                f"--tensorboard needs the package tensorboard, which cannot be loaded: {error}",
                hint="Install it: pip install tensorboard",
            ) from error
        self._new_writer: Any = module.SummaryWriter
        self._folder = folder
        self._writer: Any = None
        self._tokens = 0  # since the last record
        self._since: float | None = None  # training seconds at the last record

    def __call__(self, event: Event) -> None:
        """Write one event, if it is worth it."""
        match event:
            case TrainingStarted():
                # What a killed run wrote beyond its checkpoint will come again.
                purge = event.first_update if event.first_update > 1 else None
                self._writer = self._new_writer(log_dir=str(self._folder), purge_step=purge)
            case BatchDone():
                self._write_batch(event)
            case Validated():
                self._write_validation(event)

    def close(self) -> None:
        """Put what was written on the disk; the end of training, whatever ended it."""
        if self._writer is not None:
            self._writer.close()

    def _write_batch(self, event: BatchDone) -> None:
        if self._since is None:
            self._since = event.seconds  # the speed of the first update cannot be known
        else:
            self._tokens += event.num_target_tokens
        if event.update % _UPDATES_BETWEEN_RECORDS:
            return
        self._add("train/loss", event.loss, event.update)
        self._add("train/learning_rate", event.rate, event.update)
        self._add("train/gradient_norm", event.gradient_norm, event.update)
        self._add("train/epoch", event.epoch, event.update)
        seconds = event.seconds - self._since
        if seconds > 0:
            self._add("train/tokens_per_second", self._tokens / seconds, event.update)
        self._since, self._tokens = event.seconds, 0

    def _write_validation(self, event: Validated) -> None:
        for name, score in event.scores.items():
            self._add(f"dev/{name}", score, event.update)
        if "loss" in event.scores:
            perplexity = math.exp(min(event.scores["loss"], _MOST_NATS))
            self._add("dev/perplexity", perplexity, event.update)
        for kind, sets in (("dev", event.by_origin), ("also", event.also)):
            for origin, scores in sets.items():
                for name, score in scores.items():
                    self._add(f"{kind}/{name}/{origin}", score, event.update)
        self._since, self._tokens = event.seconds, 0  # a validation is no part of the speed
        self._writer.flush()

    def _add(self, name: str, value: float, update: int) -> None:
        self._writer.add_scalar(name, value, update)
