"""`mt shortlist`: learn which target pieces the pieces of a source are likely to give."""

from __future__ import annotations

import click

from mt.cli.options import PATH, POSITIVE, filled, reading_options
from mt.tasks.requests import ShortlistRequest


@click.command("shortlist")
@click.option("-m", "--model", required=True, type=PATH, help="Model folder.")
@click.argument("corpus", nargs=-1)
@click.option(
    "--per-piece",
    type=POSITIVE,
    default=50,
    show_default=True,
    help="Target pieces of each source piece, the likeliest.",
)
@click.option(
    "--frequent",
    type=POSITIVE,
    default=200,
    show_default=True,
    help="Target pieces of every sentence, the most frequent.",
)
@click.option(
    "--pairs",
    type=POSITIVE,
    default=100_000,
    show_default=True,
    help="Most pairs to learn from, a sample of the corpus.",
)
@reading_options("Languages of CORPUS; else those of the model.")
@filled(ShortlistRequest)
def command(request: ShortlistRequest) -> None:
    """Learn which target pieces each source piece is likely to give, into the model folder.

    mt export writes the table for CTranslate2, as its vocabulary map. It is learnt from CORPUS,
    which is what mt train takes, or without one from the tokens that training left in the folder.

    \b
    mt shortlist -m checkpoints/de-en
    mt shortlist -m checkpoints/de-en train.de train.en
    """
    from mt.cli.console import notices, stderr_console
    from mt.tasks.shortlist import learn_shortlist

    result = learn_shortlist(request, notices(stderr_console().print))
    click.echo(f"{result.path}: {result.num_known} source pieces known", err=True)
