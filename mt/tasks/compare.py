"""Comparison: where one system is better than another."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import ConfigError
from mt.evaluation.comparison import (
    LENGTHS,
    Outcome,
    Splitter,
    count_words,
    gains,
    most_different,
    outcome,
    range_name,
    score_by_group,
    words_by_frequency,
)
from mt.evaluation.metrics import Measured, measure, metrics_for, too_long_for_ter
from mt.evaluation.results import Result, Sampling, results_of
from mt.evaluation.scores import word_splitter
from mt.events import Listener, Notice, ignore
from mt.formats.text import read_text_lines
from mt.tasks.requests import CompareRequest
from mt.tasks.scored_text import (
    System,
    choose_recipe,
    read_for,
    read_references,
    read_systems,
    warn_of_hypotheses,
    warn_of_references,
)


@dataclass(frozen=True, kw_only=True)
class GroupScores:
    """The scores of both systems on one group of sentences."""

    group: str
    num_sentences: int
    scores: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class WordScores:
    """How well both systems translate words that occur so often in training."""

    occurrences: str
    num_words: int
    f1: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Example:
    """One sentence, with all that is known of it."""

    line: int
    scores: tuple[float, float]
    source: str | None
    references: tuple[str, ...]
    hypotheses: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What came of comparing the second system with the first."""

    systems: tuple[str, str]
    results: tuple[tuple[Result, Result], ...]
    """Under each metric, of both; the second has the p-value."""
    metric: str
    """Name of the metric by which sentences and groups are compared."""
    sentences: Outcome
    groups: Mapping[str, Sequence[GroupScores]]
    """For each way to group sentences, its groups in order."""
    gains: Sequence[Example]
    losses: Sequence[Example]
    frequencies: Sequence[WordScores] | None
    """None where no training text was given."""


@dataclass(frozen=True, kw_only=True)
class _Text:
    """What all comparisons of a request share."""

    references: Sequence[Sequence[str]]
    sources: Sequence[str] | None
    groups: Mapping[str, Sequence[str]]
    frequencies: Mapping[str, int] | None
    split: Splitter
    num_examples: int


def compare(request: CompareRequest, listener: Listener = ignore) -> list[Comparison]:
    """Compare each system with the first: tests, wins by sentence, scores by group, examples.

    Raises DataError and ConfigError for files that cannot be compared.
    """
    if len(request.systems) < 2:
        raise ConfigError("give two --sys at least")
    paths = [Path(path) for path in request.references]
    systems = read_systems(request.systems, option="--sys")
    references = read_references(paths, [(each.name, len(each.hypotheses)) for each in systems])
    num_lines = len(references[0])
    sources = read_for(request.source, num_lines)
    origins = read_for(request.origins, num_lines)
    recipe = choose_recipe(paths, request.scoring, listener)
    words = too_long_for_ter([*references, *(system.hypotheses for system in systems)])
    if words is not None and request.metric != "ter":
        names = tuple(name for name in recipe.metrics if name != "ter")
        recipe = dataclasses.replace(recipe, metrics=names)
        text = f"TER is left out: a segment has {words:,} words (--metric ter counts it)"
        listener(Notice(text=text))
    metrics = metrics_for(references, recipe)
    for system in systems:
        warn_of_hypotheses(system, is_tokenised=False, is_only=False, listener=listener)
    warn_of_references(references, paths, recipe, listener)
    split = word_splitter(recipe.tokenize)
    frequencies = None
    if request.train is not None:
        frequencies = count_words(read_text_lines(Path(request.train)), split)
    measured = [(each.name, measure(each.hypotheses, metrics)) for each in systems]
    sampling = Sampling(
        confidence=False,
        paired=request.test,
        resamples=request.resampling.resamples,
        seed=request.resampling.seed,
    )
    results = results_of(measured, sampling)
    lengths = [range_name(len(split(line)), LENGTHS) for line in references[0]]
    text_of_all = _Text(
        references=references,
        sources=sources,
        groups={
            "words of the reference": lengths,
            **({} if origins is None else {"origin": origins}),
        },
        frequencies=frequencies,
        split=split,
        num_examples=request.examples,
    )
    index = recipe.metrics.index(request.metric)
    by_system = [results[i : i + len(metrics)] for i in range(0, len(results), len(metrics))]
    return [
        _comparison(
            (systems[0], systems[number]),
            tuple(zip(by_system[0], by_system[number], strict=True)),
            (measured[0][1][index], measured[number][1][index]),
            text_of_all,
        )
        for number in range(1, len(systems))
    ]


def _comparison(
    systems: tuple[System, System],
    results: tuple[tuple[Result, Result], ...],
    measured: tuple[Measured, Measured],
    text: _Text,
) -> Comparison:
    gained = gains(*measured)
    best, worst = most_different(gained, text.num_examples)
    return Comparison(
        systems=(systems[0].name, systems[1].name),
        results=results,
        metric=measured[0].metric.name,
        sentences=outcome(gained),
        groups={name: _by_group(measured, groups) for name, groups in text.groups.items()},
        gains=[_example(index, systems, measured, text) for index in best],
        losses=[_example(index, systems, measured, text) for index in worst],
        frequencies=_by_frequency(systems, text),
    )


def _by_group(measured: tuple[Measured, Measured], groups: Sequence[str]) -> list[GroupScores]:
    """The scores of each group of sentences, in the order of numbers where names begin so."""
    first, second = (score_by_group(each, groups) for each in measured)
    sizes = Counter(groups)
    return [
        GroupScores(group=name, num_sentences=sizes[name], scores=(first[name], second[name]))
        for name in sorted(sizes, key=_in_order)
    ]


def _by_frequency(systems: tuple[System, System], text: _Text) -> list[WordScores] | None:
    if text.frequencies is None:
        return None
    first, second = (
        words_by_frequency(system.hypotheses, text.references[0], text.frequencies, text.split)
        for system in systems
    )
    return [
        WordScores(occurrences=name, num_words=words.num_words, f1=(words.f1, second[name].f1))
        for name, words in first.items()
    ]


def _example(
    index: int,
    systems: tuple[System, System],
    measured: tuple[Measured, Measured],
    text: _Text,
) -> Example:
    first, second = (each.metric.sentence_score(each.counts[index]) for each in measured)
    return Example(
        line=index + 1,
        scores=(first, second),
        source=None if text.sources is None else text.sources[index],
        references=tuple(lines[index] for lines in text.references),
        hypotheses=(systems[0].hypotheses[index], systems[1].hypotheses[index]),
    )


def _in_order(name: str) -> tuple[bool, int, str]:
    """Ranges of numbers by their first number, and before names."""
    digits = name.partition("–")[0].removesuffix("+")
    return (not digits.isdecimal(), int(digits) if digits.isdecimal() else 0, name)
