"""`mt eval`: translate and score, or score a file of translations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mt.cli.options import model_option, search_options
from mt.cli.search_flags import shortlist_option
from mt.cli.term_flags import TermCounts, glossary_of, term_options
from mt.errors import DataError


@click.command("eval")
@model_option(required=False, says="Translate with this model.")
@click.option("--hyp", type=click.Path(path_type=Path), help="Score this file instead.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--tokenize",
    type=click.Choice(["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores200"]),
    help="sacreBLEU tokenizer of BLEU; else by the target language, or 13a.",
)
@click.option("--lowercase", is_flag=True, help="Compare without case; the signatures show it.")
@click.option("--beam", type=click.IntRange(min=1), help="Hypotheses searched; 1 is greedy.")
@shortlist_option
@term_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@search_options
def command(**flags: Any) -> None:
    """Score translations: BLEU and chrF with their sacreBLEU signatures.

    \b
    mt eval -m MODEL SOURCE REFERENCE...     translate SOURCE and score it
    mt eval --hyp FILE REFERENCE...          score FILE
    """
    from mt.cli.console import stderr_console
    from mt.corpus.formats.text import read_text_lines
    from mt.evaluate.scores import corpus_scores, looks_tokenised, tokenizer_for

    console = stderr_console()
    model, hyp, files = flags["model"], flags["hyp"], list(flags["files"])
    if (model is None) == (hyp is None):
        raise click.UsageError(
            "give either -m MODEL SOURCE REFERENCE... or --hyp FILE REFERENCE..."
        )
    if hyp is not None and (flags["glossary"] is not None or flags["placeholders"]):
        raise click.UsageError("--glossary and --placeholders have an effect with -m MODEL alone")
    if model is None and flags["shortlist"]:
        raise click.UsageError("--shortlist has an effect with -m MODEL alone")
    if len(files) < (1 if model is None else 2):
        raise click.UsageError("Missing argument 'REFERENCE...'.")
    references = files if model is None else files[1:]
    tokenize = flags["tokenize"]
    name = str(hyp) if model is None else str(files[0])
    if model is None:
        hypotheses = read_text_lines(hyp)
        check_references(name, len(hypotheses), references)
    else:
        sources = read_text_lines(files[0])
        check_references(name, len(sources), references)
        hypotheses, language = _translate(model, sources, flags, say=console.print)
        if tokenize is None:
            choice = tokenizer_for(language)
            tokenize = choice.name
            if choice.warning:
                console.print(f"mt: warning: {choice.warning}")
    num_empty = sum(1 for text in hypotheses if not text.strip())
    if num_empty:
        console.print(f"mt: warning: {num_empty} of {len(hypotheses)} hypotheses are empty")
    if looks_tokenised(hypotheses):
        console.print(
            "mt: warning: most hypotheses end in a tokenised period (' .'), but BLEU wants "
            "detokenised text; the score is that of the text as it stands"
        )
    scores = corpus_scores(
        hypotheses,
        [read_text_lines(path) for path in references],
        tokenize=tokenize or "13a",
        lowercase=flags["lowercase"],
    )
    if flags["as_json"]:
        rows = [{"name": s.name, "score": s.score, "signature": s.signature} for s in scores]
        click.echo(json.dumps({"scores": rows}))
        return
    for score in scores:
        click.echo(str(score))


def check_references(name: str, num_lines: int, references: list[Path]) -> None:
    """Raise DataError, naming the file, where a reference has another number of lines."""
    from mt.corpus.formats.text import read_text_lines

    if num_lines == 0:
        raise DataError(f"{name} is empty")
    for path in references:
        num_there = len(read_text_lines(path))
        if num_there != num_lines:
            raise DataError(
                f"unequal lengths: {name} has {num_lines} lines, reference {path} has {num_there}"
            )


def _translate(
    model: Path, sources: list[str], flags: dict[str, Any], *, say: Callable[[str], None]
) -> tuple[list[str], str]:
    """Translations of `sources` and the target language of the model."""
    from mt.cli.search_flags import search_config
    from mt.cli.translation_console import TranslationConsole
    from mt.model.device import set_threads
    from mt.translate.translator import Translator

    set_threads(flags["threads"])
    listener = TranslationConsole(say)
    glossary = glossary_of(flags)
    translator = Translator.load(
        model,
        *flags["others"],
        search=search_config(flags),
        device=flags["device"],
        devices=flags["devices"],
        precision=flags["precision"],
        batch_size=flags["batch_size"],
        workers=flags["workers"],
        glossary=glossary,
        shortlist=flags["shortlist"],
        exact_scores=False,
        listener=listener,
    )
    translations = list(translator.translate(sources))
    listener.tell_splits()
    listener.tell_shortlist()
    if glossary is not None:
        terms = TermCounts()
        terms.add(translations)
        say(str(terms))
    return [each.text for each in translations], translator.config.target_language
