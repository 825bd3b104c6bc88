"""`mt backtranslate`: text in the target language to pairs whose sources a model made."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import click

from mt.cli.options import (
    PATH,
    beam_option,
    decoding_machine_options,
    engine_option,
    filled,
    model_option,
    typed_command,
)
from mt.cli.sampling_options import SamplingFlags, sampling_options
from mt.cli.synthetic_options import filter_options
from mt.tasks.synthetic_requests import BacktranslateRequest


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: BacktranslateRequest
    sampling: SamplingFlags
    as_json: bool


@click.command("backtranslate")
@model_option(required=True, says="Model folder.")
@click.argument("mono", nargs=-1, type=PATH, required=True)
@click.option(
    "-o", "--output", required=True, type=PATH, help="File of pairs to make, .jsonl or .tsv."
)
@beam_option
@sampling_options
@filter_options
@click.option("--json", "as_json", is_flag=True, help="The counts as JSON on standard output.")
@engine_option("mt")
@decoding_machine_options
@filled(_Flags)
def command(flags: _Flags) -> None:
    """Translate text of the target language into sources, for a model to learn from.

    The model goes the other way than the one that is to be trained: MONO is in its source language,
    and becomes the target of the pairs. Every line is accounted for. After an interruption or a
    kill the same command goes on where it was.

    \b
    mt backtranslate -m checkpoints/en-de news.en -o news.jsonl
    mt backtranslate -m checkpoints/en-de news.en.gz --sample 1 --min-score -3 -o news.jsonl
    mt train train.de train.en news.jsonl --weight news.jsonl=0.5 -o checkpoints/de-en
    """
    from mt.cli.console import TrainingConsole, stderr_console
    from mt.tasks.backtranslate import backtranslate

    decoding = flags.request.decoding
    request = dataclasses.replace(
        flags.request,
        decoding=dataclasses.replace(decoding, sampling=flags.sampling.config(decoding)),
        command=typed_command(),
    )
    with TrainingConsole(stderr_console()) as console:
        made = backtranslate(request, console)
    account = made.summary.account
    for line in account.lines():
        click.echo(line, err=True)
    click.echo(f"the pairs are in {made.path}", err=True)
    if flags.as_json:
        click.echo(json.dumps(account.record))
