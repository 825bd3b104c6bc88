"""`mt check`: what is wrong with a corpus."""

from __future__ import annotations

import json
from dataclasses import dataclass

import click

from mt.cli.options import PATH, drop_options, filled, reading_options
from mt.tasks.requests import CheckRequest


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: CheckRequest
    as_json: bool


@click.command("check")
@click.argument("corpus", nargs=-1, required=True)
@click.option(
    "--against", multiple=True, help="Test or validation set that the corpus must not hold."
)
@reading_options("Languages, for example de-en; else by suffixes.")
@click.option(
    "--write",
    "outputs",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="Write the pairs that mt train would take: one .tsv, .jsonl or .tmx, or two of text.",
)
@drop_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
@filled(_Flags)
def command(flags: _Flags) -> int:
    """Report what is wrong with CORPUS: how often, where, and what to do about it.

    CORPUS is what `mt train` takes. --against takes the same, repeated for two aligned files. The
    exit status is 1 when something must be mended before training or scoring, else 0.

    \b
    mt check train.de train.en --against test.de --against test.en
    mt check memory.tmx --drop near_duplicate --write clean.tmx
    """
    if not flags.request.outputs and (flags.request.drop or flags.request.keep):
        raise click.UsageError("--drop and --keep have an effect with --write only")
    from mt.cli.check_output import print_report, report_record
    from mt.cli.console import describe_corpus
    from mt.tasks.check import check, write_clean

    report = check(flags.request)
    if flags.as_json:
        click.echo(json.dumps(report_record(report), ensure_ascii=False))
    else:
        print_report(report)
    if flags.request.outputs:
        for line in describe_corpus(write_clean(flags.request)):
            click.echo(line, err=True)
    return 1 if report.is_at_fault else 0
