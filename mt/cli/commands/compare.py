"""`mt compare`: where one system is better than another."""

from __future__ import annotations

import json
from dataclasses import dataclass

import click

from mt.cli.options import (
    METRICS,
    NOT_NEGATIVE,
    PATH,
    filled,
    resampling_options,
    scoring_options,
)
from mt.tasks.requests import CompareRequest


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: CompareRequest
    as_json: bool


@click.command("compare")
@click.argument("references", nargs=-1, required=True, metavar="REF...", type=PATH)
@click.option(
    "--sys",
    "systems",
    multiple=True,
    required=True,
    metavar="FILE",
    type=PATH,
    help="Translations of a system; two or more, each compared with the first.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS[:-1]),
    default="chrf",
    show_default=True,
    help="What sentences and groups are compared by.",
)
@click.option(
    "--test",
    type=click.Choice(["bs", "ar"]),
    default="ar",
    show_default=True,
    help="Approximate randomisation or bootstrap resampling.",
)
@resampling_options
@click.option("--source", type=PATH, help="Shown with the sentences that differ most.")
@click.option(
    "--train",
    type=PATH,
    help="Training text of the target language, for scores by frequency of words.",
)
@click.option(
    "--origins", type=PATH, help="A file with a name for each line, for scores by origin."
)
@click.option(
    "--examples",
    type=NOT_NEGATIVE,
    default=5,
    show_default=True,
    help="Sentences shown of the largest gains, and of the largest losses.",
)
@scoring_options(chooses_metrics=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@filled(_Flags)
def command(flags: _Flags) -> None:
    """Compare systems: tests, wins by sentence, the sentences that differ most, scores by group.

    \b
    mt compare test.en --sys old.en --sys new.en --source test.de --train train.en
    """
    if len(flags.request.systems) < 2:
        raise click.UsageError("give two --sys at least")
    from mt.cli.comparison_output import comparison_lines, comparison_record
    from mt.cli.console import notices, stderr_console
    from mt.tasks.compare import compare

    comparisons = compare(flags.request, notices(stderr_console().print))
    if flags.as_json:
        records = [comparison_record(each) for each in comparisons]
        click.echo(json.dumps(records, ensure_ascii=False))
        return
    for number, comparison in enumerate(comparisons):
        lines = comparison_lines(comparison)
        for line in ["", *lines] if number else lines:
            click.echo(line)
