"""`mt eval`: translate and score, or score a file of translations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mt.cli.options import model_option, search_options
from mt.cli.search_flags import shortlist_option
from mt.cli.term_flags import TermCounts, glossary_of, term_options
from mt.errors import DataError

if TYPE_CHECKING:
    from mt.config import Config


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
@click.option(
    "--symbols", is_flag=True, help="Score symbols, as a model of symbols does without being told."
)
@click.option("--beam", type=click.IntRange(min=1), help="Hypotheses searched; 1 is greedy.")
@shortlist_option
@term_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@search_options
def command(**flags: Any) -> None:
    """Score translations: BLEU and chrF with their sacreBLEU signatures.

    Of symbols also the share of lines that match exactly, and the symbol error rate.

    \b
    mt eval -m MODEL SOURCE REFERENCE...     translate SOURCE and score it
    mt eval --hyp FILE REFERENCE...          score FILE
    """
    from mt.cli.console import stderr_console
    from mt.corpus.formats.text import read_text_lines
    from mt.evaluate.scores import corpus_scores, looks_tokenised, tokenizer_for
    from mt.evaluate.sequences import BLEU_TOKENIZER, sequence_scores

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
    tokenize, of_symbols = flags["tokenize"], flags["symbols"]
    name = str(hyp) if model is None else str(files[0])
    if model is None:
        hypotheses = read_text_lines(hyp)
        check_references(name, len(hypotheses), references)
    else:
        sources = read_text_lines(files[0])
        check_references(name, len(sources), references)
        hypotheses, config, num_unknown = _translate(model, sources, flags, say=console.print)
        of_symbols = of_symbols or config.tokenizer.takes_symbols
        if tokenize is None and not of_symbols:
            choice = tokenizer_for(config.target_language)
            tokenize = choice.name
            if choice.warning:
                console.print(f"mt: warning: {choice.warning}")
    num_empty = sum(1 for text in hypotheses if not text.strip())
    if num_empty:
        console.print(f"mt: warning: {num_empty} of {len(hypotheses)} hypotheses are empty")
    if not of_symbols and looks_tokenised(hypotheses):
        console.print(
            "mt: warning: most hypotheses end in a tokenised period (' .'), but BLEU wants "
            "detokenised text; the score is that of the text as it stands"
        )
    texts = [read_text_lines(path) for path in references]
    lowercase = flags["lowercase"]
    usual = BLEU_TOKENIZER if of_symbols else "13a"
    scores = corpus_scores(hypotheses, texts, tokenize=tokenize or usual, lowercase=lowercase)
    if of_symbols:
        scores += sequence_scores(hypotheses, texts, lowercase=lowercase)
    if flags["as_json"]:
        rows = [{"name": s.name, "score": s.score, "signature": s.signature} for s in scores]
        record: dict[str, Any] = {"scores": rows}
        if model is not None and config.tokenizer.takes_symbols:
            record["unknown_symbols"] = num_unknown
        click.echo(json.dumps(record))
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
) -> tuple[list[str], Config, int]:
    """Translations of `sources`, the settings of the model, and how many symbols were unknown."""
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
        forks=True,
        glossary=glossary,
        shortlist=flags["shortlist"],
        exact_scores=False,
        listener=listener,
    )
    translations = list(translator.translate(sources))
    listener.tell_splits()
    listener.tell_unknown()
    listener.tell_shortlist()
    if glossary is not None:
        terms = TermCounts()
        terms.add(translations)
        say(str(terms))
    return [each.text for each in translations], translator.config, listener.num_unknown
