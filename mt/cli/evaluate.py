"""`mt eval`: translate and score, or score files of translations."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mt.cli.options import model_option, search_options
from mt.cli.search_flags import shortlist_option
from mt.cli.term_flags import TermCounts, glossary_of, term_options

if TYPE_CHECKING:
    from mt.cli.score_report import Result, Sampling
    from mt.cli.scored_text import System

_TOKENIZERS = ["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores200"]
_METRICS = ("bleu", "chrf", "chrf++", "ter", "exact", "ser")


def _metric_names(
    _: click.Context, __: click.Parameter, text: str | None
) -> tuple[str, ...] | None:
    """Read `--metrics`: names with commas between."""
    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    for name in names:
        if name not in _METRICS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(_METRICS)}")
    return names


@click.command("eval")
@model_option(required=False, says="Translate with this model.")
@click.option(
    "--hyp",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Score this file, too or instead; several are compared.",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--metrics",
    callback=_metric_names,
    help=f"What is counted, of {', '.join(_METRICS)}; else all but ser, and of symbols "
    "bleu,chrf,exact,ser.",
)
@click.option(
    "--tokenize",
    type=click.Choice(_TOKENIZERS),
    help="sacreBLEU tokenizer of BLEU; else by the target language, or 13a.",
)
@click.option(
    "--target-language",
    "--tgt-lang",
    metavar="CODE",
    help="What the translations are in; else what the model or the name of REFERENCE says.",
)
@click.option(
    "--tokenized", is_flag=True, help="Both sides are tokenised already, and BLEU splits nothing."
)
@click.option("--lowercase", is_flag=True, help="Compare without case; the signatures show it.")
@click.option("--confidence", is_flag=True, help="Give 95 % intervals, by bootstrap resampling.")
@click.option(
    "--paired",
    type=click.Choice(["bs", "ar"]),
    help="Test each system against the first: bootstrap resampling or approximate randomisation.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=100),
    help="Samples drawn; else 1,000, of approximate randomisation 10,000.",
)
@click.option("--seed", type=click.IntRange(min=0), default=12345, show_default=True)
@click.option(
    "--sentences",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the scores of each sentence, separated by tabs.",
)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --hyp alone: what was translated, to score its copy beside.",
)
@click.option(
    "--trivial/--no-trivial",
    default=True,
    show_default=True,
    help="Tell what copying the source and the nearest training pair score, and which test lines "
    "the model was trained on.",
)
@click.option(
    "--symbols", is_flag=True, help="Score symbols, as a model of symbols does without being told."
)
@click.option("--beam", type=click.IntRange(min=1), help="Hypotheses searched; 1 is greedy.")
@shortlist_option
@term_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@search_options
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
    from mt.cli.score_report import Sampling, lines_of, results_of, write_sentences
    from mt.cli.scored_text import (
        choose_recipe,
        read_references,
        read_systems,
        warn_of_hypotheses,
        warn_of_references,
    )
    from mt.cli.trivial_systems import tell_beside
    from mt.corpus.formats.text import read_text_lines
    from mt.evaluate.metrics import measure, metrics_for
    from mt.translate.model_folder import read_config

    say = stderr_console().print
    model, files, is_tokenised = flags["model"], list(flags["files"]), flags["tokenized"]
    source = flags["source"] if model is None else files.pop(0)
    sources = None if source is None else read_text_lines(source)
    systems = read_systems(flags["hyp"])
    lengths = [(system.name, len(system.hypotheses)) for system in systems]
    references = read_references(
        files, [*([] if sources is None else [(str(source), len(sources))]), *lengths]
    )
    language, of_symbols = flags["target_language"] or "", flags["symbols"]
    if model is not None:
        config = read_config(model)
        language = language or config.target_language
        of_symbols = of_symbols or config.tokenizer.takes_symbols
    recipe = choose_recipe(
        files,
        language=language,
        tokenize=flags["tokenize"],
        is_tokenised=is_tokenised,
        of_symbols=of_symbols,
        metrics=flags["metrics"],
        lowercase=flags["lowercase"],
        say=say,
    )
    metrics = metrics_for(references, recipe)
    warn_of_references(references, files, recipe, say=say)
    if model is not None:
        assert sources is not None
        system, num_unknown = _translate(model, sources, flags, say=say)
        systems.insert(0, system)
    for system in systems:
        warn_of_hypotheses(
            system,
            is_tokenised=is_tokenised or of_symbols,
            is_alone=len(systems) == 1,
            say=say,
        )
    measured = [(system.name, measure(system.hypotheses, metrics)) for system in systems]
    sampling = Sampling(
        confidence=flags["confidence"],
        paired=flags["paired"],
        resamples=flags["resamples"],
        seed=flags["seed"],
    )
    results = results_of(measured, sampling)
    record = _record(results, num_lines=len(references[0]), num_systems=len(systems))
    if model is not None and config.tokenizer.takes_symbols:
        record["unknown_symbols"] = num_unknown
    if flags["trivial"] and sources is not None:
        folders = [] if model is None else [model, *flags["others"]]
        first = results[: len(metrics)]
        record |= tell_beside(folders, sources, references, metrics, first, say=say)
    if flags["sentences"] is not None:
        write_sentences(flags["sentences"], measured)
    if flags["paired"] is not None:
        _tell_test(sampling, systems[0].name, say=say)
    if flags["as_json"]:
        click.echo(json.dumps(record, ensure_ascii=False))
        return
    for line in lines_of(results):
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
    if model is None and flags["shortlist"]:
        raise click.UsageError("--shortlist has an effect with -m MODEL alone")
    if model is not None and flags["source"] is not None:
        raise click.UsageError("--source has an effect without -m alone: SOURCE is the first file")
    if num_files < (1 if model is None else 2):
        raise click.UsageError("Missing argument 'REFERENCE...'.")
    if flags["sentences"] is not None and not flags["sentences"].parent.is_dir():
        raise click.UsageError(f"--sentences {flags['sentences']}: there is no such folder")
    if flags["tokenized"] and flags["tokenize"] not in (None, "none"):
        raise click.UsageError("--tokenized splits nothing: leave --tokenize out")
    if flags["paired"] is not None and len(flags["hyp"]) + (model is not None) < 2:
        raise click.UsageError("--paired compares systems: give two --hyp at least")
    if flags["resamples"] is not None and not (flags["confidence"] or flags["paired"]):
        raise click.UsageError("--resamples has an effect with --confidence or --paired alone")


def _record(results: Sequence[Result], *, num_lines: int, num_systems: int) -> dict[str, Any]:
    """What `--json` gives."""
    scores = [result.record(with_system=num_systems > 1) for result in results]
    return {"scores": scores, "lines": num_lines}


def _tell_test(sampling: Sampling, name: str, *, say: Callable[[str], None]) -> None:
    from mt.cli.score_report import TEST_NAMES

    assert sampling.paired is not None
    say(
        f"mt: p is how often chance alone would part a system from {name} as far: "
        f"{TEST_NAMES[sampling.paired]}, {sampling.num_samples(sampling.paired):,} samples, "
        f"seed {sampling.seed}"
    )


def _translate(
    model: Path, sources: list[str], flags: dict[str, Any], *, say: Callable[[str], None]
) -> tuple[System, int]:
    """The model, or the ensemble of models, as a system; and how many symbols it did not know."""
    from mt.cli.scored_text import System
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
    name = " + ".join(map(str, [model, *flags["others"]]))
    system = System(name=name, hypotheses=[each.text for each in translations])
    return system, listener.num_unknown
