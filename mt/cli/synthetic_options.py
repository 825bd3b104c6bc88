"""Which translations `mt backtranslate` and `mt distil` leave out, and where they write those."""

from __future__ import annotations

import click

from mt.cli.options import PATH, options
from mt.config.filters import DOUBTS, FilterConfig

filter_options = options(
    click.option(
        "--drop",
        multiple=True,
        type=click.Choice(DOUBTS),
        metavar="SIGN",
        help=f"Leave out translations with this sign, of {', '.join(DOUBTS)}.",
    ),
    click.option(
        "--keep",
        multiple=True,
        type=click.Choice(DOUBTS),
        metavar="SIGN",
        help=f"Do not leave them out. Left out by default: {', '.join(FilterConfig().drop)}.",
    ),
    click.option(
        "--min-score",
        type=float,
        metavar="S",
        help="Leave out translations with a log-probability per token below S, for example -1.5.",
    ),
    click.option(
        "--rejected",
        type=PATH,
        help="Write what is left out: reason, location, source, target, tab-separated.",
    ),
)
