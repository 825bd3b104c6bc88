"""What `mt check` found, as it prints it: as a table, and as JSON."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from rich.console import Console

from mt.corpus.checks.finding import CheckReport, Finding

_STYLES = {"fault": "bold red", "doubt": "yellow", "note": "cyan"}


def report_record(report: CheckReport) -> dict[str, Any]:
    """What was found, as JSON."""
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


def print_report(report: CheckReport) -> None:
    """Print what was found to standard output."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True, markup=False)
    for name, count in report.files.items():
        console.print(f"{name}: {count} pairs")
    console.print(f"{report.num_pairs} pairs in all", style="bold")
    for finding in report.findings:
        _print_finding(console, finding)
    if not report.findings:
        console.print("nothing found")


def _print_finding(console: Console, finding: Finding) -> None:
    count = str(finding.count) if finding.out_of is None else f"{finding.count} of {finding.out_of}"
    console.print()
    console.print(f"{finding.kind.level:5}  ", style=_STYLES[finding.kind.level], end="")
    console.print(f"{count} {finding.kind.title}  [{finding.id}]", style="bold")
    flag = f" (otherwise: mt train {finding.flag})" if finding.flag else ""
    console.print(f"       → {finding.kind.treatment}{flag}")
    for example in finding.examples:
        console.print(f"       {example.place}: {example.text}", style="dim")
