"""The README of a model folder: what the model is, what made it, how well it does.

The text is in `card.md`. It begins with front matter as hubs of models read it.
`mt.model_folder.card_file` writes the card.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from itertools import chain
from string import Template

from mt import __version__
from mt.config import Config
from mt.directions import Direction
from mt.events import CorpusRead, RunDescribed, Validated
from mt.model_folder.facts import CardFacts
from mt.model_folder.scores import SetResult

NOTES = "<!-- What stands below this line is yours: mt leaves it as it is. -->"
BEGIN, END = "<!-- test scores -->", "<!-- end of test scores -->"
_NONE_YET = "No test set yet: `mt eval -m THIS_FOLDER SOURCE REFERENCE --card` adds one here."
_SCORE_HEAD = "| | score | 95 % interval |"
_SEEN = "occur in the training text, so that the scores flatter the model"
_HUB_METRICS = {"BLEU": "bleu", "chrF2": "chrf", "exact": "exact_match"}


def model_card(facts: CardFacts) -> str:
    """The card as Markdown."""
    config, best, corpus = facts.config, facts.best, facts.corpus
    languages = _yaml_list(_languages(config))
    metrics = [_HUB_METRICS[name] for name in (best.scores if best else ()) if name in _HUB_METRICS]
    text = (resources.files("mt.model_folder") / "card.md").read_text("utf-8")
    return Template(text).substitute(
        languages=f"language:\n{languages}" if languages else "",
        metrics=_yaml_list(metrics or ["bleu", "chrf"]),
        direction=_direction(config),
        version=__version__,
        facts=_table("| | |", fact_rows(facts)),
        dev_scores="" if best is None else _dev_scores(best, facts),
        test_scores=test_set_scores(facts.results),
        corpus="" if corpus is None else _corpus(corpus, facts.dev, config),
        commands=_commands(facts.commands),
        kind="sequences of symbols" if config.tokenizer.takes_symbols else "text",
        known="" if corpus is None else f", which has {corpus.num_used:,} pairs",
        max_length=config.corpus.max_length,
    )


def fact_rows(facts: CardFacts) -> list[tuple[str, str]]:
    """What the model is, on what and how long it was trained: names of facts, and facts."""
    config, started, best, ended = facts.config, facts.started, facts.best, facts.ended
    averaged = facts.averaged
    imported = facts.imported
    counted = started or averaged or imported
    kind = f"{started.device}, {started.precision}" if started else ""
    machines = dict.fromkeys(map(_machine, facts.runs)) or [""]
    rows: list[tuple[str, Iterable[str]]] = [
        ("languages", [_direction(config)]),
        ("architecture", [_architecture(config)]),
        ("tokenizer", [_tokenizer(config)]),
        ("fine-tuned from", [_parent(config)]),
        ("imported from", [imported.sentence] if imported else []),
        ("distilled from", [config.distilled_from]),
        ("frozen in training", [] if averaged else [", ".join(config.training.freeze)]),
        ("average of", averaged.sources if averaged else []),
        ("parameters", [f"{counted.num_parameters:,}"] if counted else []),
        ("trained on", ["; ".join(filter(None, (machine, kind))) for machine in machines]),
        ("software", dict.fromkeys(", ".join(run.software) for run in facts.runs)),
    ]
    if best is not None:
        minutes = f"after {best.seconds / 60:.1f} minutes"
        rows.append(("weights of", [f"update {best.update}, epoch {best.epoch:.1f}, {minutes}"]))
    if ended is not None:
        time = (
            f"{ended.seconds / 60:.1f} minutes, {ended.validation_seconds / 60:.1f} of them in "
            f"validation; {ended.update:,} updates, {ended.tokens_per_second:,.0f} target tokens "
            f"a second; ended: {ended.reason}"
        )
        rows.append(("training time", [time]))
    return [(name, value) for name, values in rows for value in values if value]


def test_set_scores(results: Sequence[SetResult]) -> str:
    """The part of a card on test sets, with the comments around it."""
    return "\n".join([BEGIN, *(map(_result, results) if results else [_NONE_YET]), "", END])


def _table(head: str, rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown, in which no value ends a cell or a row."""
    cells = ([" ".join(str(value).split()).replace("|", "\\|") for value in row] for row in rows)
    rule = "|---" * (head.count("|") - 1) + "|"
    return "\n".join([head, rule, *(f"| {' | '.join(row)} |" for row in cells)])


def _yaml_list(values: Iterable[str]) -> str:
    """In quotes, since `no` would be a truth value."""
    return "".join(f"- {json.dumps(value)}\n" for value in dict.fromkeys(values))


def _direction(config: Config) -> str:
    if config.directions:
        directions = map(Direction.parse, config.directions)
        return ", ".join(f"{each.source} → {each.target}" for each in directions)
    return f"{config.source_language or 'source'} → {config.target_language or 'target'}"


def _languages(config: Config) -> Iterator[str]:
    """All languages that are known, perhaps several times."""
    directions = map(Direction.parse, config.directions)
    known = (
        chain.from_iterable(directions)
        if config.directions
        else (
            config.source_language,
            config.target_language,
        )
    )
    return filter(None, known)


def _parent(config: Config) -> str:
    """The model that training started from, if there is one."""
    new = f", which lacked {config.num_new_pieces} of the pieces" if config.num_new_pieces else ""
    return config.fine_tuned_from and f"{config.fine_tuned_from}{new}"


