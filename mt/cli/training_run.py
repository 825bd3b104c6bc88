"""The wiring of `mt train`: corpus, tokenizer, model, translator and trainer put together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from mt.cli.console import training_console
from mt.cli.corpus_setup import CorpusArguments, fill_folder, open_inputs
from mt.cli.dev_scores import make_validator
from mt.cli.fine_tuning import Start, tell_result, tell_start
from mt.cli.new_folder import new_model_folder
from mt.cli.records import CardWriter, MetricsFile
from mt.cli.signals import StopSignal
from mt.config import Precision
from mt.config_file import Values
from mt.corpus.store import TokenStore
from mt.errors import ModelFolderError
from mt.events import Listener, Notice, ignore, to_all
from mt.model.device import choose_device, choose_training_dtype, set_threads
from mt.text.tokenizer_pair import TokenizerPair
from mt.train import preparation
from mt.train.checkpoint import Progress, list_checkpoints
from mt.train.distributed import Ranks, joined_ranks
from mt.train.prepared import Prepared
from mt.train.tokenising import num_cores
from mt.train.trainer import Trainer, TrainingData
from mt.translate import model_folder
from mt.translate.translator import Translator

_SEEDS_APART = 1_000_003  # between the random generators of two ranks


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where to compute; it is no part of the model."""

    device: str
    precision: Precision
    threads: int | None


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run happens: its folder, its machine, and this process among those that share it."""

    folder: Path
    machine: Machine
    ranks: Ranks

    @property
    def device(self) -> torch.device:
        """The device of this rank; raises ConfigError when it is not there."""
        return choose_device(self.machine.device, self.ranks.local_rank)


def start_training(arguments: CorpusArguments, folder: Path, machine: Machine) -> int:
    """Train a new model into `folder`; returns the exit status.

    Of several ranks the first prepares the folder, and the others read it.
    """
    ranks = Ranks.of_environment()
    place = Place(folder=folder, machine=machine, ranks=ranks)
    start = arguments.start
    with joined_ranks(ranks):
        if not ranks.is_first:
            return _train(place, ignore, start=start) if ranks.of_first(False) else 1
        is_ready = False
        try:
            max_epochs = arguments.draft(arguments.overrides).training.max_epochs
            with new_model_folder(folder), training_console(max_epochs) as console:
                _ = place.device  # what is not there is refused before any file is read
                inputs, values = open_inputs(arguments)
                tell_start(start, arguments.draft(values), inputs.train, console)
                processes = machine.threads or num_cores()
                fill_folder(
                    folder, inputs, arguments, values, num_processes=processes, listener=console
                )
                is_ready = ranks.of_first(True)
                return _train(place, console, start=start)
        finally:
            if not is_ready:
                ranks.of_first(False)


def resume_training(folder: Path, budget: Values, machine: Machine) -> int:
    """Go on with the run in `folder`; returns the exit status."""
    config = model_folder.read_config(folder).with_values(budget)
    if not list_checkpoints(folder / model_folder.TRAINING):
        raise ModelFolderError(f"{folder} holds no checkpoint to resume from")
    place = Place(folder=folder, machine=machine, ranks=Ranks.of_environment())
    with joined_ranks(place.ranks):
        if not place.ranks.is_first:
            return _train(place, ignore, budget=budget)
        with training_console(config.training.max_epochs) as console:
            return _train(place, console, budget=budget)


def _train(
    place: Place, console: Listener, *, start: Start | None = None, budget: Values | None = None
) -> int:
    """Train what the folder holds; returns 0, or 128 + the signal that ended it.

    A new run begins with the weights of `start`, if there is one; with a `budget` an earlier run
    goes on.
    """
    folder, ranks = place.folder, place.ranks
    training = folder / model_folder.TRAINING
    config = model_folder.read_config(folder).with_values(budget or {})
    tokenizers = TokenizerPair.load(folder, joint=config.tokenizer.joint)
    prepared = Prepared.load(training)
    set_threads(place.machine.threads)
    stop = StopSignal()
    torch.manual_seed(config.training.seed)
    model = model_folder.build_model(config, tokenizers)
    if start is not None:
        start.give_weights(model)
    if not ranks.is_first:  # the same weights, but other dropout
        torch.manual_seed(config.training.seed + _SEEDS_APART * ranks.rank)
    listeners: list[Listener] = [console]

    def keep_best(progress: Progress) -> None:
        model_folder.save_weights(folder, model)

    trainer = Trainer(
        model=model,
        config=config.training,
        data=TrainingData(
            train=TokenStore(training / preparation.TOKENS),
            dev=TokenStore(training / preparation.DEV_TOKENS),
            weights=config.corpus.weights,
        ),
        device=place.device,
        dtype=choose_training_dtype(place.machine.precision, place.device),
        folder=training,
        validator=make_validator(
            folder, Translator(model, tokenizers, config), prepared.dev, ranks, listener=console
        ),
        keep_best=keep_best,
        listener=to_all(listeners),
        should_stop=lambda: stop.received is not None,
        validates_start=bool(config.fine_tuned_from),
        ranks=ranks,
    )
    if budget is not None:
        trainer.resume()
        reason = trainer.reason_to_end()
        if ranks.is_first:
            model_folder.write_config(folder, config)
        if reason is not None:
            console(Notice(text=f"nothing left to do: {reason}"))
            ranks.meet()
            return 0
    if ranks.is_first:
        update = trainer.progress.update
        listeners += [
            MetricsFile(folder / model_folder.METRICS, resumed_update=update),
            CardWriter(folder, config, prepared.corpus),
        ]
    stop.install()
    trainer.run()
    received = max(ranks.gathered(stop.received or 0))
    ranks.meet()
    if received:
        console(Notice(text=f"interrupted and saved; go on with: mt train --resume {folder}"))
        return 128 + received
    tell_result(config.fine_tuned_from, trainer.parts.tracker.best_update, console)
    console(Notice(text=f"the model is in {folder}"))
    return 0
