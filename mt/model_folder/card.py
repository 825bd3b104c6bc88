"""The README of a model folder: what the model is, what made it, how well it does.

It begins with front matter as hubs of models read it. `mt.model_folder.card_file` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from mt import __version__
from mt.config import Config
from mt.events import CorpusRead, RunDescribed, TrainingEnded, TrainingStarted, Validated
from mt.model_folder.scores import ResultOnSet, cell, code, results_part

NOTES = "<!-- What stands below this line is yours: mt leaves it as it is. -->"
_GIB = 2**30
_HUB_METRICS = {"BLEU": "bleu", "chrF2": "chrf", "exact": "exact_match"}


@dataclass(kw_only=True)
class CardFacts:
    """What is known of a model so far."""

    config: Config
    corpus: CorpusRead | None = None
    dev: tuple[tuple[str, int], ...] = ()
    """Name and number of pairs of each corpus of the validation set."""
    runs: list[RunDescribed] = field(default_factory=list)
    """The run that made it, and those that resumed that."""
    started: TrainingStarted | None = None
    best: Validated | None = None
    ended: TrainingEnded | None = None
    before: dict[str, float] = field(default_factory=dict)
    """Scores of the weights that fine-tuning started from."""
    averaged: tuple[str, ...] = ()
    """What the weights are the mean of; none where they are those of one run."""
    num_parameters: int | None = None
    """Where no training told it."""
    command: str = ""
    """By which it was made, where that was no training."""
    results: Sequence[ResultOnSet] = ()
    """On test sets, of these weights."""


def model_card(facts: CardFacts) -> str:
    """The card as Markdown."""
    config = facts.config
    source, target = config.source_language or "source", config.target_language or "target"
    lines = [
        *_front_matter(config, facts.best),
        f"# Translation model {source} → {target}",
        "",
        f"Made with mt {__version__}. Translate with `mt translate -m THIS_FOLDER < in > out`.",
        "",
        "| | |",
        "|---|---|",
    ]
    rows = [
        ("languages", f"{source} → {target}"),
        ("architecture", _architecture(config)),
        ("tokenizer", _tokenizer(config)),
    ]
    if config.fine_tuned_from:
        rows.append(("fine-tuned from", config.fine_tuned_from))
    if config.training.freeze and not facts.averaged:
        rows.append(("frozen in training", ", ".join(config.training.freeze)))
    rows += [("average of", source) for source in facts.averaged]
    rows += _run_rows(facts)
    lines += [f"| {name} | {cell(value)} |" for name, value in rows]
    lines += ["", "## Scores", *_dev_scores(facts), "", results_part(facts.results)]
    if facts.corpus is not None:
        lines += _corpus(facts.corpus, config)
        if facts.dev:
            told = ", ".join(f"{count:,} pairs of `{name}`" for name, count in facts.dev)
            lines += ["", f"Validation set, in `dev.source` and `dev.target`: {told}."]
    lines += [*_commands(facts), *_limits(facts), "", NOTES, ""]
    return "\n".join(lines)


def _front_matter(config: Config, best: Validated | None) -> list[str]:
    """What hubs of models read; strings in quotes, since `no` would be a truth value."""
    languages = [x for x in (config.source_language, config.target_language) if x]
    metrics = [_HUB_METRICS[name] for name in (best.scores if best else ()) if name in _HUB_METRICS]
    lists = {
        "language": dict.fromkeys(languages),
        "tags": ["translation", "mt"],
        "metrics": metrics or ["bleu", "chrf"],
    }
    lines = ["---", "# license: apache-2.0  (yours to choose: name one, and take out the first #)"]
    for key, values in lists.items():
        if values:
            lines += [f"{key}:", *(f"- {json.dumps(value)}" for value in values)]
    return [*lines, "pipeline_tag: translation", "---", ""]


def _run_rows(facts: CardFacts) -> list[tuple[str, str]]:
    """Size, machine, time, and the update whose weights these are."""
    rows = []
    started, best, ended = facts.started, facts.best, facts.ended
    num_parameters = started.num_parameters if started else facts.num_parameters
    if num_parameters is not None:
        rows.append(("parameters", f"{num_parameters:,}"))
    kind = f"{started.device}, {started.precision}" if started else ""
    machines = dict.fromkeys(map(_machine, facts.runs))
    rows += [("trained on", f"{machine}; {kind}" if kind else machine) for machine in machines]
    if not machines and kind:
        rows.append(("trained on", kind))
    software = dict.fromkeys(", ".join(run.software) for run in facts.runs)
    rows += [("software", names) for names in software]
    if best is not None:
        rows.append(
            (
                "weights of",
                f"update {best.update}, epoch {best.epoch:.1f}, "
                f"after {best.seconds / 60:.1f} minutes",
            )
        )
    if ended is not None:
        rows.append(
            (
                "training time",
                f"{ended.seconds / 60:.1f} minutes, {ended.validation_seconds / 60:.1f} of them "
                f"in validation; {ended.update:,} updates, {ended.tokens_per_second:,.0f} target "
                f"tokens a second; ended: {ended.reason}",
            )
        )
    return rows


def _machine(run: RunDescribed) -> str:
    cores = f"{run.num_cores} core{'s' if run.num_cores != 1 else ''}"
    parts = [run.processor, cores]
    if not run.gpus:
        parts.append(f"{run.num_threads} thread{'s' if run.num_threads != 1 else ''}")
    if run.memory is not None:
        parts.append(f"{run.memory / _GIB:.0f} GiB of memory")
    if run.num_processes > 1:
        parts.append(f"{run.num_processes} processes")
    return ", ".join([*run.gpus, *parts])


def _dev_scores(facts: CardFacts) -> list[str]:
    """The table of scores of the validation set."""
    best = facts.best
    if best is None:
        return []
    rows = []
    for name, score in best.scores.items():
        signature = best.signatures.get(name)
        recipe = f" ({code(signature)})" if signature else " nats per token"
        interval = "{:.2f} ± {:.2f}".format(*best.intervals[name]) if name in best.intervals else ""
        rows.append((f"dev {name}", f"{score:.2f}{recipe}", interval))
        if name in facts.before and best.update > 0:
            rows.append((f"dev {name} before", f"{facts.before[name]:.2f}", ""))
    for origin, scores in best.by_origin.items():
        shown = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
        rows.append((f"dev {cell(origin)}", shown, ""))
    return [
        "",
        f"Of {_scored_part(best)} (dev), by which the weights were chosen, so that they flatter "
        "the model a little. Intervals: 95 % of 1,000 bootstrap samples of the sentences.",
        "",
        "| | score | 95 % interval |",
        "|---|---|---|",
        *(f"| {name} | {value} | {interval} |" for name, value, interval in rows),
    ]


def _scored_part(best: Validated) -> str:
    """What part of the validation set the scores are of."""
    if best.num_pairs is None:
        return "the validation set"
    return (
        f"a sample of {best.num_pairs:,} of the {best.num_all_pairs:,} pairs of the validation set"
    )


def _commands(facts: CardFacts) -> list[str]:
    """What was typed to make the model."""
    made = dict.fromkeys(filter(None, (*(run.command for run in facts.runs), facts.command)))
    if not made:
        return []
    return ["", "## Commands", "", "The model was made by", "", "```sh", *made, "```"]


def _limits(facts: CardFacts) -> list[str]:
    config = facts.config
    kind = "sequences of symbols" if config.tokenizer.takes_symbols else "text"
    known = "" if facts.corpus is None else f", which has {facts.corpus.num_used:,} pairs"
    return [
        "",
        "## Intended use and limits",
        "",
        f"The model translates {kind} like that of its training corpus{known}, one line at a time.",
        f"It was trained on lines of up to {config.corpus.max_length} tokens.",
        "",
        "On other text, on names and numbers that it has not seen, and on lines of several",
        "sentences it makes errors that read well. What is one-sided in the corpus is one-sided in",
        "its output. Have a person check what matters. Its scores compare with others only where",
        "the test set and the signature are the same.",
    ]


def _corpus(corpus: CorpusRead, config: Config) -> list[str]:
    """What the model was trained on, and what of it was left out."""
    reasons = list(corpus.dropped)
    names = ["corpus", "BLAKE2b", "times an epoch", "read", "used", "held out", *reasons]
    lines = [
        "",
        "## Training text",
        "",
        f"Left out where `mt` found: {', '.join(config.corpus.drop) or 'nothing'}; longest side "
        f"{config.corpus.max_length} tokens, most {config.corpus.max_ratio:g} times the usual "
        "proportion.",
        "",
        "| " + " | ".join(names) + " |",
        "|---" * len(names) + "|",
    ]
    for origin in corpus.origins:
        counts = (origin.num_read, origin.num_used, origin.num_held_out)
        dropped = (origin.dropped.get(reason, 0) for reason in reasons)
        cells = (cell(origin.name), origin.digest, f"{origin.weight:g}", *counts, *dropped)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def _architecture(config: Config) -> str:
    model = config.model
    is_one_stack = model.architecture == "decoder-only"
    layers = f"{model.encoder_layers}+{model.decoder_layers}"
    parts = [
        f"{model.decoder_layers if is_one_stack else layers} layers",
        f"width {model.d_model}",
        f"inner {model.d_inner}",
        f"{model.heads} heads",
        f"{model.norm}-norm"
        if model.norm_kind == "layernorm"
        else f"{model.norm}-{model.norm_kind}",
        model.activation,
        f"{model.positions} positions",
        f"dropout {model.dropout}",
    ]
    if model.key_value_heads not in (None, model.heads):
        parts.append(f"{model.key_value_heads} heads of keys and values")
    if not model.biases:
        parts.append("no biases")
    if model.bidirectional_source:
        parts.insert(0, "bidirectional over the source")
    name = "decoder-only" if is_one_stack else "encoder–decoder"
    return f"Transformer {name}, {', '.join(parts)}"


def _tokenizer(config: Config) -> str:
    tokenizer = config.tokenizer
    kind = f"{tokenizer.vocab_size} {tokenizer.kind}{'' if tokenizer.takes_symbols else ' pieces'}"
    return f"{kind}, {'joint' if config.tokenizer.joint else 'one for each language'}"
