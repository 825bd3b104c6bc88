"""`mt score`: what a model says of translations that are given to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from mt.cli.options import (
    PATH,
    POSITIVE,
    device_options,
    filled,
    keep_case_option,
    model_option,
    to_option,
)
from mt.tasks.requests import ScoreRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from mt.translation.scorer import ScoredPair, Scorer


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: ScoreRequest
    alignment: bool
    as_json: bool


@click.command("score")
@model_option(required=True, says="Model folder.")
@click.argument("source", type=PATH)
@click.argument("target", type=PATH, required=False)
@click.option(
    "--length-penalty",
    type=click.Choice(["none", "mean", "gnmt"]),
    help="What a log-probability is divided by; else as mt translate does.",
)
@click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the gnmt penalty.")
@click.option(
    "--alignment",
    is_flag=True,
    help="Word alignments instead of scores, in the form of Pharaoh and fast_align: 0-0 1-2.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object for each pair, with all of it."
)
@click.option(
    "--batch-size",
    type=POSITIVE,
    default=64,
    show_default=True,
    help="Pairs scored at once; it changes speed and memory only.",
)
@to_option
@keep_case_option
@device_options()
@filled(_Flags)
def command(flags: _Flags) -> None:
    """Score each line of TARGET as a translation of that line of SOURCE.

    One score a line, in order: the natural-log probability of the translation over the length
    penalty. A translation by `mt translate` has the score that it was given there. One of the files
    may be - for standard input. Without TARGET, SOURCE is a file of both sides: TMX, TSV, PO, ...
    """
    if flags.alignment and flags.as_json:
        raise click.UsageError("--alignment prints no JSON; --json holds the alignments too")
    from mt.cli.console import notices, stderr_console
    from mt.cli.line_progress import shown_progress
    from mt.cli.pair_lines import pair_lines
    from mt.tasks.score import Scoring
    from mt.tasks.test_set import pairs_to_score

    console = stderr_console()
    request = flags.request
    pairs = pairs_to_score(request, notices(console.print))
    if pairs is None:
        if request.target is None:
            raise click.UsageError("Missing argument 'TARGET'.")
        pairs = pair_lines(request.source, request.target)
    scoring = Scoring(request, notices(console.print))
    as_line = _line_writer(scoring.scorer, flags)
    with shown_progress(console, done="pairs scored") as count:
        for scored in scoring.score(pairs, with_alignment=flags.alignment or flags.as_json):
            sys.stdout.write(as_line(scored) + "\n")
            count(1)
    scoring.report()


def _line_writer(scorer: Scorer, flags: _Flags) -> Callable[[ScoredPair], str]:
    """How a pair is printed."""
    from mt.cli.json_records import scored_pair_writer
    from mt.translation.alignment import pharaoh

    if flags.alignment:
        return lambda pair: pharaoh(pair.scored.alignment or ())
    if not flags.as_json:
        return lambda pair: f"{pair.scored.score:.6f}"
    return scored_pair_writer(scorer)
