"""`mt average`: the mean of the weights of several models, or of several states of one run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("average")
@click.argument("models", metavar="MODEL...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Model folder to make."
)
@click.option("--best", type=click.IntRange(min=1), metavar="K", help="The K best validations.")
@click.option("--last", type=click.IntRange(min=1), metavar="K", help="The K last validations.")
def command(
    models: tuple[Path, ...], output: Path, best: int | None, last: int | None
) -> int | None:
    """Average weights into a new model folder.

    Of several MODELs, which must have one architecture and the same tokenizer (say, fine-tuned from
    one model); or with --best or --last of several validations of the run that made MODEL, which
    must have kept them (--set training.keep_weights=K).

    \b
    mt average checkpoints/a checkpoints/b -o checkpoints/a-b
    mt average checkpoints/a --best 3 -o checkpoints/a-best
    """
    if not models:
        raise click.UsageError("Missing argument 'MODEL...'.")
    if best is not None and last is not None:
        raise click.UsageError("give either --best or --last")
    if best is None and last is None:
        if len(models) < 2:
            raise click.UsageError(
                "give several MODELs, or --best K or --last K for the states of one run"
            )
    elif len(models) > 1:
        raise click.UsageError("--best and --last take the states of one run: give one MODEL")
    from mt.cli.averaging_run import average_models, average_states

    if best is None and last is None:
        return average_models(models, output)
    return average_states(models[0], output, best=best, last=last)
