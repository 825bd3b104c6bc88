"""Evaluation: translations of a model, of files, or both, scored against references."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mt.config import Config
from mt.errors import ConfigError
from mt.evaluation.metrics import Measured, Metric, Recipe, measure, metrics_for, too_long_for_ter
from mt.evaluation.results import TEST_NAMES, Result, Sampling, results_of
from mt.events import Event, Listener, Notice, ignore
from mt.formats.text import language_suffix
from mt.model_folder.folder import load_tokenizers, read_config
from mt.tasks.requests import EvaluateRequest, TranslateRequest
from mt.tasks.scored_text import (
    System,
    choose_recipe,
    read_systems,
    warn_of_hypotheses,
    warn_of_references,
)
from mt.tasks.test_set import read_test_set
from mt.tasks.translate import Translating
from mt.tasks.trivial_systems import (
    SeenOverlap,
    TrivialScores,
    overlap_with_training,
    score_trivial,
)
from mt.translation.aim import aimed


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
    """Every score of every system."""
    trivial: Sequence[TrivialScores] | None = None
    """What copying the source and the nearest training pair score; None if not asked for."""
    overlap: SeenOverlap | None = None
    """Lines that the model was trained on; None where that is not known."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Metrics that were not counted, with the reason."""
    num_unknown_symbols: int | None = None
    """Of a model of symbols: those in the sources that it does not know."""
    notices: Sequence[Notice] = ()
    """What was reported on the way."""

    @property
    def record(self) -> dict[str, Any]:
        """The evaluation as JSON."""
        with_system = len(self.systems) > 1
        record: dict[str, Any] = {
            "scores": [result.record(with_system=with_system) for result in self.results],
            "lines": len(self.references[0]),
        }
        if self.left_out:
            record["left_out"] = dict(self.left_out)
        if self.num_unknown_symbols is not None:
            record["unknown_symbols"] = self.num_unknown_symbols
        if self.trivial is not None:
            record["trivial"] = [each.record for each in self.trivial]
        if self.overlap is not None:
            record["in_training"] = self.overlap.record
        return record


def evaluate(request: EvaluateRequest, listener: Listener = ignore) -> Evaluation:
    """Translate the source with the model, if there is one, and score that and all hypotheses.

    Raises DataError and ConfigError for files that cannot be scored, before anything is translated,
    and ModelFolderError for a model folder at fault.
    """
    notices: list[Notice] = []

    def hear(event: Event) -> None:
        if isinstance(event, Notice):
            notices.append(event)
        listener(event)

    _refuse_contradictions(request)
    systems = read_systems(request.hypotheses)
    config = None if request.model is None else read_config(Path(request.model))
    known = "", request.scoring.target_language or ""
    if config is not None:
        assert request.model is not None
        request, config = _aimed(request, Path(request.model), config)
        known = config.source_language, config.target_language
    test = read_test_set(request, systems, known, hear)
    sources, references = test.sources, test.references
    paths = [Path(path) for path in request.references]
    scoring = request.scoring
    scoring = dataclasses.replace(
        scoring,
        target_language=scoring.target_language or known[1] or test.target_language,
        symbols=scoring.symbols or (config is not None and config.tokenizer.takes_symbols),
    )
    recipe = choose_recipe(paths, scoring, hear)
    metrics = metrics_for(references, recipe)
    warn_of_references(references, paths, recipe, hear)
    num_unknown = None
    if config is not None:
        assert sources is not None
        system, num_unknown = _translate(request, sources, hear)
        systems.insert(0, system)
    is_tokenised = scoring.tokenized or scoring.symbols
    for system in systems:
        is_only = len(systems) == 1
        warn_of_hypotheses(system, is_tokenised=is_tokenised, is_only=is_only, listener=hear)
    left_out: dict[str, str] = {}
    if request.scoring.metrics is None:
        texts = [*references, *(system.hypotheses for system in systems)]
        recipe, metrics, left_out = _without_slow_ter(recipe, metrics, texts, hear)
    measured = [(system.name, measure(system.hypotheses, metrics)) for system in systems]
    sampling = Sampling(
        confidence=request.confidence,
        paired=request.paired,
        resamples=request.resampling.resamples,
        seed=request.resampling.seed,
    )
    results = results_of(measured, sampling)
    trivial, overlap = None, None
    if request.trivial and sources is not None:
        folders = [] if request.model is None else [Path(request.model), *map(Path, request.others)]
        to = "" if config is None else config.target_language
        trivial = score_trivial(folders, sources, metrics, results[: len(metrics)], hear, to=to)
        if folders:
            overlap = overlap_with_training(folders, sources, references, hear)
    if request.paired is not None:
        hear(Notice(text=_explained(sampling, systems[0].name)))
    return Evaluation(
        systems=systems,
        sources=sources,
        references=references,
        recipe=recipe,
        measured=measured,
        sampling=sampling,
        results=results,
        trivial=trivial,
        overlap=overlap,
        left_out=left_out,
        num_unknown_symbols=num_unknown,
        notices=notices,
    )


