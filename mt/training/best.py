"""Which weights are the best so far, and when to stop waiting for better ones.

Only numbers of the same lines are compared. A validation is of the whole set, of a fixed sample of
it, or a look: the same sample, with tight bounds on the length, of a model that hardly translates
yet. What is better than a look is never a look, and a sample is compared with a sample: that of a
whole validation is known, too. Where there was no time even for the sample, a validation was cut,
and is compared by the loss only, which is always that of the whole set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mt.config import MetricName

Extent = Literal["whole", "sample", "look", "cut"]

METRIC_NAMES: dict[MetricName, str] = {
    "bleu": "BLEU",
    "chrf": "chrF2",
    "loss": "loss",
    "exact": "exact",
    "ser": "SER",
}
"""What the metrics of the settings are called among scores."""
SMALLER_IS_BETTER: frozenset[MetricName] = frozenset({"loss", "ser"})
_TIES: dict[MetricName, tuple[MetricName, ...]] = {
    "bleu": ("chrf", "loss"),
    "chrf": ("loss",),
    "loss": (),
    "exact": ("ser", "chrf", "loss"),
    "ser": ("exact", "chrf", "loss"),
}
"""What decides between equal scores of a metric."""
_DIGITS = 2  # of scores that are shown; what differs beyond them is equal


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What weights are worth by a metric and what breaks its ties: larger is better."""

    keys: tuple[float, ...]
    """On the lines that were translated."""
    of_sample: tuple[float, ...]
    """On the fixed sample."""
    extent: Extent = "whole"
    loss: float = math.nan

    def is_better_than(self, other: Standing) -> bool:
        """Whether these weights are better, by the lines of both; of equal ones neither is."""
        if math.isnan(self.keys[0]):
            return False
        if "cut" in (self.extent, other.extent):
            return self.loss < other.loss
        if (self.extent == "look") != (other.extent == "look"):
            return other.extent == "look"
        if self.extent == other.extent:
            return _is_larger(self.keys, other.keys)
        return _is_larger(self.of_sample, other.of_sample)


def keys_of(metric: MetricName, scores: Mapping[str, float]) -> tuple[float, ...]:
    """The score of a metric and those that break its ties, as far as there are any."""
    keys = [_key(metric, scores[METRIC_NAMES[metric]])]
    for tie in _TIES[metric]:
        name = METRIC_NAMES[tie]
        if name in scores:
            keys.append(_key(tie, scores[name]))
    return tuple(keys)


def scores_of(metric: MetricName, keys: tuple[float, ...]) -> dict[str, float]:
    """The scores by name that `keys_of` made its keys of, rounded as there.

    All that break ties of the metric must have been known.
    """
    names = (metric, *_TIES[metric])
    return {
        METRIC_NAMES[name]: -key if name in SMALLER_IS_BETTER else key
        for name, key in zip(names, keys, strict=False)
    }


def is_zero(metric: MetricName, score: float) -> bool:
    """Whether a score says that nothing was right: shown as 0.00, or an error rate of 100."""
    if metric == "loss":
        return False
    return score >= 100.0 if metric == "ser" else round(score, _DIGITS) == 0.0


def _standing(record: Mapping[str, Any]) -> Standing:
    """What `dataclasses.asdict` made a record of."""
    return Standing(
        keys=tuple(record["keys"]),
        of_sample=tuple(record["of_sample"]),
        extent=record["extent"],
        loss=record["loss"],
    )


def _key(metric: MetricName, score: float) -> float:
    value = score if metric == "loss" else round(score, _DIGITS)
    return -value if metric in SMALLER_IS_BETTER else value


def _is_larger(keys: tuple[float, ...], others: tuple[float, ...]) -> bool:
    """Lexicographic order by what both know."""
    shared = min(len(keys), len(others))
    return keys[:shared] > others[:shared]


