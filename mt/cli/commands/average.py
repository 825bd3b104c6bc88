"""`mt average`: the mean of the weights of several models, or of several states of one run."""

from __future__ import annotations

import dataclasses

import click

from mt.cli.options import PATH, POSITIVE, filled, typed_command
from mt.tasks.requests import AverageRequest


@click.command("average")
@click.argument("models", metavar="MODEL...", nargs=-1, type=PATH)
@click.option("-o", "--output", required=True, type=PATH, help="Model folder to make.")
@click.option("--best", type=POSITIVE, metavar="K", help="The K best validations.")
@click.option("--last", type=POSITIVE, metavar="K", help="The K last validations.")
@filled(AverageRequest)
def command(request: AverageRequest) -> None:
    """Average weights into a new model folder.

    Of several MODELs, which must have one architecture and the same tokenizer (say, fine-tuned from
    one model); or with --best or --last of several validations of the run that made MODEL, which
    must have kept them (--set training.keep_weights=K).

    \b
    mt average checkpoints/a checkpoints/b -o checkpoints/a-b
    mt average checkpoints/a --best 3 -o checkpoints/a-best
    """
    if not request.models:
        raise click.UsageError("Missing argument 'MODEL...'.")
    from mt.cli.console import notices, stderr_console
    from mt.tasks.average import average

    request = dataclasses.replace(request, command=typed_command())
    output = average(request, notices(stderr_console().print))
    click.echo(f"the model is in {output}", err=True)