def _refuse_contradictions(request: EvaluateRequest) -> None:
    """Raise ConfigError for what does not go together."""
    has_model = request.model is not None
    if not has_model and not request.hypotheses:
        raise ConfigError("there is nothing to score", hint="Give a model, or hypotheses")
    if has_model and request.source is None:
        raise ConfigError("a model needs a source to translate", hint="Give the source")
    if not request.references:
        raise ConfigError("there is no reference to score against", hint="Give one at least")
    decoding = request.decoding
    if not has_model and (decoding.glossary is not None or decoding.placeholders):
        raise ConfigError("--glossary and --placeholders have an effect with -m MODEL only")
    if request.scoring.tokenized and request.scoring.tokenize not in (None, "none"):
        raise ConfigError("--tokenized splits nothing: leave --tokenize out")
    if request.paired is not None and len(request.hypotheses) + has_model < 2:
        raise ConfigError("--paired compares systems: give two --hyp at least")


def _without_slow_ter(
    recipe: Recipe, metrics: list[Metric], texts: Sequence[Sequence[str]], listener: Listener
) -> tuple[Recipe, list[Metric], dict[str, str]]:
    """What is counted without TER, where that would take very long; and what is left out, why."""
    words = too_long_for_ter(texts) if "ter" in recipe.metrics else None
    if words is None:
        return recipe, metrics, {}
    reason = f"a segment has {words:,} words, for which it would take very long"
    listener(Notice(text=f"TER is left out: {reason} (--metrics ter counts it)"))
    position = recipe.metrics.index("ter")
    names = recipe.metrics[:position] + recipe.metrics[position + 1 :]
    others = metrics[:position] + metrics[position + 1 :]
    return dataclasses.replace(recipe, metrics=names), others, {"TER": reason}


def _aimed(request: EvaluateRequest, model: Path, config: Config) -> tuple[EvaluateRequest, Config]:
    """With what is known of the languages of a model of several, by what is asked for.

    Raises ConfigError for a language that the model does not translate into.
    """
    source = "" if request.source is None else language_suffix(Path(request.source))
    tokenizers = load_tokenizers(model, config)
    config, _ = aimed(config, tokenizers, request.decoding.to, source=source)
    decoding = dataclasses.replace(request.decoding, source_language=source)
    return dataclasses.replace(request, decoding=decoding), config


def _explained(sampling: Sampling, name: str) -> str:
    """What p-values are."""
    assert sampling.paired is not None
    return (
        f"p is how often chance alone would part a system from {name} as far: "
        f"{TEST_NAMES[sampling.paired]}, {sampling.num_samples(sampling.paired):,} samples, "
        f"seed {sampling.seed}"
    )


def _translate(
    request: EvaluateRequest, sources: Sequence[str], listener: Listener
) -> tuple[System, int | None]:
    """The model, or the ensemble, as a system; and how many symbols it did not know."""
    assert request.model is not None
    asked = TranslateRequest(model=request.model, others=request.others, decoding=request.decoding)
    translating = Translating(asked, listener)
    translations = translating.translate_all(sources)
    translating.report()
    translating.require_results()
    name = " + ".join(map(str, [request.model, *request.others]))
    of_symbols = translating.translator.config.tokenizer.takes_symbols
    system = System(name=name, hypotheses=[each.text for each in translations])
    return system, translating.num_unknown if of_symbols else None
