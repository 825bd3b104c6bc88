"""The wiring of `mt train`: corpus, tokenizer, model, translator and trainer put together."""

from __future__ import annotations

import dataclasses
import json
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import torch

from mt.atomic import write_text
from mt.cli.console import TrainingConsole, stderr_console
from mt.cli.metrics_file import MetricsFile
from mt.config import Config, Precision
from mt.config_file import Values
from mt.corpus.formats import open_corpora
from mt.corpus.formats.text import read_text_lines
from mt.corpus.pair import Reader
from mt.corpus.store import TokenStore
from mt.errors import ConfigError, ModelFolderError
from mt.evaluate.scores import corpus_scores, tokenizer_for
from mt.events import CorpusRead, Event, Listener, Notice, TrainingStarted, Validated
from mt.model.device import choose_device, choose_training_dtype, set_threads
from mt.model.encoder_decoder import EncoderDecoder
from mt.presets import preset, preset_for, vocab_size_for
from mt.text.tokenizer_pair import TokenizerPair
from mt.train import preparation
from mt.train.checkpoint import Progress, list_checkpoints
from mt.train.trainer import Trainer, TrainingData
from mt.train.validation import TranslationScores, Validator
from mt.translate import model_folder
from mt.translate.model_card import CardFacts, model_card
from mt.translate.translator import Translator

