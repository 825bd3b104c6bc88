"""How a validation set is scored while training: by the translator and the scores of `mt eval`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mt.config import Config
from mt.corpus.formats.text import read_text_lines
from mt.errors import ModelFolderError
from mt.evaluate.metrics import SYMBOL_METRICS, Measured, Recipe, measure, metrics_for
from mt.evaluate.scores import tokenizer_for
from mt.evaluate.sequences import BLEU_TOKENIZER
from mt.evaluate.significance import BOOTSTRAP, NUM_SAMPLES, SEED, Interval, bootstrap_scores
from mt.events import Listener, Notice
from mt.train.distributed import Ranks
from mt.train.validation import TranslationScores, Validator
from mt.translate.translator import Translator

_Scoring = Callable[[list[str], list[str]], list[Measured]]
"""What is counted in texts against references."""

_NUM_SAMPLES = 2  # translations shown at each validation


def make_validator(
    folder: Path,
    translator: Callable[[], Translator],
    origins: Sequence[tuple[str, int]],
    ranks: Ranks,
    *,
    config: Config,
    listener: Listener,
) -> Validator:
    """Translate the validation set as `mt translate` does and score it as `mt eval` does.

    `translator` is asked for anew each time: it translates with the weights as they are then.
    `origins` are the names and numbers of pairs of the corpora in it: where there are several, each
    is scored by itself too. Each rank translates its share, and all have the scores.
    """
    sources = read_text_lines(folder / "dev.source")
    references = read_text_lines(folder / "dev.target")
    if len(sources) != len(references):
        raise ModelFolderError(
            f"{folder} is damaged: dev.source has {len(sources)} lines, dev.target has "
            f"{len(references)}"
        )
    scores_of = _scoring(config, listener)

    def validate() -> TranslationScores:
        mine = [each.text for each in translator().translate(ranks.share(sources))]
        texts = ranks.joined(mine)
        measured = scores_of(texts, references)
        scores = [each.score() for each in measured]
        step = max(len(sources) // _NUM_SAMPLES, 1)
        return TranslationScores(
            scores={score.name: score.score for score in scores},
            signatures={score.name: score.signature for score in scores},
            samples=tuple(
                (sources[i], texts[i], references[i])
                for i in range(0, len(sources), step)[:_NUM_SAMPLES]
            ),
            by_origin=_scores_by_origin(texts, references, origins, scores_of),
            intervals={each.metric.name: _interval(each) for each in measured},
        )

    return validate


def _scoring(config: Config, listener: Listener) -> _Scoring:
    """The scores that suit what a model with these settings writes."""
    if config.tokenizer.takes_symbols:
        recipe = Recipe(metrics=SYMBOL_METRICS, tokenize=BLEU_TOKENIZER, of_symbols=True)
    else:
        tokenize = tokenizer_for(config.target_language)
        if tokenize.warning:
            listener(Notice(text=tokenize.warning, is_warning=True))
        recipe = Recipe(metrics=("bleu", "chrf"), tokenize=tokenize.name)
    return lambda texts, references: measure(texts, metrics_for([references], recipe))


def _interval(measured: Measured) -> tuple[float, float]:
    """Mean and half width of 95 % of bootstrap samples, those of `mt eval --confidence`."""
    samples = bootstrap_scores(measured, num_samples=NUM_SAMPLES[BOOTSTRAP], seed=SEED)
    interval = Interval.of(samples)
    return interval.mean, interval.half_width


def _scores_by_origin(
    texts: list[str],
    references: list[str],
    origins: Sequence[tuple[str, int]],
    scores_of: _Scoring,
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
