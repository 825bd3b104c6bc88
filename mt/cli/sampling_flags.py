"""The flags of sampling, and the settings that they make."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from mt.config import SamplingConfig

_F = TypeVar("_F", bound=Callable[..., Any])
_FLAGS = ("temperature", "top_k", "top_p", "seed")
_OF_SEARCH = {
    "beam": "samples are drawn, not searched for",
    "n_best": "each line read gives a line for each sample, or with --mbr one",
}
_OF_SEARCH_ALONE = {
    "glossary": "terms are searched for, not drawn",
    "placeholders": "terms are searched for, not drawn",
}


def sampling_options(command: _F) -> _F:
    """How many translations are drawn, and how."""
    for option in (
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            help="Seed of --sample, 1 unless given: the same seed draws the same.",
        ),
        click.option(
            "--top-p",
            type=click.FloatRange(min=0, max=1, min_open=True),
            help="With --sample: draw from the smallest set of tokens that has this probability.",
        ),
        click.option(
            "--top-k",
            type=click.IntRange(min=1),
            help="With --sample: draw from so many of the most probable tokens.",
        ),
        click.option(
            "--temperature",
            type=click.FloatRange(min=0.001),
            help="With --sample: below 1 the probable becomes more probable.",
        ),
        click.option(
            "--sample",
            type=click.IntRange(min=1),
            metavar="N",
            help="Draw N translations of each line from the model instead of searching.",
        ),
    ):
        command = option(command)
    return command


def sampling_config(flags: dict[str, Any]) -> SamplingConfig | None:
    """How samples are drawn; None without --sample, which the other flags need."""
    given = {name: flags[name] for name in _FLAGS if flags[name] is not None}
    if flags["sample"] is None:
        if given:
            flag = f"--{next(iter(given)).replace('_', '-')}"
            raise click.UsageError(f"{flag} has an effect with --sample alone")
        return None
    for name, reason in _OF_SEARCH.items():
        if flags[name] is not None:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} has no effect with --sample: {reason}")
    for name, reason in _OF_SEARCH_ALONE.items():
        if flags[name]:
            raise click.UsageError(f"--{name} cannot be combined with --sample: {reason}")
    for name, value in given.items():
        if not math.isfinite(value):
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} must be a finite number: {value}")
    if flags["mbr"] is not None and flags["sample"] == 1:
        raise click.UsageError("--mbr has an effect with --sample 2 or more alone")
    from mt.config import SamplingConfig

    return SamplingConfig(samples=flags["sample"], **given)
