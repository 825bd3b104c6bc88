"""The best scores of a run beside those of trivial systems, on the same validation pairs.

Its time is bounded: a few seconds, whatever the sizes of validation set and corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config, MetricName
from mt.events import Listener, Validated, ignore
from mt.model_folder.folder import read_dev_pairs
from mt.tasks.dev_lines import fixed_sample, lines_scored
from mt.tasks.dev_scores import scoring_for
from mt.tasks.trivial_systems import TrivialScores, trivial_systems
from mt.training.best import METRIC_NAMES, Standing, keys_of, scores_of

_MOST_LINES = 2_000  # of a larger set the fixed sample is compared
_MOST_PAIRS = 100_000  # among which the nearest are looked for
_OF_TEXT: tuple[MetricName, ...] = ("bleu", "chrf")
_OF_SYMBOLS: tuple[MetricName, ...] = ("exact", "ser")


@dataclass(frozen=True, kw_only=True)
class DevComparison:
    """The scores of the best weights and of trivial systems."""

    metrics: Sequence[MetricName]
    num_pairs: int
    """Validation pairs that all scores are of."""
    num_all_pairs: int
    """Pairs of the validation set."""
    scores: dict[str, float]
    """Of the weights, by name: of text BLEU and chrF2, of symbols exact and SER."""
    trivial: Sequence[TrivialScores]
    """The same scores of each trivial system."""
    beaten_by: Sequence[TrivialScores]
    """Those that the weights do not beat."""

    @property
    def is_worse_in_all(self) -> bool:
        """Whether some system is no worse in every score."""
        return any(
            not any(_beats_in(metric, self.scores, each.by_name) for metric in self.metrics)
            for each in self.beaten_by
        )


def compare_with_trivial(
    folder: Path, config: Config, best: Validated, standing: Standing | None, listener: Listener
) -> DevComparison | None:
    """Score trivial systems on the pairs that the scores of `best` are of.

    Of a whole set of more than 2,000 pairs the fixed sample is taken, whose scores `standing`
    knows. None where no scores of translations are known, and of several directions. Raises
    DataError where the folder has no validation set to read.
    """
    if config.directions:
        return None  # a mean over directions stands beside no score of one system
    pairs = read_dev_pairs(folder)
    sources = [source for source, _ in pairs]
    lines, known = lines_scored(sources, best.num_pairs), best.scores
    if len(lines) > _MOST_LINES:
        metric = config.training.metric
        lines = fixed_sample(len(sources))
        known = {} if standing is None else scores_of(metric, standing.of_sample)
    suiting = _OF_SYMBOLS if config.tokenizer.takes_symbols else _OF_TEXT
    metrics = [metric for metric in suiting if METRIC_NAMES[metric] in known]
    if not metrics:
        return None
    names = [METRIC_NAMES[metric] for metric in metrics]
    own = {name: known[name] for name in names}
    references = [pairs[i][1] for i in lines]
    chosen = [sources[i] for i in lines]
    scoring = scoring_for(config, ignore)  # what it warns of was said when training began
    trivial = []
    for system in trivial_systems([folder], chosen, listener, most_pairs=_MOST_PAIRS):
        measured = [each.score() for each in scoring(system.hypotheses, references)]
        scores = [score for name in names for score in measured if score.name == name]
        trivial.append(TrivialScores(system=system.name, scores=scores))
    return DevComparison(
        metrics=metrics,
        num_pairs=len(lines),
        num_all_pairs=len(sources),
        scores=own,
        trivial=trivial,
        beaten_by=[each for each in trivial if not _beats(config, metrics, own, each.by_name)],
    )


def _beats(
    config: Config,
    metrics: Sequence[MetricName],
    own: Mapping[str, float],
    theirs: Mapping[str, float],
) -> bool:
    """Whether scores by name are better than those of a system: of text each of them.

    Of symbols one metric decides, that of training if it can: a model of long sequences learns
    before it has any exact match. The other one breaks ties.
    """
    if not config.tokenizer.takes_symbols:
        return all(_beats_in(metric, own, theirs) for metric in metrics)
    chosen = config.training.metric
    deciding = chosen if chosen in metrics else metrics[-1]
    return keys_of(deciding, own) > keys_of(deciding, theirs)


def _beats_in(metric: MetricName, own: Mapping[str, float], theirs: Mapping[str, float]) -> bool:
    """Whether a score is better, to the digits that are shown."""
    name = METRIC_NAMES[metric]
    return keys_of(metric, {name: own[name]}) > keys_of(metric, {name: theirs[name]})
