"""The wiring of `mt train`: corpus, tokenizer, model, translator and trainer put together."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from mt.cli.console import TrainingConsole, stderr_console
from mt.cli.corpus_setup import CorpusArguments, fill_folder, open_inputs
from mt.cli.dev_scores import make_validator
from mt.cli.fine_tuning import Start, tell_result, tell_start
from mt.cli.machine import describe_run
from mt.cli.new_folder import mark_prepared, new_model_folder, refuse_half_prepared
from mt.cli.records import MetricsFile
from mt.cli.signals import StopSignal
from mt.cli.tensorboard import tensorboard_files
from mt.config import Config, Precision
from mt.config_file import Values
from mt.corpus.store import TokenStore
from mt.errors import DataError, ModelFolderError
from mt.events import Event, Listener, Notice, ignore, to_all
from mt.files import clean
from mt.folder_lock import folder_lock
from mt.model.device import choose_device, choose_training_dtype, set_threads
from mt.model_folder import folder as model_folder
from mt.model_folder.card_file import CardWriter
from mt.preparation import dev_set, pipeline
from mt.preparation.reuse import Prepared
from mt.preparation.tokenise import num_cores
from mt.training.checkpoint import Progress, list_checkpoints
from mt.training.data_loader import TrainingData
from mt.training.distributed import Ranks, joined_ranks
from mt.training.trainer import INTERRUPTED, Trainer
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator

_SEEDS_APART = 1_000_003  # between the random generators of two ranks
_STOPPING = "mt: stopping, and saving what was trained (once more: end at once)"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where to compute; it is no part of the model."""

    device: str
    precision: Precision
    threads: int | None
    compiled: bool
    """Whether the layers are compiled for training."""
    shard: bool
    """Whether the weights are sharded over the ranks."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run happens: its folder, its machine, and this process among those that share it."""

    folder: Path
    machine: Machine
    ranks: Ranks
    tensorboard: bool
    """Whether to write event files."""

    @property
    def device(self) -> torch.device:
        """The device of this rank; raises ConfigError when it is not there."""
        return choose_device(self.machine.device, self.ranks.local_rank)

    @contextmanager
    def listening(self, config: Config) -> Iterator[Listener]:
        """Those who listen to a run with these settings: the console, and TensorBoard's files."""
        max_epochs = config.training.max_epochs
        with (
            tensorboard_files(self.folder if self.tensorboard else None) as board,
            TrainingConsole(stderr_console(), max_epochs=max_epochs, folder=self.folder) as console,
        ):
            yield to_all([console, board])


def start_training(arguments: CorpusArguments, place: Place) -> int:
    """Train a new model; returns the exit status.

    Of several ranks the first prepares the folder, and the others read it.
    """
    folder, ranks, start = place.folder, place.ranks, arguments.start
    with joined_ranks(ranks):
        if not ranks.is_first:
            return _train(place, ignore, start=start) if ranks.of_first(False) else 1
        with _others_waiting(ranks) as let_begin:
            draft = arguments.draft(arguments.overrides)
            with (
                new_model_folder(folder),
                place.listening(draft) as listener,
                _told_how_to_go_on(folder, listener),
            ):
                _ = place.device  # what is not there is refused before any file is read
                inputs, values = open_inputs(arguments)
                tell_start(start, arguments.draft(values), inputs.train, listener)
                fill_folder(
                    folder,
                    inputs,
                    arguments,
                    values,
                    num_processes=place.machine.threads or num_cores(),
                    listener=listener,
                )
                let_begin()
                return _train(place, listener, start=start)


def resume_training(budget: Values, place: Place) -> int:
    """Go on with the run in the folder; returns the exit status."""
    folder, ranks = place.folder, place.ranks
    with joined_ranks(ranks):
        if not ranks.is_first:
            return _train(place, ignore, budget=budget) if ranks.of_first(False) else 1
        with _others_waiting(ranks) as let_begin:
            refuse_half_prepared(folder)
            config = model_folder.read_config(folder).with_values(budget)
            with (
                folder_lock(folder),
                place.listening(config) as listener,
                _told_how_to_go_on(folder, listener),
            ):
                clean(folder)
                clean(folder / model_folder.TRAINING)
                if not list_checkpoints(folder / model_folder.TRAINING):
                    raise ModelFolderError(f"{folder} holds no checkpoint to resume from")
                let_begin()
                return _train(place, listener, budget=budget)


@contextmanager
def _others_waiting(ranks: Ranks) -> Iterator[Callable[[], None]]:
    """Gives the first rank what lets the others begin; what ends before that ends them, too."""
    begun = []
    try:
        yield lambda: begun.append(ranks.of_first(True))
    finally:
        if not begun:
            ranks.of_first(False)


