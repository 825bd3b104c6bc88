"""The first half of a new run: a model folder with all but weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config, ModelConfig
from mt.config.presets import preset, preset_for, vocab_size_for
from mt.config.toml import Values
from mt.corpus.cleaning import TOO_LONG
from mt.corpus.store import TokenStore
from mt.errors import ConfigError, require
from mt.events import CorpusRead, Listener, Notice, to_all
from mt.files import write_text
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.formats.pair import Reader
from mt.formats.standard_input import shown
from mt.formats.text import CONVERT
from mt.model_folder import folder as model_folder
from mt.model_folder.seen_lines import FILE as SEEN
from mt.model_folder.seen_lines import SeenLines
from mt.preparation import dev_set, pipeline
from mt.preparation.marks import Marks
from mt.preparation.reuse import Prepared, digest_of, find_prepared, key_of_run, take_over
from mt.tasks.advice import tell_few_pairs
from mt.tasks.also_dev import store_also_dev
from mt.tasks.directed_inputs import (
    dev_name_of,
    directions_of_run,
    name_of,
    open_directed,
    with_synthetic,
)
from mt.tasks.fine_tune import Start, settle_new_tokenizer
from mt.tasks.rejected_pairs import rejected_pairs
from mt.tasks.requests import TrainRequest
from mt.text.symbols import MOST_SYMBOLS
from mt.text.tokenizer_pair import TokenizerPair
from mt.text.truecase_table import merged
from mt.training.best import METRIC_NAMES


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """A request, and what follows from it before a corpus is read."""

    request: TrainRequest
    overrides: Values
    """Settings over those of the preset, or of the start."""
    start: Start | None
    """The trained model that the run starts from."""
    tokenizers: TokenizerPair | None = None
    """Those that the run takes over, of its start or of another model; None trains some."""

    def draft(self, values: Values) -> Config:
        """The settings so far: `values` over those of the start, or of the preset."""
        if self.start is not None:
            return _fit_symbols(self.start.draft.with_values(values), values)
        return _of_preset(self.request.preset or "tiny", values)


def _of_preset(name: str, values: Values) -> Config:
    """`values` over those of a preset, in the architecture that they name."""
    architecture = values.get("model", {}).get("architecture", ModelConfig.architecture)
    config = _fit_symbols(preset(name, architecture).with_values(values), values)
    require(
        config.tokenizer.kind != "imported",
        'tokenizer.kind = "imported" is that of a model of mt import: fine-tune one by --from',
    )
    return config


def _fit_symbols(config: Config, given: Values) -> Config:
    """Of symbols, with a metric that suits them unless one is `given`: BLEU needs four in a row."""
    if config.tokenizer.takes_symbols and "metric" not in given.get("training", {}):
        return config.with_values({"training": {"metric": "ser"}})
    return config


def open_inputs(plan: RunPlan) -> tuple[pipeline.CorpusInputs, Values]:
    """Find the form of each corpus; gives the readers, and settings with languages and weights.

    Bad combinations of settings are refused here, before any text is read.
    """
    request, start = plan.request, plan.start
    draft = plan.draft(plan.overrides)
    directions = directions_of_run(request, start)
    languages = request.languages or (None if start is None else start.languages)
    if len(request.directions) == 1:
        (languages,) = request.directions
    reading = ReadingOptions(languages=languages, columns=request.columns)
    drops_invalid = "not_utf8" in draft.corpus.drop
    hint = f"{CONVERT}, or pass --drop not_utf8 to leave such pairs out"
    of_corpus = dataclasses.replace(reading, keep_invalid=drops_invalid, hint=hint)
    if directions:
        inputs = open_directed(request, directions, of_corpus, plan.tokenizers)
        sides = (set(side) for side in zip(*directions, strict=True))
        known = tuple(side.pop() if len(side) == 1 else "" for side in sides)
    else:
        _require_no_balance(draft)
        opened = open_corpora(request.corpus, of_corpus)
        known = opened.source_language, opened.target_language
        reading = dataclasses.replace(reading, languages=known if all(known) else None)
        also = open_corpora(request.also_dev, reading).readers
        inputs = pipeline.CorpusInputs(
            train=opened.readers,
            dev=open_corpora(request.dev, reading).readers,
            against=(*open_corpora(request.against, reading).readers, *also),
            also=also,
        )
        of_corpus = dataclasses.replace(of_corpus, languages=reading.languages)
        inputs = with_synthetic(inputs, request, of_corpus, plan.tokenizers)
    weights = _weights(inputs.train, request.weights, draft.corpus.weights)
    values = dict(plan.overrides)
    values["corpus"] = {**values.get("corpus", {}), "weights": weights}
    values[""] = {
        "source_language": known[0] or ("" if directions else draft.source_language),
        "target_language": known[1] or ("" if directions else draft.target_language),
        "directions": tuple(map(str, directions)),
        **values.get("", {}),
        "fine_tuned_from": "" if start is None else start.name,
    }
    return inputs, values


def fill_folder(
    folder: Path,
    inputs: pipeline.CorpusInputs,
    plan: RunPlan,
    values: Values,
    *,
    num_processes: int,
    listener: Listener,
) -> None:
    """Fill the model folder with all but weights: settings, tokenizers, corpus."""
    training = folder / model_folder.TRAINING
    draft, start, given = plan.draft(values), plan.start, plan.tokenizers
    digests, *others = (
        [digest_of(reader) for reader in readers]
        for readers in (inputs.train, inputs.dev, inputs.against)
    )
    also = store_also_dev(training, inputs.also, pipeline.rules_of(draft), listener)
    marks = inputs.marks
    key = key_of_run(draft, corpus=digests, others=others, tokenizers=given, marks=marks)
    rejected = None if plan.request.rejected is None else Path(plan.request.rejected)
    # The pairs left out are known only to a run that reads them.
    other = None
    if rejected is None:
        other = find_prepared(folder, model_folder.TRAINING, key, files=_TAKEN_OVER)
    if other is not None:
        text = f"the prepared corpus of {other} is taken over: same text, same settings"
        listener(Notice(text=text))
        prepared, tokenizers = _take_over(other, folder, draft, given)
        config = settle_sizes(plan, values, prepared.corpus, listener=listener)
    else:
        with rejected_pairs(rejected) as note_rejected:
            found = pipeline.prepare(
                inputs,
                training,
                draft,
                settle=lambda corpus: settle_sizes(plan, values, corpus, listener=listener),
                tokenizers=given,
                num_processes=num_processes,
                listener=to_all([listener, note_rejected]),
            )
        for name, lines in zip(
            model_folder.DEV, (found.dev.sources, found.dev.targets), strict=True
        ):
            write_text(folder / name, "".join(f"{line}\n" for line in lines))
        config, tokenizers = found.config, found.tokenizers
        prepared = Prepared(key=key, corpus=found.corpus, dev=found.dev.origins).with_files(
            training, (pipeline.TOKENS, dev_set.DEV_TOKENS)
        )
    tokenizers.save(folder)
    _keep_seen_lines(folder, start)
    config = config.with_values({"tokenizer": {"vocab_size": tokenizers.target.vocab_size}})
    config = dataclasses.replace(config, longest_source=_longest_source(training, start))
    config = settle_new_tokenizer(start, config, tokenizers, listener)
    config = _balanced(config, marks, prepared.corpus)
    prepared = prepared.of_run(
        tokenizers=tokenizers,
        names=list(map(name_of, inputs.train)),
        dev_names=list(map(dev_name_of, inputs.dev or inputs.train)),
        digests=digests,
        weights=config.corpus.weights,
    )
    prepared = dataclasses.replace(prepared, also=also)
    if config.directions:
        lines = [f"{name}\n" for name, count in prepared.dev for _ in range(count)]
        write_text(folder / model_folder.DEV_DIRECTIONS, "".join(lines))
    listener(prepared.corpus)
    if start is None and not config.tokenizer.takes_symbols:
        tell_few_pairs(prepared.corpus.num_used, listener)
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
    return prepared, tokenizers


def settle_sizes(
    plan: RunPlan, overrides: Values, corpus: CorpusRead, *, listener: Listener
) -> Config:
    """The settings of a run, with preset and vocabulary size by the corpus where not given."""
    if plan.start is not None and not plan.start.new_tokenizer:
        return plan.draft(overrides)
    preset_name = plan.request.preset
    num_pairs = corpus.num_used + corpus.dropped.get(TOO_LONG, 0)
    chosen = []
    if plan.start is not None:
        config = plan.draft(overrides)
    else:
        name = preset_name or preset_for(num_pairs)
        config = _of_preset(name, overrides)
        chosen += [] if preset_name else [f"preset {name}"]
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


def _require_no_balance(draft: Config) -> None:
    """Raise ConfigError for a balance between directions where there is one."""
    require(
        draft.corpus.balance == 1,
        "--balance is between directions, and there is one: name several by --langs",
    )


def _balanced(config: Config, marks: Marks, corpus: CorpusRead) -> Config:
    """With the weights of corpora by the balance of their directions, over those that are given."""
    counts = [origin.num_used for origin in corpus.origins]
    weights = marks.weights(counts, config.corpus.balance)
    if set(weights) == {1.0}:
        return config
    given = config.corpus.weights or (1.0,) * len(weights)
    product = tuple(one * other for one, other in zip(weights, given, strict=True))
    return config.with_values({"corpus": {"weights": product}})


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
        indices = [
            index for index, reader in enumerate(readers) if shown(Path(file)) in reader.files
        ]
        if not indices:
            names = ", ".join(reader.files[0] for reader in readers)
            raise ConfigError(
                f"--weight {file}={weight:g} names no corpus of this command",
                hint=f"The corpora are {names}",
            )
        for index in indices:
            weights[index] = weight
    return tuple(weights) if set(weights) != {1.0} else ()
