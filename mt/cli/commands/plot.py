"""`mt plot`: the training curves of models as a drawing or a page."""

from __future__ import annotations

from pathlib import Path

import click

from mt.cli.options import OUTPUT_FILE, PATH, filled
from mt.tasks.requests import PlotRequest


@click.command("plot")
@click.argument("models", metavar="MODEL...", nargs=-1, type=PATH)
@click.option(
    "-o",
    "--output",
    type=OUTPUT_FILE,
    default=Path("curves.svg"),
    show_default=True,
    help="File to write: .svg or .html.",
)
@click.option(
    "--by",
    type=click.Choice(["updates", "epochs", "minutes"]),
    default="updates",
    show_default=True,
    help="What runs from left to right; minutes are those of training and validation.",
)
@click.option("--all", "is_full", is_flag=True, help="Also the learning rate and the gradient.")
@filled(PlotRequest)
def command(request: PlotRequest) -> None:
    """Draw the training curves of each MODEL: losses, and scores of the validation set.

    Several are drawn over one another. It reads metrics.jsonl of the model folders, of runs that
    are going on as well.

    \b
    mt plot checkpoints/de-en -o curves.svg
    mt plot checkpoints/a checkpoints/b -o curves.html --by minutes
    """
    if not request.models:
        raise click.UsageError("Missing argument 'MODEL...'.")
    from mt.cli.console import notices, stderr_console
    from mt.tasks.plot import plot

    path = plot(request, notices(stderr_console().print))
    click.echo(f"the curves are in {path}", err=True)
