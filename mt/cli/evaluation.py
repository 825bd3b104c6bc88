"""Translating and scoring, as `mt eval` and `mt report` do it from their flags."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.cli.doubt_counts import DoubtCounts
from mt.cli.scored_text import (
    Say,
    System,
    choose_recipe,
    read_references,
    read_systems,
    warn_of_hypotheses,
    warn_of_references,
)
from mt.cli.search_flags import search_config
from mt.cli.term_flags import TermCounts, glossary_of
from mt.cli.translation_console import TranslationConsole
from mt.cli.trivial_systems import tell_beside
from mt.evaluation.metrics import Measured, Recipe, measure, metrics_for, too_long_for_ter
from mt.evaluation.results import TEST_NAMES, Result, Sampling, results_of
from mt.formats.text import read_text_lines
from mt.model.device import set_threads
from mt.model_folder.folder import read_config
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What was scored, and what came of it."""

    systems: Sequence[System]
    """A model first, if there is one."""
    sources: Sequence[str] | None
    references: Sequence[Sequence[str]]
    recipe: Recipe
    measured: Sequence[tuple[str, list[Measured]]]
    """Of each system, under each metric."""
    sampling: Sampling
    results: Sequence[Result]
    record: dict[str, Any]
    """What `mt eval --json` gives."""
    said: Sequence[str]
    """What a person was told on the way."""


def evaluate(flags: dict[str, Any], *, say: Say) -> Evaluation:
    """Translate with the model of `flags`, if there is one, and score that and all `hyp`.

    What a person should know of the text, the model and the scores is given to `say`. Raises
    DataError and ConfigError for files that cannot be scored, before anything is translated.
    """
    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        say(text)

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
        say=tell,
    )
    metrics = metrics_for(references, recipe)
    warn_of_references(references, files, recipe, say=tell)
    if model is not None:
        assert sources is not None
        system, num_unknown = _translate(model, sources, flags, say=tell)
        systems.insert(0, system)
    for system in systems:
        warn_of_hypotheses(
            system,
            is_tokenised=is_tokenised or of_symbols,
            is_alone=len(systems) == 1,
            say=tell,
        )
    left_out = {}
    if flags["metrics"] is None and "ter" in recipe.metrics:
        words = too_long_for_ter([*references, *(system.hypotheses for system in systems)])
        if words is not None:
            names = tuple(name for name in recipe.metrics if name != "ter")
            recipe = dataclasses.replace(recipe, metrics=names)
            metrics = metrics_for(references, recipe)
            left_out["TER"] = f"a segment has {words:,} words, for which it would take very long"
            tell(f"mt: TER is left out: {left_out['TER']} (--metrics ter counts it)")
    measured = [(system.name, measure(system.hypotheses, metrics)) for system in systems]
    sampling = Sampling(
        confidence=flags["confidence"],
        paired=flags["paired"],
        resamples=flags["resamples"],
        seed=flags["seed"],
    )
    results = results_of(measured, sampling)
    record = _record(results, num_lines=len(references[0]), num_systems=len(systems))
    if left_out:
        record["left_out"] = left_out
    if model is not None and config.tokenizer.takes_symbols:
        record["unknown_symbols"] = num_unknown
    if flags["trivial"] and sources is not None:
        folders = [] if model is None else [model, *flags["others"]]
        first = results[: len(metrics)]
        record |= tell_beside(folders, sources, references, metrics, first, say=tell)
    if flags["paired"] is not None:
        tell(_test(sampling, systems[0].name))
    return Evaluation(
        systems=systems,
        sources=sources,
        references=references,
        recipe=recipe,
        measured=measured,
        sampling=sampling,
        results=results,
        record=record,
        said=said,
    )


def _test(sampling: Sampling, name: str) -> str:
    """What p-values are."""
    assert sampling.paired is not None
    return (
        f"mt: p is how often chance alone would part a system from {name} as far: "
        f"{TEST_NAMES[sampling.paired]}, {sampling.num_samples(sampling.paired):,} samples, "
        f"seed {sampling.seed}"
    )


def _record(results: Sequence[Result], *, num_lines: int, num_systems: int) -> dict[str, Any]:
    """What `--json` gives."""
    scores = [result.record(with_system=num_systems > 1) for result in results]
    return {"scores": scores, "lines": num_lines}


def _translate(
    model: Path, sources: list[str], flags: dict[str, Any], *, say: Say
) -> tuple[System, int]:
    """The model, or the ensemble of models, as a system; and how many symbols it did not know."""
    set_threads(flags["threads"] or flags["workers"])
    listener = TranslationConsole(say)
    glossary = glossary_of(flags)
    translator = Translator.load(
        model,
        *flags["others"],
        options=TranslationOptions(
            search=search_config(flags),
            device=flags["device"],
            devices=flags["devices"],
            precision=flags["precision"],
            batch_size=flags["batch_size"],
            workers=flags["workers"],
            forks=True,
            glossary=glossary,
            keep_case=flags["keep_case"],
        ),
        listener=listener,
    )
    translations = translator.translate(sources)
    listener.tell_splits()
    listener.tell_recased()
    listener.tell_unknown()
    listener.refuse_too_long()
    doubts = DoubtCounts(of_symbols=translator.config.tokenizer.takes_symbols)
    doubts.add(translations)
    doubts.tell(say)
    doubts.require_any_text(model)
    if glossary is not None:
        terms = TermCounts()
        terms.add(translations)
        say(str(terms))
    name = " + ".join(map(str, [model, *flags["others"]]))
    system = System(name=name, hypotheses=[each.text for each in translations])
    return system, listener.num_unknown
