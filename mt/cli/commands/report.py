"""`mt report`: all that is known of a model, as a page to look at."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import click

from mt.cli.options import (
    NOT_NEGATIVE,
    OUTPUT_FILE,
    PATH,
    beam_option,
    decoding_options,
    filled,
    resampling_options,
    scoring_options,
    trivial_option,
    typed_command,
)
from mt.tasks.requests import ReportRequest


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: ReportRequest
    files: tuple[Path, ...]


@click.command("report")
@click.argument("model", type=PATH)
@click.argument("files", nargs=-1, metavar="[SOURCE REFERENCE...]", type=PATH)
@click.option(
    "-o",
    "--output",
    type=OUTPUT_FILE,
    default=Path("report.html"),
    show_default=True,
    help="Page to write.",
)
@click.option(
    "--training-only", is_flag=True, help="Translate and score nothing: the course of training."
)
@click.option(
    "--examples",
    type=NOT_NEGATIVE,
    default=10,
    show_default=True,
    help="Sentences shown of the worst, and of the best.",
)
@scoring_options()
@resampling_options
@trivial_option
@beam_option
@decoding_options
@filled(_Flags)
def command(flags: _Flags) -> None:
    """Report all that is known of MODEL as one HTML page that needs nothing beside it.

    The course of its training, its corpus, and its scores on SOURCE and REFERENCE, or else on the
    validation set in its folder: with intervals, by length, its worst and best sentences,
    and what it attends to in them.

    \b
    mt report checkpoints/de-en test.de test.en -o report.html
    mt report checkpoints/de-en
    """
    if len(flags.files) == 1:
        raise click.UsageError("Missing argument 'REFERENCE...': SOURCE has no score by itself.")
    from mt.cli.console import notices, stderr_console
    from mt.tasks.report import report

    source, *references = flags.files or (None,)
    request = dataclasses.replace(
        flags.request,
        source=source,
        references=tuple(path for path in references if path is not None),
        command=typed_command(),
    )
    page = report(request, notices(stderr_console().print))
    click.echo(f"the report is in {page}", err=True)
