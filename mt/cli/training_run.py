"""The wiring of `mt train`: corpus, tokenizer, model, translator and trainer put together."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from mt.atomic import clean
from mt.cli.console import TrainingConsole, stderr_console
from mt.cli.corpus_setup import CorpusArguments, fill_folder, open_inputs
from mt.cli.records import CardWriter, MetricsFile
from mt.cli.signals import StopSignal
from mt.cli.tensorboard import tensorboard_files
from mt.config import Config, Precision
from mt.config_file import Values
from mt.corpus.formats.text import read_text_lines
from mt.corpus.store import TokenStore
from mt.errors import ConfigError, ModelFolderError
from mt.evaluate.scores import corpus_scores, tokenizer_for
from mt.events import Listener, Notice, to_all
from mt.model.device import choose_device, choose_training_dtype, set_threads
from mt.model.encoder_decoder import EncoderDecoder
from mt.presets import preset
from mt.text.tokenizer_pair import TokenizerPair
from mt.train import preparation
from mt.train.checkpoint import Progress, list_checkpoints
from mt.train.prepared import Prepared
from mt.train.tokenising import num_cores
from mt.train.trainer import Trainer, TrainingData
from mt.train.validation import TranslationScores, Validator
from mt.translate import model_folder
from mt.translate.translator import Translator

_NUM_SAMPLES = 2  # translations shown at each validation


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where to compute; it is no part of the model."""

    device: str
    precision: Precision
    threads: int | None


def start_training(
    arguments: CorpusArguments, folder: Path, machine: Machine, *, tensorboard: bool = False
) -> int:
    """Train a new model into `folder`; returns the exit status."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{folder} exists already and is not empty",
            hint=f"Choose another -o, or go on with that run: --resume {shlex.quote(str(folder))}",
        )
    device = choose_device(machine.device)
    set_threads(machine.threads)
    inputs, values = open_inputs(arguments)
    max_epochs = preset("tiny").with_values(values).training.max_epochs
    was_there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (
            tensorboard_files(folder if tensorboard else None) as board,
            TrainingConsole(stderr_console(), max_epochs=max_epochs, folder=folder) as console,
        ):
            listener = to_all([console, board])
            config, tokenizers = fill_folder(
                folder,
                inputs,
                arguments,
                values,
                num_processes=machine.threads or num_cores(),
                listener=listener,
            )
            return _run(folder, config, tokenizers, device, machine, listener, resumed=False)
    except BaseException:
        # Nothing trained yet: leave no half-made folder behind.
        weights = folder / model_folder.WEIGHTS
        if not weights.exists() and not list_checkpoints(folder / model_folder.TRAINING):
            if was_there:
                for path in folder.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            else:
                shutil.rmtree(folder, ignore_errors=True)
        raise


def resume_training(
    folder: Path, budget: Values, machine: Machine, *, tensorboard: bool = False
) -> int:
    """Go on with the run in `folder`; returns the exit status."""
    config = model_folder.read_config(folder)
    training = folder / model_folder.TRAINING
    clean(folder)
    clean(training)
    if not list_checkpoints(training):
        raise ModelFolderError(f"{folder} holds no checkpoint to resume from")
    config = config.with_values(budget)
    tokenizers = TokenizerPair.load(folder, joint=config.tokenizer.joint)
    device = choose_device(machine.device)
    set_threads(machine.threads)
    max_epochs = config.training.max_epochs
    with (
        tensorboard_files(folder if tensorboard else None) as board,
        TrainingConsole(stderr_console(), max_epochs=max_epochs, folder=folder) as console,
    ):
        listener = to_all([console, board])
        return _run(folder, config, tokenizers, device, machine, listener, resumed=True)


def _run(
    folder: Path,
    config: Config,
    tokenizers: TokenizerPair,
    device: torch.device,
    machine: Machine,
    console: Listener,
    *,
    resumed: bool,
) -> int:
    """Train what the folder holds; returns 0, or 128 + the signal that ended it."""
    training = folder / model_folder.TRAINING
    prepared = Prepared.load(training)
    stop = StopSignal()
    torch.manual_seed(config.training.seed)
    model = model_folder.build_model(config, tokenizers)
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
        device=device,
        dtype=choose_training_dtype(machine.precision, device),
        folder=training,
        validator=make_validator(
            folder, config, model, tokenizers, origins=prepared.dev, listener=console
        ),
        keep_best=keep_best,
        listener=to_all(listeners),
        should_stop=lambda: stop.received is not None,
    )
    card = CardWriter(folder, config, prepared.corpus)
    if resumed:
        trainer.resume()
        model_folder.write_config(folder, config)  # with the new budget
        reason = trainer.reason_to_end()
        # A run that was interrupted by its last update still wants its last validation.
        is_validated = trainer.progress.validated_update == trainer.progress.update
        if reason is not None and is_validated:
            console(Notice(text=f"nothing left to do: {reason}"))
            return 0
    listeners += [
        MetricsFile(folder / model_folder.METRICS, resumed_update=trainer.progress.update),
        card,
    ]
    stop.install()
    trainer.run()
    if stop.received is not None:
        quoted = shlex.quote(str(folder))
        console(Notice(text=f"interrupted and saved; go on with: mt train --resume {quoted}"))
        return 128 + stop.received
    return 0


def make_validator(
    folder: Path,
    config: Config,
    model: EncoderDecoder,
    tokenizers: TokenizerPair,
    *,
    origins: Sequence[tuple[str, int]],
    listener: Listener,
) -> Validator:
    """Translate the validation set as `mt translate` does and score it as `mt eval` does.

    `origins` are the names and numbers of pairs of the corpora in it: where there are several, each
    is scored by itself too.
    """
    sources = read_text_lines(folder / "dev.source")
    references = read_text_lines(folder / "dev.target")
    if len(sources) != len(references):
        raise ModelFolderError(
            f"{folder} is damaged: dev.source has {len(sources)} lines, dev.target has "
            f"{len(references)}"
        )
    translator = Translator(model, tokenizers, config)
    tokenize = tokenizer_for(config.target_language)
    if tokenize.warning:
        listener(Notice(text=tokenize.warning, is_warning=True))

    def validate() -> TranslationScores:
        texts = [each.text for each in translator.translate(sources)]
        scores = corpus_scores(texts, [references], tokenize=tokenize.name)
        step = max(len(sources) // _NUM_SAMPLES, 1)
        return TranslationScores(
            scores={score.name: score.score for score in scores},
            signatures={score.name: score.signature for score in scores},
            samples=tuple(
                (sources[i], texts[i], references[i])
                for i in range(0, len(sources), step)[:_NUM_SAMPLES]
            ),
            by_origin=_scores_by_origin(texts, references, origins, tokenize.name),
        )

    return validate


def _scores_by_origin(
    texts: list[str], references: list[str], origins: Sequence[tuple[str, int]], tokenize: str
) -> dict[str, dict[str, float]]:
    """The scores of each corpus of a validation set, where it has several."""
    filled = [(name, count) for name, count in origins if count]
    if len(filled) < 2:
        return {}
    by_origin = {}
    end = 0
    for name, count in filled:
        start, end = end, end + count
        scores = corpus_scores(texts[start:end], [references[start:end]], tokenize=tokenize)
        by_origin[name] = {score.name: score.score for score in scores}
    return by_origin
