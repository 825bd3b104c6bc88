"""The first half of `mt train`: a model folder with all but weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.cli.fine_tuning import Start
from mt.cli.records import rejected_pairs
from mt.config import Config, ModelConfig
from mt.config_file import Values
from mt.corpus.cleaning import TOO_LONG
from mt.corpus.store import TokenStore
from mt.errors import ConfigError, DataError
from mt.events import CorpusRead, Listener, Notice, to_all
from mt.files import write_text
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.formats.pair import Reader
from mt.formats.text import CONVERT
from mt.model_folder import folder as model_folder
from mt.model_folder.seen_lines import FILE as SEEN
from mt.model_folder.seen_lines import SeenLines
from mt.preparation import dev_set, pipeline
from mt.preparation.reuse import Prepared, digest_of, find_prepared, key_of_run, take_over
from mt.presets import preset, preset_for, vocab_size_for
from mt.text.symbols import MOST_SYMBOLS
from mt.text.tokenizer_pair import TokenizerPair
from mt.text.truecase_table import merged
from mt.training.best import METRIC_NAMES


@dataclass(frozen=True, kw_only=True)
class CorpusArguments:
    """What the command line says of corpora."""

    corpus: Sequence[str]
    dev: Sequence[str]
    against: Sequence[str]
    languages: tuple[str, str] | None
    columns: tuple[str, str] | None
    weights: Sequence[tuple[str, float]]
    """Files of corpora, and how often their pairs come in an epoch."""
    rejected: Path | None
    """Where to write the pairs left out."""
    preset_name: str | None
    overrides: Values
    start: Start | None
    """The trained model that the run starts from."""

    def draft(self, values: Values) -> Config:
        """The settings so far: `values` over those of the start, or of the preset."""
        if self.start is not None:
            return _fit_symbols(self.start.draft.with_values(values), values)
        return _of_preset(self.preset_name or "tiny", values)


def _of_preset(name: str, values: Values) -> Config:
    """`values` over those of a preset, in the architecture that they name."""
    architecture = values.get("model", {}).get("architecture", ModelConfig.architecture)
    return _fit_symbols(preset(name, architecture).with_values(values), values)


def _fit_symbols(config: Config, given: Values) -> Config:
    """Of symbols, with a metric that suits them unless one is `given`: BLEU needs four in a row."""
    if config.tokenizer.takes_symbols and "metric" not in given.get("training", {}):
        return config.with_values({"training": {"metric": "ser"}})
    return config


@dataclass(frozen=True, kw_only=True)
class CorpusInputs:
    """The corpora of a run, opened."""

    train: tuple[Reader, ...]
    dev: tuple[Reader, ...]
    against: tuple[Reader, ...]


def open_inputs(arguments: CorpusArguments) -> tuple[CorpusInputs, Values]:
    """Find the form of each corpus; gives the readers, and settings with languages and weights.

    Bad combinations of settings are refused here, before any text is read.
    """
    draft = arguments.draft(arguments.overrides)
    start = arguments.start
    languages = arguments.languages or (None if start is None else start.languages)
    reading = ReadingOptions(languages=languages, columns=arguments.columns)
    drops_invalid = "not_utf8" in draft.corpus.drop
    hint = f"{CONVERT}, or pass --drop not_utf8 to leave such pairs out"
    opened = open_corpora(
        arguments.corpus, dataclasses.replace(reading, keep_invalid=drops_invalid, hint=hint)
    )
    known = opened.source_language, opened.target_language
    reading = dataclasses.replace(reading, languages=known if all(known) else None)
    inputs = CorpusInputs(
        train=opened.readers,
        dev=open_corpora(arguments.dev, reading).readers,
        against=open_corpora(arguments.against, reading).readers,
    )
    weights = _weights(inputs.train, arguments.weights, draft.corpus.weights)
    values = dict(arguments.overrides)
    values["corpus"] = {**values.get("corpus", {}), "weights": weights}
    values[""] = {
        "source_language": known[0] or draft.source_language,
        "target_language": known[1] or draft.target_language,
        **values.get("", {}),
        "fine_tuned_from": "" if start is None else start.name,
    }
    return inputs, values


def fill_folder(
    folder: Path,
    inputs: CorpusInputs,
    arguments: CorpusArguments,
    values: Values,
    *,
    num_processes: int,
    listener: Listener,
) -> None:
    """Fill the model folder with all but weights: settings, tokenizers, corpus."""
    training = folder / model_folder.TRAINING
    draft = arguments.draft(values)
    given = None if arguments.start is None else arguments.start.tokenizers
    dev = None
    if inputs.dev:
        rules = pipeline.rules_of(draft)
        dev = dev_set.read_dev(inputs.dev, rules=rules, listener=listener)
    digests, *others = (
        [digest_of(reader) for reader in readers]
        for readers in (inputs.train, inputs.dev, inputs.against)
    )
    key = key_of_run(draft, corpus=digests, others=others, tokenizers=given)
    # The pairs left out are known only to a run that reads them.
    other = None
    if not arguments.rejected:
        other = find_prepared(folder, model_folder.TRAINING, key, files=_TAKEN_OVER)
    if other is not None:
        text = f"the prepared corpus of {other} is taken over: same text, same settings"
        listener(Notice(text=text))
        prepared, tokenizers = _take_over(other, folder, draft, given)
        config = settle_sizes(arguments, values, prepared.corpus, listener=listener)
    else:
        stamps = _stamps(inputs.train)
        with rejected_pairs(arguments.rejected) as note_rejected:
            listeners = to_all([listener, note_rejected])
            cleaner = pipeline.store_texts(inputs.train, training, draft, listener=listeners)
            if _stamps(inputs.train) != stamps:
                raise DataError(
                    "the corpus changed while it was read", hint="Start again when it is complete"
                )
            pipeline.clean(cleaner, dev, inputs.against, num_held_out=draft.corpus.held_out)
            dev = dev or pipeline.held_out_set(training, cleaner)
            so_far = CorpusRead(origins=cleaner.summary())
            config = settle_sizes(arguments, values, so_far, listener=listener)
            tokenizers = given or pipeline.train_tokenizers(
                training, config, cleaner.for_training, listener=listener
            )
            tokenizers = pipeline.with_truecaser(tokenizers, training, config, cleaner.for_training)
            pipeline.store_tokens(
                training,
                tokenizers,
                cleaner,
                max_length=config.corpus.max_length if "long" in config.corpus.drop else None,
                num_processes=num_processes,
                listener=listeners,
            )
        dev_set.store_dev_tokens(training, tokenizers, dev, listener=listener)
        pipeline.store_keys(training / SEEN, cleaner)
        (training / pipeline.PAIRS).unlink()
        for name, lines in zip(model_folder.DEV, (dev.sources, dev.targets), strict=True):
            write_text(folder / name, "".join(f"{line}\n" for line in lines))
        tokenizers.save(folder)
        corpus = CorpusRead(origins=cleaner.summary())
        prepared = Prepared(key=key, corpus=corpus, dev=dev.origins).with_files(
            training, (pipeline.TOKENS, dev_set.DEV_TOKENS)
        )
    _keep_seen_lines(folder, arguments.start)
    config = config.with_values({"tokenizer": {"vocab_size": tokenizers.target.vocab_size}})
    config = dataclasses.replace(config, longest_source=_longest_source(training, arguments.start))
    prepared = prepared.of_run(
        tokenizers=tokenizers,
        names=[reader.files[0] for reader in inputs.train],
        dev_names=[reader.files[0] for reader in inputs.dev or inputs.train],
        digests=digests,
        weights=config.corpus.weights,
    )
    listener(prepared.corpus)
    model_folder.write_config(folder, config)
    prepared.save(training)


_TAKEN_OVER = (
    *map(Path, model_folder.DEV),
    Path(model_folder.TRAINING) / pipeline.TOKENS,
    Path(model_folder.TRAINING) / dev_set.DEV_TOKENS,
    Path(model_folder.TRAINING) / SEEN,
)


def _keep_seen_lines(folder: Path, start: Start | None) -> None:
    """Keep beside the weights which lines they learn from; those of the start stay known."""
    mine = folder / model_folder.TRAINING / SEEN
    if start is None:
        take_over(mine, folder / SEEN)
    else:
        SeenLines.union([SeenLines.load(mine), start.seen]).save(folder / SEEN)


def _longest_source(training: Path, start: Start | None) -> int:
    """What `Config.longest_source` is to be, by the tokens of the corpus.

    A model that is fine-tuned on shorter text still knows what it learnt before.
    """
    lengths = TokenStore(training / pipeline.TOKENS).source_lengths
    return max(pipeline.longest_usual(lengths), 0 if start is None else start.config.longest_source)


def _take_over(
    other: Path, folder: Path, config: Config, given: TokenizerPair | None
) -> tuple[Prepared, TokenizerPair]:
    """Take the files of a prepared corpus into `folder`; `given` is what a start brings along."""
    tokenizers = model_folder.load_tokenizers(other, config)
    prepared = Prepared.load(other / model_folder.TRAINING)
    prepared.require_tokenizers(other / model_folder.TRAINING, tokenizers)
    prepared.require_files(other / model_folder.TRAINING)
    if given is not None:
        truecaser = merged(tokenizers.truecaser, given.truecaser)
        tokenizers = dataclasses.replace(tokenizers, truecaser=truecaser)
    for file in _TAKEN_OVER:
        take_over(other / file, folder / file)
    tokenizers.save(folder)
    return prepared, tokenizers


def settle_sizes(
    arguments: CorpusArguments, overrides: Values, corpus: CorpusRead, *, listener: Listener
) -> Config:
    """The settings of a run, with preset and vocabulary size by the corpus where not given."""
    if arguments.start is not None:
        return arguments.draft(overrides)
    preset_name = arguments.preset_name
    num_pairs = corpus.num_used + corpus.dropped.get(TOO_LONG, 0)
    name = preset_name or preset_for(num_pairs)
    config = _of_preset(name, overrides)
    chosen = [] if preset_name else [f"preset {name}"]
    if config.tokenizer.takes_symbols:
        size = config.tokenizer.vocab_size or MOST_SYMBOLS
        config = config.with_values({"tokenizer": {"vocab_size": size}})
        metric = METRIC_NAMES[config.training.metric]
        text = f"symbols as they are, at most {size}; the best weights are those of the best dev "
        listener(Notice(text=text + metric))
    elif config.tokenizer.vocab_size is None:
        size = vocab_size_for(num_pairs)
        config = config.with_values({"tokenizer": {"vocab_size": size}})
        chosen.append(f"a vocabulary of {size} pieces")
    if chosen:
        listener(Notice(text=f"{' and '.join(chosen)}: what fits {num_pairs} pairs"))
    return config


def _weights(
    readers: Sequence[Reader], given: Sequence[tuple[str, float]], settings: Sequence[float]
) -> tuple[float, ...]:
    """The weight of each corpus, by `--weight FILE=W` over those of the settings."""
    if settings and len(settings) != len(readers):
        raise ConfigError(
            f"corpus.weights has {len(settings)} numbers, but there are {len(readers)} corpora"
        )
    weights = list(settings or (1.0,) * len(readers))
    for file, weight in given:
        places = [place for place, reader in enumerate(readers) if file in reader.files]
        if not places:
            names = ", ".join(reader.files[0] for reader in readers)
            raise ConfigError(
                f"--weight {file}={weight:g} names no corpus of this command",
                hint=f"The corpora are {names}",
            )
        for place in places:
            weights[place] = weight
    return tuple(weights) if set(weights) != {1.0} else ()


def _stamps(readers: Sequence[Reader]) -> list[tuple[int, int]]:
    """Size and time of the files of corpora, to see whether they change under the reader."""
    paths = (Path(file) for reader in readers for file in reader.files)
    stats = (path.stat() for path in paths if path.is_file())
    return [(stat.st_size, stat.st_mtime_ns) for stat in stats]
