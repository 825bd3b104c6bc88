"""The scores of a validation set: those of `mt eval` for what a model with its settings writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mt.config import Config
from mt.evaluation.metrics import SYMBOL_METRICS, Measured, Recipe, measure, metrics_for
from mt.evaluation.scores import tokenizer_for
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
