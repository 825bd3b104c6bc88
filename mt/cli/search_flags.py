"""The flags of a search, and the settings that they make over those of the model folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mt.cli.options import from_flags

if TYPE_CHECKING:
    from mt.config import SearchConfig

_F = TypeVar("_F", bound=Callable[..., Any])


def hypothesis_options(command: _F) -> _F:
    """What is searched, how many hypotheses are given, and what ranks them."""
    for option in (
        click.option(
            "--max-repeats",
            type=click.IntRange(min=0),
            help="Most times that a run of up to 16 tokens may come in a row; 0: any number.",
        ),
        click.option(
            "--no-repeat-ngram",
            type=click.IntRange(min=0),
            help="No run of so many tokens comes twice in a translation; 0: any may.",
        ),
        click.option(
            "--min-length-ratio",
            type=click.FloatRange(min=0),
            help="Least tokens of a translation, as a multiple of those of the source.",
        ),
        click.option(
            "--max-length", type=click.IntRange(min=1), help="Most tokens of a translation."
        ),
        click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the gnmt penalty."),
        click.option(
            "--length-penalty",
            type=click.Choice(["none", "mean", "gnmt"]),
            help="What ranks hypotheses.",
        ),
        click.option(
            "--n-best", type=click.IntRange(min=1), help="Lines given for each line read."
        ),
        click.option(
            "--beam", type=click.IntRange(min=1), help="Hypotheses searched; 1 is greedy."
        ),
    ):
        command = option(command)
    return command


def search_config(flags: dict[str, Any]) -> SearchConfig:
    """The search settings of the model folder with those of the flags over them."""
    from mt.model_folder.folder import read_config

    given = from_flags(
        "search",
        beam=flags["beam"],
        n_best=flags.get("n_best"),
        length_penalty=flags.get("length_penalty"),
        alpha=flags.get("alpha"),
        max_length=flags.get("max_length"),
        min_length_ratio=flags.get("min_length_ratio"),
        no_repeat_ngram=flags.get("no_repeat_ngram"),
        max_repeats=flags.get("max_repeats"),
    )
    if given["search"].get("alpha") is not None and flags["length_penalty"] != "gnmt":
        raise click.UsageError("--alpha has an effect with --length-penalty gnmt alone")
    return read_config(flags["model"]).with_values(given).search