def _architecture(config: Config) -> str:
    model = config.model
    is_one_stack = model.architecture == "decoder-only"
    layers = f"{model.encoder_layers}+{model.decoder_layers}"
    has_groups = model.key_value_heads not in (None, model.heads)
    parts = [
        f"Transformer {'decoder-only' if is_one_stack else 'encoder–decoder'}",
        "bidirectional over the source" if model.bidirectional_source else "",
        f"{model.decoder_layers if is_one_stack else layers} layers",
        f"width {model.d_model}",
        f"inner {model.d_inner}",
        f"{model.heads} heads",
        f"{model.norm}-{model.norm_kind.removeprefix('layer')}",
        model.activation,
        f"{model.positions} positions",
        f"dropout {model.dropout}",
        f"{model.key_value_heads} heads of keys and values" if has_groups else "",
        "" if model.biases else "no biases",
    ]
    return ", ".join(filter(None, parts))


def _tokenizer(config: Config) -> str:
    tokenizer = config.tokenizer
    kind = f"{tokenizer.vocab_size} {tokenizer.kind}{'' if tokenizer.takes_symbols else ' pieces'}"
    return f"{kind}, {'joint' if tokenizer.joint else 'one for each language'}"


def _machine(run: RunDescribed) -> str:
    parts = [*run.gpus, run.processor, _counted(run.num_cores, "core")]
    if not run.gpus:
        parts.append(_counted(run.num_threads, "thread"))
    if run.memory is not None:
        parts.append(f"{run.memory / 2**30:.0f} GiB of memory")
    if run.num_processes > 1:
        parts.append(f"{run.num_processes} processes")
    return ", ".join(parts)


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _dev_scores(best: Validated, facts: CardFacts) -> str:
    """The scores of the validation set, and of further ones."""
    starting_scores = facts.starting_scores
    rows = []
    for name, score in best.scores.items():
        signature = best.signatures.get(name)
        recipe = f"(`{signature}`)" if signature else "nats per token"
        interval = "{:.2f} ± {:.2f}".format(*best.intervals[name]) if name in best.intervals else ""
        rows.append((f"dev {name}", f"{score:.2f} {recipe}", interval))
        if name in starting_scores and best.update > 0:
            rows.append((f"dev {name} before", f"{starting_scores[name]:.2f}", ""))
    for origin, scores in best.by_origin.items():
        shown = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
        rows.append((f"dev {origin}", shown, ""))
    for origin, scores in best.also.items():
        for name, score in scores.items():
            rows.append((f"also {origin}: {name}", f"{score:.2f}", ""))
            if name in facts.starting_also.get(origin, {}) and best.update > 0:
                before = facts.starting_also[origin][name]
                rows.append((f"also {origin}: {name} before", f"{before:.2f}", ""))
    also = " By the sets that follow *also* nothing was chosen." if best.also else ""
    scored = "the validation set"
    if best.num_pairs is not None:
        scored = f"a sample of {best.num_pairs:,} of the {best.num_all_pairs:,} pairs of {scored}"
    return f"""
Of {scored} (dev), by which the weights were chosen, so that they flatter the model a little. \
Intervals: 95 % of 1,000 bootstrap samples of the sentences.{also}

{_table(_SCORE_HEAD, rows)}
"""


def _result(result: SetResult) -> str:
    """What came of one test set."""
    names = (result.source, *result.references)
    digests = (result.source_digest, *result.reference_digests)
    files = (f"`{name}` (BLAKE2b {key})" for name, key in zip(names, digests, strict=True))
    rows = [
        (
            each.name,
            f"{each.score:.2f} (`{each.signature}`)",
            f"{each.mean:.2f} ± {each.half_width:.2f}",
        )
        for each in result.scores
    ]
    beside = f"\n\nBeside it, {'; '.join(result.beside)}." if result.beside else ""
    seen = f"\n\n{result.num_seen:,} of these lines {_SEEN}." if result.num_seen else ""
    return f"""
### {" → ".join(names)}

{result.num_lines:,} lines: {", ".join(files)}; scored on {result.date} by

```sh
{result.command}
```

{_table(_SCORE_HEAD, rows)}{beside}{seen}"""


def _commands(commands: Sequence[str]) -> str:
    """What was typed to make the model."""
    if not commands:
        return ""
    lines = ["", "## Commands", "", "The model was made by", "", "```sh", *commands, "```", ""]
    return "\n".join(lines)


def _corpus(corpus: CorpusRead, dev: Sequence[tuple[str, int]], config: Config) -> str:
    """What the model was trained on, and what of it was left out."""
    reasons = list(corpus.dropped)
    names = ["corpus", "BLAKE2b", "times an epoch", "read", "used", "held out", *reasons]
    rows = [
        (
            *(origin.name, origin.digest, f"{origin.weight:g}"),
            *(origin.num_read, origin.num_used, origin.num_held_out),
            *(origin.dropped.get(reason, 0) for reason in reasons),
        )
        for origin in corpus.origins
    ]
    pairs = ", ".join(f"{count:,} pairs of `{name}`" for name, count in dev)
    validation = f"\nValidation set, in `dev.source` and `dev.target`: {pairs}.\n" if dev else ""
    return f"""
## Training text

Left out where `mt` found: {", ".join(config.corpus.drop) or "nothing"}; longest side \
{config.corpus.max_length} tokens, most {config.corpus.max_ratio:g} times the usual proportion.

{_table(f"| {' | '.join(names)} |", rows)}
{validation}"""
