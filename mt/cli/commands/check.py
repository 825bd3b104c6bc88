"""`mt check`: what is wrong with a corpus."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from mt.cli.options import parse_columns, parse_languages

if TYPE_CHECKING:
    from mt.corpus.checks.finding import Finding, Report


@click.command("check")
@click.argument("corpus", nargs=-1, required=True)
@click.option(
    "--against", multiple=True, help="Test or validation set that the corpus must not hold."
)
@click.option("--langs", metavar="S-T", help="Languages, for example de-en; else by suffixes.")
@click.option("--columns", metavar="S,T", help="Columns or keys of the sides: names or numbers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def command(**flags: Any) -> int:
    """Tell what is wrong with CORPUS: how often, where, and what to do about it.

    CORPUS is what `mt train` takes. --against takes the same, repeated for two aligned files. The
    exit status is 1 when something must be mended before training or scoring, else 0.

    \b
    mt check train.de train.en --against test.de --against test.en
    """
    from mt.corpus.checks.doctor import examine
    from mt.formats import open_corpora
    from mt.formats.options import ReadingOptions
    from mt.text.normalise import is_blank, normalise

    options = ReadingOptions(
        languages=parse_languages(flags["langs"]), columns=parse_columns(flags["columns"])
    )
    corpora = open_corpora(flags["corpus"], dataclasses.replace(options, keep_invalid=True))
    known = corpora.source_language, corpora.target_language
    options = dataclasses.replace(options, languages=known if all(known) else None)
    against = open_corpora(flags["against"], options).readers
    report = examine(
        corpora.readers,
        against=against,
        normalise=normalise,
        is_blank=is_blank,
        languages=known,
    )
    if flags["as_json"]:
        click.echo(json.dumps(_as_json(report), ensure_ascii=False))
    else:
        _print(report)
    return 1 if report.is_at_fault else 0


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "pairs": report.num_pairs,
        "files": report.files,
        "findings": [
            {
                "id": finding.id,
                "level": finding.kind.level,
                "title": finding.kind.title,
                "treatment": finding.kind.treatment,
                "flag": finding.flag,
                "count": finding.count,
                "out_of": finding.out_of,
                "examples": [dataclasses.asdict(example) for example in finding.examples],
            }
            for finding in report.findings
        ],
    }


def _print(report: Report) -> None:
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True, markup=False)
    for name, count in report.files.items():
        console.print(f"{name}: {count} pairs")
    console.print(f"{report.num_pairs} pairs in all", style="bold")
    for finding in report.findings:
        _print_finding(console, finding)
    if not report.findings:
        console.print("nothing found")


def _print_finding(console: Any, finding: Finding) -> None:
    style = {"fault": "bold red", "doubt": "yellow", "note": "cyan"}[finding.kind.level]
    count = str(finding.count) if finding.out_of is None else f"{finding.count} of {finding.out_of}"
    console.print()
    console.print(f"{finding.kind.level:5}  ", style=style, end="")
    console.print(f"{count} {finding.kind.title}  [{finding.id}]", style="bold")
    flag = f" (otherwise: mt train {finding.flag})" if finding.flag else ""
    console.print(f"       → {finding.kind.treatment}{flag}")
    for example in finding.examples:
        console.print(f"       {example.place}: {example.text}", style="dim")