@dataclass(frozen=True, kw_only=True)
class BestWeights:
    """What the weights of an update are worth."""

    score: float
    update: int
    num_pairs: int | None
    """Of how many pairs of the validation set the score is; None for all."""
    standing: Standing


@dataclass(kw_only=True)
class BestTracker:
    """Remembers the best weights and how long they have stood.

    A score that is not a number is never better, and counts as a validation without improvement.
    A score of zero counts only where the loss is no lower than before: a model that learns without
    a right word yet is waited for. The weights that a run starts from (update 0) set the score to
    beat and use up no patience.
    """

    metric: MetricName
    patience: int
    """Validations in a row without improvement that exhaust it; 0 is endless."""
    best: float | None = None
    best_update: int | None = None
    best_pairs: int | None = None
    """Of how many pairs of the validation set that score is; None for all."""
    num_without_improvement: int = 0
    lowest_loss: float | None = None
    standing: Standing | None = None
    """Of the best weights; a checkpoint of an older mt has none."""
    held: BestWeights | None = None
    """Weights in the model folder that the run left behind by going back; better ones replace them.

    None where the best weights of the run are in the folder.
    """

    def take(
        self,
        scores: Mapping[str, float],
        update: int,
        *,
        of_sample: Mapping[str, float] | None = None,
        extent: Extent = "whole",
        num_pairs: int | None = None,
    ) -> bool:
        """Note the scores of a validation; True if they are the best so far."""
        score = scores[METRIC_NAMES[self.metric]]
        loss = scores.get(METRIC_NAMES["loss"], math.nan)
        standing = Standing(
            loss=loss,
            keys=keys_of(self.metric, scores),
            of_sample=keys_of(self.metric, scores if of_sample is None else of_sample),
            extent=extent,
        )
        learns = not (self.lowest_loss is not None and loss >= self.lowest_loss)
        if not math.isnan(loss) and learns:
            self.lowest_loss = loss
        if not math.isnan(score) and self._is_better(standing):
            self.best, self.best_update, self.best_pairs = score, update, num_pairs
            self.standing = standing
            self.num_without_improvement = 0
            if self.held is not None and standing.is_better_than(self.held.standing):
                self.held = None
            return True
        waits = is_zero(self.metric, score) and not math.isnan(loss) and learns
        if update > 0 and not waits:
            self.num_without_improvement += 1
        return False

    @property
    def in_folder(self) -> BestWeights | None:
        """The weights that the model folder holds; None before there are any."""
        if self.held is not None:
            return self.held
        if self.best is None or self.best_update is None or self.standing is None:
            return None
        return BestWeights(
            score=self.best,
            update=self.best_update,
            num_pairs=self.best_pairs,
            standing=self.standing,
        )

    def left_behind(self, update: int) -> BestWeights | None:
        """Weights in the folder that are unknown to a run which goes back to an update."""
        best = self.in_folder
        return best if best is not None and (self.held or best.update > update) else None

    @property
    def has_translated(self) -> bool:
        """Whether a look has shown that the model is worth more than looks."""
        if self.standing is None:
            return self.best is not None
        return self.standing.extent not in ("look", "cut")

    @property
    def is_exhausted(self) -> bool:
        """Whether training has waited long enough for better weights."""
        return 0 < self.patience <= self.num_without_improvement

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over what `dataclasses.asdict` made; an older mt may have known less."""
        for name in ("best", "best_update", "best_pairs", "num_without_improvement", "lowest_loss"):
            if name in record:
                setattr(self, name, record[name])
        standing, held = record.get("standing"), record.get("held")
        self.standing = None
        if standing is not None:
            self.standing = _standing(standing)
        elif self.best is not None:
            key = (_key(self.metric, self.best),)
            self.standing = Standing(keys=key, of_sample=key)
        self.held = None
        if held is not None:
            self.held = BestWeights(**{**held, "standing": _standing(held["standing"])})

    def _is_better(self, standing: Standing) -> bool:
        return self.standing is None or standing.is_better_than(self.standing)
