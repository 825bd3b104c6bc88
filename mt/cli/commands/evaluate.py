"""`mt eval`: translate and score, or score files of translations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mt.cli.options import model_option
from mt.cli.score_flags import metric_options, sampling_options, scored_model_options


@click.command("eval")
@model_option(required=False, says="Translate with this model.")
@click.option(
    "--hyp",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Score this file, too or instead; several are compared.",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@metric_options
@click.option("--confidence", is_flag=True, help="Give 95 % intervals, by bootstrap resampling.")
@click.option(
    "--paired",
    type=click.Choice(["bs", "ar"]),
    help="Test each system against the first: bootstrap resampling or approximate randomisation.",
)
@sampling_options
@click.option(
    "--sentences",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the scores of each sentence, separated by tabs.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with all of it, as mt report does, intervals included.",
)
@click.option(
    "--card", is_flag=True, help="Write the scores into the card of MODEL, intervals included."
)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --hyp alone: what was translated, to score its copy beside.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@scored_model_options
def command(**flags: Any) -> None:
    """Score translations: BLEU, chrF, chrF++, TER and exact match, with their signatures.

    Of symbols BLEU, chrF, exact match and the symbol error rate.

    \b
    mt eval -m MODEL SOURCE REFERENCE...          translate SOURCE and score it
    mt eval --hyp FILE REFERENCE...               score FILE
    mt eval --hyp A --hyp B --paired bs REF...    score two systems, and test their difference
    """
    _refuse_contradictions(flags)
    from mt.cli.console import stderr_console
    from mt.cli.evaluation import evaluate
    from mt.cli.score_report import lines_of, write_sentences
    from mt.files import require_writable

    page = flags["html"]
    flags["confidence"] |= page is not None or flags["card"]
    for path in (page, flags["sentences"]):
        if path is not None:
            require_writable(path)
    if flags["card"]:
        from mt.cli.card import require_card

        require_card(flags["model"])
    evaluation = evaluate(flags, say=stderr_console().print)
    if flags["sentences"] is not None:
        write_sentences(flags["sentences"], evaluation.measured)
    if page is not None:
        from mt.cli.report_contents import write_report

        write_report(page, flags, evaluation)
    if flags["card"]:
        from mt.cli.card import add_scores

        add_scores(flags["model"], flags["files"], evaluation)
        click.echo(f"the scores are in the card of {flags['model']}", err=True)
    if flags["as_json"]:
        click.echo(json.dumps(evaluation.record, ensure_ascii=False))
        return
    for line in lines_of(evaluation.results):
        click.echo(line)


def _refuse_contradictions(flags: dict[str, Any]) -> None:
    """Refuse flags that go with another form of the command."""
    model, num_files = flags["model"], len(flags["files"])
    if model is None and not flags["hyp"]:
        raise click.UsageError(
            "give either -m MODEL SOURCE REFERENCE... or --hyp FILE REFERENCE..."
        )
    if model is None and (flags["glossary"] is not None or flags["placeholders"]):
        raise click.UsageError("--glossary and --placeholders have an effect with -m MODEL alone")
    if model is not None and flags["source"] is not None:
        raise click.UsageError("--source has an effect without -m alone: SOURCE is the first file")
    if flags["card"] and (model is None or flags["others"]):
        raise click.UsageError("--card has an effect with one -m MODEL alone, whose card it is")
    if num_files < (1 if model is None else 2):
        raise click.UsageError("Missing argument 'REFERENCE...'.")
    if flags["sentences"] is not None and not flags["sentences"].parent.is_dir():
        raise click.UsageError(f"--sentences {flags['sentences']}: there is no such folder")
    if flags["tokenized"] and flags["tokenize"] not in (None, "none"):
        raise click.UsageError("--tokenized splits nothing: leave --tokenize out")
    if flags["paired"] is not None and len(flags["hyp"]) + (model is not None) < 2:
        raise click.UsageError("--paired compares systems: give two --hyp at least")
    if flags["resamples"] is not None and not (
        flags["confidence"] or flags["paired"] or flags["html"] or flags["card"]
    ):
        raise click.UsageError("--resamples has an effect with --confidence or --paired alone")