_NUM_SAMPLES = 2  # translations shown at each validation


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where to compute; it is no part of the model."""

    device: str
    precision: Precision
    threads: int | None


class _StopSignal:
    """Turns the first SIGINT or SIGTERM into a request, and lets a second one through."""

    def __init__(self) -> None:
        self.received: int | None = None

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def start_training(
    *,
    corpus: Sequence[str],
    dev: Sequence[str],
    languages: tuple[str, str] | None,
    preset_name: str | None,
    overrides: Values,
    folder: Path,
    machine: Machine,
) -> int:
    """Train a new model into `folder`; returns the exit status."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{folder} exists already and is not empty",
            hint=f"Choose another -o, or go on with that run: --resume {folder}",
        )
    device = choose_device(machine.device)
    set_threads(machine.threads)
    # Bad combinations are refused before any file is read.
    draft = preset(preset_name or "tiny").with_values(overrides)
    opened = open_corpora(
        corpus, languages=languages, keep_invalid=draft.corpus.invalid_utf8 == "drop"
    )
    console = stderr_console()
    was_there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with TrainingConsole(console, max_epochs=draft.training.max_epochs) as listener:
            dev_pairs = None
            if dev:
                dev_readers = open_corpora(dev, languages=languages).readers
                dev_pairs = preparation.read_dev(dev_readers, listener=listener)
            config, tokenizers = _prepare(
                folder,
                readers=opened.readers,
                dev_pairs=dev_pairs,
                preset_name=preset_name,
                overrides=merge_languages(
                    overrides, opened.source_language, opened.target_language
                ),
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


def merge_languages(values: Values, source: str, target: str) -> Values:
    """Settings with the languages that the corpus has, unless they are set already."""
    top = {"source_language": source, "target_language": target, **values.get("", {})}
    return {**values, "": top}


def resume_training(folder: Path, budget: Values, machine: Machine) -> int:
    """Go on with the run in `folder`; returns the exit status."""
    config = model_folder.read_config(folder)
    training = folder / model_folder.TRAINING
    if not list_checkpoints(training):
        raise ModelFolderError(f"{folder} holds no checkpoint to resume from")
    config = config.with_values(budget)
    model_folder.write_config(folder, config)
    tokenizers = TokenizerPair.load(folder, joint=config.tokenizer.joint)
    device = choose_device(machine.device)
    set_threads(machine.threads)
    with TrainingConsole(stderr_console(), max_epochs=config.training.max_epochs) as listener:
        return _run(folder, config, tokenizers, device, machine, listener, resumed=True)


def _prepare(
    folder: Path,
    *,
    readers: Sequence[Reader],
    dev_pairs: tuple[list[str], list[str]] | None,
    preset_name: str | None,
    overrides: Values,
    listener: Listener,
) -> tuple[Config, TokenizerPair]:
    """Fill the model folder with all but weights: settings, tokenizers, corpus."""
    training = folder / model_folder.TRAINING
    tally = preparation.store_texts(readers, training, listener=listener)
    config = settle_sizes(preset_name, overrides, num_pairs=tally.num_used, listener=listener)
    held_out = preparation.HeldOut(threshold=0.0)
    if dev_pairs is None:
        held_out, *dev = preparation.hold_out(
            training, num_pairs=tally.num_used, wanted=config.corpus.held_out
        )
        dev_pairs = dev[0], dev[1]
        listener(Notice(text=f"{len(dev_pairs[0])} pairs are held out for validation"))
    tokenizers = preparation.train_tokenizers(
        training, config, held_out, num_pairs=tally.num_used, listener=listener
    )
    config = config.with_values({"tokenizer": {"vocab_size": tokenizers.target.vocab_size}})
    corpus: list[CorpusRead] = []

    def note(event: Event) -> None:
        if isinstance(event, CorpusRead):
            corpus.append(event)
        listener(event)

    preparation.store_tokens(
        training, tokenizers, held_out, tally, max_length=config.corpus.max_length, listener=note
    )
    preparation.store_dev_tokens(training, tokenizers, *dev_pairs)
    (training / preparation.TEXTS).unlink()
    for name, lines in zip(("dev.source", "dev.target"), dev_pairs, strict=True):
        (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
    (training / "corpus.json").write_text(json.dumps(dataclasses.asdict(corpus[0])), "utf-8")
    tokenizers.save(folder)
    model_folder.write_config(folder, config)
    return config, tokenizers


def settle_sizes(
    preset_name: str | None, overrides: Values, *, num_pairs: int, listener: Listener
) -> Config:
    """The settings of a run, with preset and vocabulary size by the corpus where not given."""
    name = preset_name or preset_for(num_pairs)
    config = preset(name).with_values(overrides)
    chosen = [] if preset_name else [f"preset {name}"]
    if config.tokenizer.vocab_size is None:
        size = vocab_size_for(num_pairs)
        config = config.with_values({"tokenizer": {"vocab_size": size}})
        chosen.append(f"a vocabulary of {size} pieces")
    if chosen:
        listener(Notice(text=f"{' and '.join(chosen)}: what fits {num_pairs} pairs"))
    return config


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
    stop = _StopSignal()
    torch.manual_seed(config.training.seed)
    model = model_folder.build_model(config, tokenizers)
    listeners: list[Listener] = [console]

    def listener(event: Event) -> None:
        for listen in listeners:
            listen(event)

    def keep_best(progress: Progress) -> None:
        model_folder.save_weights(folder, model)

    trainer = Trainer(
        model=model,
        config=config.training,
        data=TrainingData(
            train=TokenStore(training / preparation.TOKENS),
            dev=TokenStore(training / preparation.DEV_TOKENS),
        ),
        device=device,
        dtype=choose_training_dtype(machine.precision, device),
        folder=training,
        validator=make_validator(folder, config, model, tokenizers),
        keep_best=keep_best,
        listener=listener,
        should_stop=lambda: stop.received is not None,
    )
    if resumed:
        trainer.resume()
        reason = trainer.reason_to_end()
        if reason is not None:
            console(Notice(text=f"nothing left to do: {reason}"))
            return 0
    listeners += [
        MetricsFile(folder / model_folder.METRICS, resumed_update=trainer.progress.update),
        _CardWriter(folder, config),
    ]
    stop.install()
    trainer.run()
    if stop.received is not None:
        console(Notice(text=f"interrupted and saved; go on with: mt train --resume {folder}"))
        return 128 + stop.received
    console(Notice(text=f"the model is in {folder}"))
    return 0


def make_validator(
    folder: Path, config: Config, model: EncoderDecoder, tokenizers: TokenizerPair
) -> Validator:
    """Translate the validation set as `mt translate` does and score it as `mt eval` does."""
    sources = read_text_lines(folder / "dev.source")
    references = read_text_lines(folder / "dev.target")
    translator = Translator(model, tokenizers, config)
    tokenize = tokenizer_for(config.target_language)

    def validate() -> TranslationScores:
        texts = [each.text for each in translator.translate(sources)]
        scores = corpus_scores(texts, [references], tokenize=tokenize)
        step = max(len(sources) // _NUM_SAMPLES, 1)
        return TranslationScores(
            scores={score.name: score.score for score in scores},
            signatures={score.name: score.signature for score in scores},
            samples=tuple(
                (sources[i], texts[i], references[i])
                for i in range(0, len(sources), step)[:_NUM_SAMPLES]
            ),
        )

    return validate


class _CardWriter:
    """A listener that keeps the model card true."""

    def __init__(self, folder: Path, config: Config) -> None:
        self._path = folder / model_folder.CARD
        record = json.loads((folder / model_folder.TRAINING / "corpus.json").read_text("utf-8"))
        self._facts = CardFacts(config=config, corpus=CorpusRead(**record))

    def __call__(self, event: Event) -> None:
        if isinstance(event, TrainingStarted):
            self._facts.started = event
            if self._path.exists():
                return  # a resumed run: the card stays until there are better weights
        elif isinstance(event, Validated) and event.is_best:
            self._facts.best = event
        else:
            return
        write_text(self._path, model_card(self._facts))
