"""The README of a model folder: what the model is, what made it, how well it does."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field

from mt import __version__
from mt.config import Config
from mt.events import CorpusRead, TrainingStarted, Validated


@dataclass(kw_only=True)
class CardFacts:
    """What is known of a run so far."""

    config: Config
    corpus: CorpusRead | None = None
    started: TrainingStarted | None = None
    best: Validated | None = None
    before: dict[str, float] = field(default_factory=dict)
    """Scores of the weights that fine-tuning started from."""
    averaged: tuple[str, ...] = ()
    """What the weights are the mean of; none where they are those of one run."""


def model_card(facts: CardFacts) -> str:
    """The card as Markdown."""
    config = facts.config
    source, target = config.source_language or "source", config.target_language or "target"
    lines = [
        f"# Translation model {source} → {target}",
        "",
        f"Trained with mt {__version__}. Translate with `mt translate -m THIS_FOLDER < in > out`.",
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
    if facts.started is not None:
        rows.append(("parameters", f"{facts.started.num_parameters:,}"))
        rows.append(
            (
                "trained on",
                f"{facts.started.device}, {facts.started.precision}, "
                f"{platform.system()} {platform.machine()}",
            )
        )
    if facts.best is not None:
        rows.append(
            (
                "weights of",
                f"update {facts.best.update}, epoch {facts.best.epoch:.1f}, "
                f"after {facts.best.seconds / 60:.1f} minutes",
            )
        )
        for name, score in facts.best.scores.items():
            signature = facts.best.signatures.get(name)
            recipe = f" (`{signature}`)" if signature else " nats per token"
            rows.append((f"dev {name}", f"{score:.2f}{recipe}"))
            if name in facts.before and facts.best.update > 0:
                rows.append((f"dev {name} before", f"{facts.before[name]:.2f}"))
        for origin, scores in facts.best.by_origin.items():
            shown = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
            rows.append((f"dev {origin}", shown))
    lines += [f"| {name} | {value} |" for name, value in rows]
    if facts.corpus is not None:
        lines += _corpus(facts.corpus, config)
    lines += [
        "",
        "## Use and limits",
        "",
        "The model translates text like that of its training corpus, one line at a time. On other",
        "text, on names and numbers it has not seen, and on lines of several sentences it makes",
        "errors that read well. Have a person check what matters.",
        "",
    ]
    return "\n".join(lines)


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
        cells = (origin.name, origin.digest, f"{origin.weight:g}", *counts, *dropped)
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
