"""The scores of a validation set: those of `mt eval` for what a model with its settings writes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from mt.config import Config
from mt.directions import Direction, targets_of
from mt.evaluation.metrics import SYMBOL_METRICS, Measured, Recipe, measure, metrics_for
from mt.evaluation.scores import Score, tokenizer_for
from mt.evaluation.sequences import BLEU_TOKENIZER
from mt.evaluation.significance import BOOTSTRAP, NUM_SAMPLES, SEED, Interval, bootstrap_scores
from mt.events import Listener, Notice

Scoring = Callable[[list[str], list[str]], list[Measured]]
"""What is counted in texts against references."""


def scoring_for(config: Config, listener: Listener) -> Scoring:
    """The scores that suit what a model with these settings writes."""
    if config.tokenizer.takes_symbols:
        recipe = Recipe(metrics=SYMBOL_METRICS, tokenize=BLEU_TOKENIZER, of_symbols=True)
    else:
        tokenize = tokenizer_for(config.target_language)
        if tokenize.warning:
            listener(Notice(text=tokenize.warning, is_warning=True))
        recipe = Recipe(metrics=("bleu", "chrf"), tokenize=tokenize.name)
    return lambda texts, references: measure(texts, metrics_for([references], recipe))


@dataclass(frozen=True, kw_only=True)
class DirectionScores:
    """Scores of the directions of a model of several languages, and their means."""

    scores: dict[str, float]
    """By name: the mean over the directions that have a line."""
    signatures: dict[str, str]
    intervals: dict[str, tuple[float, float]]
    by_direction: dict[str, dict[str, float]]


class DirectionScoring:
    """Scores each direction by itself, with the tokenizer of its target language."""

    def __init__(self, config: Config, directions: Sequence[Direction], listener: Listener) -> None:
        self._scorings = {
            target: scoring_for(dataclasses.replace(config, target_language=target), listener)
            for target in targets_of(directions)
        }

    def scores(
        self, texts: Sequence[str], references: Sequence[str], directions: Sequence[Direction]
    ) -> DirectionScores:
        """The scores of lines, each of its direction.

        Half widths of intervals are those of a mean of independent numbers.
        """
        lines: dict[Direction, list[int]] = {}
        for i, direction in enumerate(directions):
            lines.setdefault(direction, []).append(i)
        measured = {
            direction: self._scorings[direction.target](
                [texts[i] for i in mine], [references[i] for i in mine]
            )
            for direction, mine in lines.items()
        }
        found = {each: [one.score() for one in of_it] for each, of_it in measured.items()}
        by_name: dict[str, list[Score]] = {}
        intervals: dict[str, list[tuple[float, float]]] = {}
        for direction, scores in found.items():
            for score, one in zip(scores, measured[direction], strict=True):
                by_name.setdefault(score.name, []).append(score)
                intervals.setdefault(score.name, []).append(interval_of(one))
        return DirectionScores(
            scores={name: fmean(each.score for each in of_it) for name, of_it in by_name.items()},
            signatures={
                name: " / ".join(dict.fromkeys(each.signature for each in of_it))
                for name, of_it in by_name.items()
            },
            intervals={
                name: (
                    fmean(mean for mean, _ in of_it),
                    math.hypot(*(half for _, half in of_it)) / len(of_it),
                )
                for name, of_it in intervals.items()
            },
            by_direction={
                str(direction): {score.name: score.score for score in scores}
                for direction, scores in found.items()
            },
        )


def interval_of(measured: Measured) -> tuple[float, float]:
    """Mean and half width of 95 % of bootstrap samples, those of `mt eval --confidence`."""
    samples = bootstrap_scores(measured, num_samples=NUM_SAMPLES[BOOTSTRAP], seed=SEED)
    interval = Interval.of(samples)
    return interval.mean, interval.half_width


def scores_by_origin(
    texts: list[str],
    references: list[str],
    origins: Sequence[tuple[str, int]],
    scores_of: Scoring,
) -> dict[str, dict[str, float]]:
    """The scores of each corpus of a validation set, where it has several."""
    filled = [(name, count) for name, count in origins if count]
    if len(filled) < 2:
        return {}
    by_origin = {}
    end = 0
    for name, count in filled:
        start, end = end, end + count
        scores = [each.score() for each in scores_of(texts[start:end], references[start:end])]
        by_origin[name] = {score.name: score.score for score in scores}
    return by_origin
