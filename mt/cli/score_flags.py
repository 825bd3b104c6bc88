"""The flags of commands that score translations: what is counted, how text is cut, and search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from mt.cli.options import search_options
from mt.cli.term_flags import term_options

_F = TypeVar("_F", bound=Callable[..., Any])
_TOKENIZERS = ["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores200"]
_METRICS = ("bleu", "chrf", "chrf++", "ter", "exact", "ser")


def _metric_names(
    _: click.Context, __: click.Parameter, text: str | None
) -> tuple[str, ...] | None:
    """Read `--metrics`: names with commas between."""
    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    for name in names:
        if name not in _METRICS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(_METRICS)}")
    return names


def metric_options(command: _F) -> _F:
    """What is counted, and how text is cut for it."""
    for option in (
        click.option(
            "--lowercase", is_flag=True, help="Compare without case; the signatures show it."
        ),
        click.option(
            "--tokenized",
            is_flag=True,
            help="Both sides are tokenised already, and BLEU splits nothing.",
        ),
        click.option(
            "--target-language",
            "--tgt-lang",
            metavar="CODE",
            help="What the translations are in; else what the model or the name of REFERENCE says.",
        ),
        click.option(
            "--tokenize",
            type=click.Choice(_TOKENIZERS),
            help="sacreBLEU tokenizer of BLEU; else by the target language, or 13a.",
        ),
        click.option(
            "--metrics",
            callback=_metric_names,
            help=f"What is counted, of {', '.join(_METRICS)}; else all but ser, and of symbols "
            "bleu,chrf,exact,ser.",
        ),
    ):
        command = option(command)
    return command


def sampling_options(command: _F) -> _F:
    """How many samples intervals and tests draw, and from which seed."""
    for option in (
        click.option("--seed", type=click.IntRange(min=0), default=12345, show_default=True),
        click.option(
            "--resamples",
            type=click.IntRange(min=100),
            help="Samples drawn; else 1,000, of approximate randomisation 10,000.",
        ),
    ):
        command = option(command)
    return command


def scored_model_options(command: _F) -> _F:
    """How a model that is scored translates, and what its scores stand beside."""
    for option in (
        search_options,
        term_options,
        click.option(
            "--beam", type=click.IntRange(min=1), help="Hypotheses searched; 1 is greedy."
        ),
        click.option(
            "--symbols",
            is_flag=True,
            help="Score symbols, as a model of symbols does without being told.",
        ),
        click.option(
            "--trivial/--no-trivial",
            default=True,
            show_default=True,
            help="Tell what copying the source and the nearest training pair score, and which test "
            "lines the model was trained on.",
        ),
    ):
        command = option(command)
    return command
