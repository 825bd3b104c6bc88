"""`mt eval`: translate and score, or score files of translations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click

from mt.cli.options import (
    OUTPUT_FILE,
    PATH,
    beam_option,
    decoding_options,
    engine_option,
    filled,
    model_option,
    resampling_options,
    scoring_options,
    trivial_option,
    typed_command,
)
from mt.tasks.requests import Decoding, EvaluateRequest, PairedTest, Resampling, Scoring


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    model: Path | None
    others: tuple[Path, ...]
    hyp: tuple[Path, ...]
    files: tuple[Path, ...]
    source: Path | None
    scoring: Scoring
    resampling: Resampling
    decoding: Decoding
    confidence: bool
    paired: PairedTest | None
    trivial: bool
    sentences: Path | None
    html: Path | None
    card: bool
    as_json: bool

    @property
    def request(self) -> EvaluateRequest:
        """What is to be evaluated; a page and a card have intervals."""
        source, references = self.source, self.files
        if self.model is not None:
            # One file holds both sides.
            source, references = self.files[0], self.files[1:] or self.files
        return EvaluateRequest(
            model=self.model,
            others=self.others,
            hypotheses=self.hyp,
            source=source,
            references=references,
            scoring=self.scoring,
            confidence=self.confidence or self.html is not None or self.card,
            paired=self.paired,
            resampling=self.resampling,
            trivial=self.trivial,
            decoding=self.decoding,
        )


@click.command("eval")
@model_option(required=False, says="Translate with this model.")
@click.option(
    "--hyp",
    multiple=True,
    type=PATH,
    help="Score this file, too or instead; several are compared.",
)
@click.argument("files", nargs=-1, type=PATH)
@scoring_options()
@click.option("--confidence", is_flag=True, help="Give 95 % intervals, by bootstrap resampling.")
@click.option(
    "--paired",
    type=click.Choice(["bs", "ar"]),
    help="Test each system against the first: bootstrap resampling or approximate randomisation.",
)
@resampling_options
@click.option(
    "--sentences",
    type=PATH,
    metavar="FILE",
    help="Write the scores of each sentence, separated by tabs.",
)
@click.option(
    "--html",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write a page with all of it, as mt report does, intervals included.",
)
@click.option(
    "--card", is_flag=True, help="Write the scores into the card of MODEL, intervals included."
)
@click.option(
    "--source",
    type=PATH,
    metavar="FILE",
    help="Without -m: what was translated, to score its copy beside.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@trivial_option
@beam_option
@engine_option("mt")
@decoding_options
@filled(_Flags)
def command(flags: _Flags) -> None:
    """Score translations: BLEU, chrF, chrF++, TER and exact match, with their signatures.

    Of symbols BLEU, chrF, exact match and the symbol error rate.

    \b
    mt eval -m MODEL SOURCE REFERENCE...          translate SOURCE and score it
    mt eval -m MODEL FILE                         the same with FILE of both sides: TMX, TSV, ...
    mt eval --hyp FILE REFERENCE...               score FILE
    mt eval --hyp A --hyp B --paired bs REF...    score two systems, and test their difference
    """
    _refuse_contradictions(flags)
    from mt.cli.console import notices, stderr_console
    from mt.cli.score_report import lines_of, write_sentences
    from mt.files import require_writable
    from mt.tasks.card import add_scores, require_card
    from mt.tasks.evaluate import evaluate
    from mt.tasks.report import write_report

    listener = notices(stderr_console().print)
    for path in (flags.html, flags.sentences):
        if path is not None:
            require_writable(path)
    if flags.card and flags.model is not None:
        require_card(flags.model)
    request = flags.request
    evaluation = evaluate(request, listener)
    if flags.sentences is not None:
        write_sentences(flags.sentences, evaluation.measured)
    if flags.html is not None:
        write_report(flags.html, request, evaluation, listener, command=typed_command())
        click.echo(f"the report is in {flags.html}", err=True)
    if flags.card:
        add_scores(request, evaluation, command=typed_command())
        click.echo(f"the scores are in the card of {flags.model}", err=True)
    if flags.as_json:
        click.echo(json.dumps(evaluation.record, ensure_ascii=False))
        return
    for line in lines_of(evaluation.results):
        click.echo(line)


def _refuse_contradictions(flags: _Flags) -> None:
    """Refuse flags that go with another form of the command."""
    from mt.formats import hold_pairs

    model, num_files = flags.model, len(flags.files)
    if model is None and not flags.hyp:
        raise click.UsageError(
            "give either -m MODEL SOURCE REFERENCE... or --hyp FILE REFERENCE..."
        )
    if model is not None and flags.source is not None:
        raise click.UsageError("--source has an effect without -m only: SOURCE is the first file")
    if flags.card and (model is None or flags.others):
        raise click.UsageError("--card has an effect with one -m MODEL only, whose card it is")
    if num_files == 0 or (model is not None and num_files == 1 and not hold_pairs(flags.files)):
        raise click.UsageError("Missing argument 'REFERENCE...'.")
    if flags.sentences is not None and not flags.sentences.parent.is_dir():
        raise click.UsageError(f"--sentences {flags.sentences}: there is no such folder")
    if flags.resampling.resamples is not None and not (
        flags.confidence or flags.paired or flags.html or flags.card
    ):
        raise click.UsageError("--resamples has an effect with --confidence or --paired only")
