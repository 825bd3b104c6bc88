"""--sample and what belongs to it: translations are drawn instead of searched for."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import click

from mt.cli.options import NOT_NEGATIVE, POSITIVE, options
from mt.config import SamplingConfig
from mt.tasks.requests import Decoding

sampling_options = options(
    click.option(
        "--sample",
        type=POSITIVE,
        metavar="N",
        help="Draw N translations of each line from the model instead of searching.",
    ),
    click.option(
        "--temperature",
        type=click.FloatRange(min=0.001),
        help="With --sample: below 1 the probable becomes more probable.",
    ),
    click.option(
        "--top-k",
        type=POSITIVE,
        help="With --sample: draw from so many of the most probable tokens.",
    ),
    click.option(
        "--top-p",
        type=click.FloatRange(min=0, max=1, min_open=True),
        help="With --sample: draw from the smallest set of tokens that has this probability.",
    ),
    click.option(
        "--seed",
        type=NOT_NEGATIVE,
        help="Seed of --sample, 1 unless given: the same seed draws the same.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class SamplingFlags:
    """How samples are drawn, as it was typed."""

    sample: int | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None

    def config(self, decoding: Decoding) -> SamplingConfig | None:
        """How samples are drawn; None without --sample, which the other flags need."""
        typed = {
            "temperature": self.temperature,
            "top_k": self.top_k,
            "top_p": self.top_p,
            "seed": self.seed,
        }
        given = {name: value for name, value in typed.items() if value is not None}
        if self.sample is None:
            for name in given:
                raise click.UsageError(f"{_flag(name)} has an effect with --sample only")
            return None
        if decoding.search.beam is not None:
            raise click.UsageError(
                "--beam has no effect with --sample: samples are drawn, not searched for"
            )
        if decoding.search.n_best is not None:
            raise click.UsageError(
                "--n-best has no effect with --sample: each line read gives a line for each "
                "sample, or with --mbr one"
            )
        if decoding.glossary is not None or decoding.placeholders:
            name = "--placeholders" if decoding.glossary is None else "--glossary"
            raise click.UsageError(
                f"{name} cannot be combined with --sample: terms are searched for, not drawn"
            )
        for name, value in given.items():
            if not math.isfinite(value):
                raise click.UsageError(f"{_flag(name)} must be a finite number: {value}")
        if decoding.mbr is not None and self.sample == 1:
            raise click.UsageError("--mbr has an effect with --sample 2 or more only")
        config = SamplingConfig(samples=self.sample)
        return dataclasses.replace(config, **given)  # type: ignore[arg-type]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
