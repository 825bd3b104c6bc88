"""`mt distil`: a small fast student learns what a teacher translates."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from mt.cli.options import (
    PATH,
    beam_option,
    device_options,
    engine_option,
    filled,
    reading_options,
    run_options,
    settings_options,
    typed_command,
)
from mt.cli.synthetic_options import filter_options
from mt.tasks.synthetic_requests import DistilRequest

if TYPE_CHECKING:
    from mt.tasks.compare_speed import Measurement

_STOPPING = "mt: stopping, and saving what was trained (once more: end at once)"


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: DistilRequest
    as_json: bool


@click.command("distil")
@click.argument("teacher", type=PATH)
@click.argument("corpus", nargs=-1)
@click.option("-o", "--output", required=True, type=PATH, help="Model folder of the student.")
@click.option(
    "--and",
    "others",
    multiple=True,
    type=PATH,
    metavar="MODEL",
    help="A further teacher; all of them work as an ensemble.",
)
@click.option(
    "--mono",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="Text in the source language, which the teacher translates, too.",
)
@click.option(
    "--text",
    type=PATH,
    help="File of what the teacher translated, .jsonl or .tsv; else OUTPUT.distilled.jsonl.",
)
@click.option(
    "--dev", multiple=True, help="Validation set: two --dev, or one of both; else the teacher's."
)
@click.option("--against", multiple=True, help="Test set whose lines are kept out of training.")
@reading_options("Languages, for example de-en; else those of the teacher.")
@filter_options
@beam_option
@click.option(
    "--teacher-precision",
    type=click.Choice(["auto", "float32", "bfloat16", "int8"]),
    default="auto",
    show_default=True,
    help="Type of the teacher's matrix products: float32 unless named.",
)
@engine_option("mt")
@run_options
@settings_options
@device_options()
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the table.")
@filled(_Flags)
def command(flags: _Flags) -> int:
    """Train a fast student on what TEACHER translates of the sources of CORPUS.

    The student has a deep encoder and one layer of a decoder (--preset fast-tiny, fast, fast-base,
    fast-big; else the one of the teacher's width), and the teacher's tokenizer unless --vocab-size
    or --tokenizer is given. CORPUS is as for mt train. In the end quality and speed of both are
    measured in turns on the validation set. After an interruption or a kill the same command goes
    on where it was.

    \b
    mt distil checkpoints/de-en train.de train.en -o checkpoints/de-en-fast --minutes 60
    mt distil checkpoints/a --and checkpoints/b train.tsv --mono news.de -o checkpoints/fast
    """
    from mt.cli.console import TrainingConsole, stderr_console
    from mt.cli.signals import StopSignal
    from mt.tasks.distil import distil

    request = dataclasses.replace(flags.request, command=typed_command())
    with TrainingConsole(stderr_console(), folder=request.output) as console:
        done = distil(request, console, stop=StopSignal(_STOPPING))
    if flags.as_json:
        click.echo(json.dumps(done.record))
        return done.training.exit_status
    for line in _table(done.measured):
        click.echo(line)
    return done.training.exit_status


def _table(measured: Sequence[Measurement]) -> Iterator[str]:
    """Quality and speed, a line for each system and beam."""
    if not measured:
        return
    first = measured[0]
    names = [score.name for score in first.scores]
    yield " ".join([f"{'':18}", *(f"{name:>8}" for name in names), f"{'lines/s':>10}"])
    for each in measured:
        name = f"{each.name}, {'greedy' if each.beam == 1 else f'beam {each.beam}'}"
        scores = [f"{score.score:8.2f}" for score in each.scores]
        yield " ".join([f"{name:18}", *scores, f"{each.lines_per_second:10,.1f}"])
    yield f"on {first.num_lines:,} validation pairs, median of {len(first.seconds)} rounds in turns"
    for score in first.scores:
        yield f"{score.name}: {score.signature}"
