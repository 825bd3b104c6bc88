"""`mt plot`: the training curves of models as a drawing or a page."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mt.errors import ConfigError

if TYPE_CHECKING:
    from mt.reporting.curves import Curves
    from mt.reporting.curves_file import Axis

_TOKENIZERS = ("tokenizer*.model",)


@click.command("plot")
@click.argument("models", metavar="MODEL...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
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
def command(models: tuple[Path, ...], output: Path, by: Axis, is_full: bool) -> None:
    """Draw the training curves of each MODEL: losses, and scores of the validation set.

    Several are drawn over one another. It reads metrics.jsonl of the model folders, of runs that
    are going on as well.

    \b
    mt plot checkpoints/de-en -o curves.svg
    mt plot checkpoints/a checkpoints/b -o curves.html --by minutes
    """
    if not models:
        raise click.UsageError("Missing argument 'MODEL...'.")
    from mt.cli.console import stderr_console
    from mt.files import require_writable
    from mt.reporting.curves import read_curves
    from mt.reporting.curves_file import check_suffix, write_curves

    say = stderr_console().print
    check_suffix(output)
    require_writable(output)
    for path, count in Counter(model.resolve() for model in models).items():
        if count > 1:
            raise ConfigError(f"{path.name} is given {count} times", hint="Give each MODEL once")
    runs = _named(models, [read_curves(model) for model in models])
    _warn_of_differences(models, runs, say=say)
    write_curves(runs, output, axis=by, is_full=is_full)
    click.echo(f"the curves are in {output}", err=True)


def _named(models: Sequence[Path], runs: Sequence[Curves]) -> list[Curves]:
    """Runs by the names of their folders, or by their paths as typed where names are the same."""
    times = Counter(run.name for run in runs)
    return [
        run if times[run.name] == 1 else dataclasses.replace(run, name=str(model))
        for model, run in zip(models, runs, strict=True)
    ]


def _warn_of_differences(
    models: Sequence[Path], runs: Sequence[Curves], *, say: Callable[[str], None]
) -> None:
    """Say where curves in one panel do not compare."""
    from mt.model_folder.folder import DEV

    first, name = models[0], runs[0].name
    for model, run in itertools.islice(zip(models, runs, strict=True), 1, None):
        if _contents(model, DEV) != _contents(first, DEV):
            say(
                f"mt: warning: {name} and {run.name} have different validation sets: their losses "
                "and scores do not compare"
            )
        elif _contents(model, _TOKENIZERS) != _contents(first, _TOKENIZERS):
            say(
                f"mt: warning: {name} and {run.name} have different tokenizers: their losses are "
                "for different tokens, and do not compare"
            )


def _contents(folder: Path, patterns: Sequence[str]) -> list[tuple[str, bytes]]:
    """Names and contents of files."""
    paths = sorted(path for pattern in patterns for path in folder.glob(pattern))
    return [(path.name, path.read_bytes()) for path in paths]