@contextmanager
def _told_how_to_go_on(folder: Path, listener: Listener) -> Iterator[None]:
    """Say of a run that breaks off what goes on with what it saved, unless that is at fault."""
    try:
        yield
    except BaseException as error:
        is_of_folder = isinstance(error, DataError | ModelFolderError)
        if list_checkpoints(folder / model_folder.TRAINING) and not is_of_folder:
            listener(Notice(text=f"what was saved stays; go on with: {_resume(folder)}"))
        raise


def _resume(folder: Path) -> str:
    return f"mt train --resume {shlex.quote(str(folder))}"


def _train(
    place: Place, console: Listener, *, start: Start | None = None, budget: Values | None = None
) -> int:
    """Train what the folder holds; returns 0, or 128 + the signal that ended it.

    A new run begins with the weights of `start`, if there is one; with a `budget` an earlier run
    goes on.
    """
    folder, ranks = place.folder, place.ranks
    config = model_folder.read_config(folder).with_values(budget or {})
    prepared = Prepared.load(folder / model_folder.TRAINING)
    if budget is not None:
        prepared.require_files(folder / model_folder.TRAINING)
    stop = StopSignal(_STOPPING if ranks.is_first else "")
    listeners: list[Listener] = [console]
    trainer = _make_trainer(place, config, prepared, stop, listeners, start)
    if budget is not None:
        trainer.resume()
        reason = trainer.reason_to_end()
        # A run that was interrupted by its last update still wants its last validation.
        is_validated = trainer.progress.validated_update == trainer.progress.update
        if ranks.is_first:
            model_folder.write_config(folder, config)
        if reason is not None and is_validated:
            console(Notice(text=f"nothing left to do: {reason}"))
            ranks.meet()
            return 0
    if ranks.is_first:
        update = trainer.progress.update
        listeners += [
            MetricsFile(
                folder / model_folder.METRICS,
                resumed_update=update,
                validated_update=trainer.validated_update,
            ),
            CardWriter(folder=folder, config=config, corpus=prepared.corpus, dev=prepared.dev),
        ]
        threads = place.machine.threads
        to_all(listeners)(
            describe_run(device=place.device, threads=threads, num_processes=ranks.size)
        )
    with stop.installed():
        if budget is None:
            trainer.save()
            if ranks.is_first:
                mark_prepared(folder)
        reason = trainer.run()
        received = max(ranks.gathered(stop.received or 0))
        ranks.meet()
    if reason == INTERRUPTED:
        console(Notice(text=f"interrupted and saved; go on with: {_resume(folder)}"))
        return 128 + received
    tell_result(config.fine_tuned_from, trainer.parts.tracker.best_update, console)
    return 0


def _make_trainer(
    place: Place,
    config: Config,
    prepared: Prepared,
    stop: StopSignal,
    listeners: list[Listener],
    start: Start | None,
) -> Trainer:
    """The trainer of what the folder holds; the console is the first of its listeners."""
    folder, machine, ranks = place.folder, place.machine, place.ranks
    console = listeners[0]
    training = folder / model_folder.TRAINING
    tokenizers = model_folder.load_tokenizers(folder, config)
    prepared.require_tokenizers(training, tokenizers)
    set_threads(machine.threads)
    torch.manual_seed(config.training.seed)
    model = model_folder.build_model(config, tokenizers)
    if start is not None:
        start.give_weights(model)
    if not ranks.is_first:  # the same weights, but other dropout
        torch.manual_seed(config.training.seed + _SEEDS_APART * ranks.rank)

    def translator(settings: Config) -> Translator:
        quiet = _without_warnings(console)
        options = TranslationOptions(forks=True)
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
        device=place.device,
        dtype=choose_training_dtype(machine.precision, place.device),
        folder=training,
        validator=make_validator(
            folder,
            translator,
            prepared.dev,
            ranks,
            config=config,
            listener=console,
        ),
        keep_best=keep_best,
        listener=to_all(listeners),
        should_stop=lambda: stop.received is not None,
        validates_start=bool(config.fine_tuned_from),
        ranks=ranks,
        compiler="inductor" if machine.compiled else None,
        shard=machine.shard,
    )


def _without_warnings(listener: Listener) -> Listener:
    """Pass on what is no warning: long lines of a validation set are no news at each validation."""

    def listen(event: Event) -> None:
        if not (isinstance(event, Notice) and event.is_warning):
            listener(event)

    return listen
