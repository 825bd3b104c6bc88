"""One run of training in a prepared model folder: model, data, validation and trainer together."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from mt.config import Config
from mt.config.toml import Values
from mt.corpus.store import TokenStore
from mt.directions import Direction
from mt.events import Event, Listener, Notice, to_all
from mt.model.device import choose_device, choose_training_dtype, set_threads
from mt.model_folder import folder as model_folder
from mt.model_folder.card_file import CardWriter
from mt.preparation import dev_set, pipeline
from mt.preparation.reuse import Prepared
from mt.tasks.advice import advise
from mt.tasks.also_dev import read_also_dev, tell_forgetting
from mt.tasks.fine_tune import Start, warn_without_gain
from mt.tasks.machine import describe_run
from mt.tasks.metrics_file import MetricsFile
from mt.tasks.new_folder import mark_prepared
from mt.tasks.requests import Machine
from mt.tasks.trivial_systems import TrivialScores
from mt.tasks.validate import make_validator
from mt.training.data_loader import TrainingData
from mt.training.distributed import Ranks
from mt.training.progress import Progress
from mt.training.trainer import INTERRUPTED, Trainer
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator

_SEEDS_APART = 1_000_003  # between the random generators of two ranks


class Stop(Protocol):
    """Something that can ask a run to save and to end, for example a signal."""

    received: int | None
    """The number of the signal that asked; None as long as nobody did."""

    def installed(self, *, is_silent: bool) -> AbstractContextManager[None]:
        """Listen within; `is_silent` where another process of the run acknowledges."""


class Unstoppable:
    """Nothing asks a run to end."""

    received: int | None = None

    def installed(self, *, is_silent: bool) -> AbstractContextManager[None]:
        """Listen to nothing."""
        return nullcontext()


@dataclass(frozen=True, kw_only=True)
class Run:
    """Where a run happens, and who hears of it."""

    folder: Path
    machine: Machine
    ranks: Ranks
    listener: Listener
    stop: Stop
    command: str

    @property
    def device(self) -> torch.device:
        """The device of this rank; raises ConfigError when it is not there."""
        return choose_device(self.machine.device, self.ranks.local_rank)


@dataclass(frozen=True, kw_only=True)
class TrainResult:
    """What came of a run."""

    folder: Path
    reason: str
    """Why it ended."""
    best_update: int | None = None
    """The update whose weights the folder holds; None where none was validated."""
    exit_status: int = 0
    """0, or 128 + the signal that interrupted it."""
    trivial: Sequence[TrivialScores] | None = None
    """What copying the source and the nearest training pair score on the validation pairs that the
    best score is of; None where that was not looked at, and on all ranks but the first."""


def resume_command(folder: Path) -> str:
    """What continues the run in a folder."""
    return f"mt train --resume {shlex.quote(str(folder))}"


def run_training(
    run: Run, *, start: Start | None = None, budget: Values | None = None
) -> TrainResult:
    """Train what the folder holds.

    A new run begins with the weights of `start`, if there is one; with a `budget` an earlier run
    is resumed.
    """
    folder, ranks = run.folder, run.ranks
    config = model_folder.read_config(folder).with_values(budget or {})
    prepared = Prepared.load(folder / model_folder.TRAINING)
    if budget is not None:
        prepared.require_files(folder / model_folder.TRAINING)
    listeners: list[Listener] = [run.listener]
    trainer = _make_trainer(run, config, prepared, listeners, start)
    if budget is not None:
        trainer.resume()
        reason = trainer.reason_to_end()
        # A run that was interrupted by its last update still wants its last validation.
        is_validated = trainer.progress.validated_update == trainer.progress.update
        if ranks.is_first:
            model_folder.write_config(folder, config)
        if reason is not None and is_validated:
            run.listener(Notice(text=f"nothing left to do: {reason}"))
            ranks.meet()
            best = _update_in_folder(trainer)
            return TrainResult(folder=folder, reason=reason, best_update=best)
    held = trainer.parts.tracker.held
    if ranks.is_first:
        listeners += [
            MetricsFile(
                folder / model_folder.METRICS,
                resumed_update=trainer.progress.update,
                validated_update=trainer.validated_update,
                held_update=None if held is None else held.update,
            ),
            CardWriter(folder=folder, config=config, corpus=prepared.corpus, dev=prepared.dev),
        ]
        described = describe_run(
            run.command,
            device=run.device,
            threads=run.machine.threads,
            num_processes=ranks.size,
        )
        to_all(listeners)(described)
    with run.stop.installed(is_silent=not ranks.is_first):
        if budget is None:
            trainer.save()
            if ranks.is_first:
                mark_prepared(folder)
        reason = trainer.run()
        received = max(ranks.gathered(run.stop.received or 0))
        ranks.meet()
    best = _update_in_folder(trainer)
    if reason == INTERRUPTED:
        text = f"interrupted and saved; go on with: {resume_command(folder)}"
        run.listener(Notice(text=text))
        status = 128 + received
        return TrainResult(folder=folder, reason=reason, best_update=best, exit_status=status)
    warn_without_gain(config.fine_tuned_from, best, run.listener)
    trivial = None
    if ranks.is_first:
        if prepared.also:
            tell_forgetting(folder, config, run.listener)
        trivial = advise(
            folder,
            config,
            trainer.parts.tracker,
            num_pairs=prepared.corpus.num_used,
            resume=resume_command(folder),
            listener=to_all(listeners),
        )
    ranks.meet()
    return TrainResult(folder=folder, reason=reason, best_update=best, trivial=trivial)


def _update_in_folder(trainer: Trainer) -> int | None:
    """The update whose weights the model folder holds."""
    best = trainer.parts.tracker.in_folder
    return None if best is None else best.update


def _make_trainer(
    run: Run, config: Config, prepared: Prepared, listeners: list[Listener], start: Start | None
) -> Trainer:
    """The trainer of what the folder holds; it reports to all who are in `listeners` by then."""
    folder, machine, ranks = run.folder, run.machine, run.ranks
    training = folder / model_folder.TRAINING
    tokenizers = model_folder.load_tokenizers(folder, config)
    prepared.require_tokenizers(training, tokenizers)
    set_threads(machine.threads)
    torch.manual_seed(config.training.seed)
    model = model_folder.build_model(config, tokenizers)
    if start is not None:
        start.give_weights(model, tokenizers)
    if not ranks.is_first:  # the same weights, but other dropout
        torch.manual_seed(config.training.seed + _SEEDS_APART * ranks.rank)

    def translator(settings: Config) -> Translator:
        quiet = _without_warnings(run.listener)
        first = config.directions[:1]
        to = Direction.parse(first[0]).target if first else ""  # validation takes each in turn
        options = TranslationOptions(forks=True, to=to)
        return Translator(model, tokenizers, settings, options=options, listener=quiet)

    def keep_best(progress: Progress) -> None:
        model_folder.save_weights(folder, model)

    return Trainer(
        model=model,
        config=config.training,
        data=TrainingData(
            train=TokenStore(training / pipeline.TOKENS),
            dev=TokenStore(training / dev_set.DEV_TOKENS),
            weights=config.corpus.weights,
        ),
        device=run.device,
        dtype=choose_training_dtype(machine.precision, run.device),
        folder=training,
        validator=make_validator(
            folder,
            translator,
            prepared.dev,
            ranks,
            also=read_also_dev(training, prepared.also),
            config=config,
            listener=run.listener,
        ),
        keep_best=keep_best,
        listener=to_all(listeners),
        should_stop=lambda: run.stop.received is not None,
        validates_start=bool(config.fine_tuned_from),
        ranks=ranks,
        compiler="inductor" if machine.compiled else None,
        shard=machine.shard,
    )


def _without_warnings(listener: Listener) -> Listener:
    """Pass on all but warnings: long lines of a validation set are no news at each validation."""

    def listen(event: Event) -> None:
        if not (isinstance(event, Notice) and event.is_warning):
            listener(event)

    return listen
