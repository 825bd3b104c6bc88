"""Validation: the loss on held-out pairs, which weights are best, and when to stop waiting.

Scores of translations come from outside, as a callable: training knows neither search nor BLEU.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import torch

from mt.config import Metric, TrainingConfig
from mt.corpus.store import TokenStore
from mt.model.device import fitting_in_memory, using_threads
from mt.model.translation_model import TranslationModel
from mt.train.batch import Batch, make_batch
from mt.train.distributed import Ranks
from mt.train.loss import projected_cross_entropy

METRIC_NAMES: dict[Metric, str] = {
    "bleu": "BLEU",
    "chrf": "chrF2",
    "loss": "loss",
    "exact": "exact",
    "ser": "SER",
}
"""What the metrics of the settings are called among scores."""
SMALLER_IS_BETTER: frozenset[Metric] = frozenset({"loss", "ser"})
_PAIRS_PER_BATCH = 64
_LEAST_INTERVAL, _MOST_INTERVAL = 1000, 5000  # updates between validations when not given


@dataclass(frozen=True, kw_only=True)
class TranslationScores:
    """What a validator says of the weights that the model holds."""

    scores: dict[str, float]
    """By name, for example "BLEU" and "chrF2"."""
    signatures: dict[str, str]
    samples: tuple[tuple[str, str, str], ...] = ()
    """A few (source, hypothesis, reference) triples."""
    by_origin: dict[str, dict[str, float]] = field(default_factory=dict)
    """Scores of each corpus of the validation set, where it has several."""
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Mean and half width of 95 % of bootstrap samples of scores, by name."""


Validator = Callable[[], TranslationScores]


def validation_interval(config: TrainingConfig, updates_per_epoch: int) -> int:
    """Updates between validations: as many as are set, else about those of an epoch."""
    if config.validate_every is not None:
        return config.validate_every
    return min(max(updates_per_epoch, _LEAST_INTERVAL), _MOST_INTERVAL)


def validation_batches(store: TokenStore, ranks: Ranks | None = None) -> Iterator[Batch]:
    """The pairs of a validation set in batches of like lengths; the share of a rank of them."""
    order = store.target_lengths.argsort(kind="stable").tolist()
    starts = range(0, len(order), _PAIRS_PER_BATCH)
    for start in starts if ranks is None else ranks.share(starts):
        yield make_batch(store, order[start : start + _PAIRS_PER_BATCH])


@torch.no_grad()
def validation_loss(
    model: TranslationModel, batches: Iterable[Batch], *, device: torch.device
) -> tuple[float, int]:
    """Summed cross-entropy in nats, without smoothing, in float32; and the number of tokens.

    Raises DeviceMemoryError for a batch that does not fit in the memory of the device.
    """
    total = 0.0
    num_tokens = 0
    for batch in batches:
        with fitting_in_memory(
            f"a batch of {len(batch.source)} validation pairs of up to {batch.source.size(1)} "
            f"source and {batch.target.size(1)} target tokens",
            hint="Leave the longest pairs out of --dev, or take a smaller --preset",
        ):
            batch = batch.to(device)
            hidden = model(batch.source, batch.source_mask, batch.target)
            loss, count = projected_cross_entropy(
                hidden.flatten(0, 1).index_select(0, batch.places),
                model.output_weight,
                batch.labels,
            )
            total += float(loss)
        num_tokens += count
    return total, num_tokens


def score_weights(
    model: TranslationModel,
    dev: TokenStore,
    validator: Validator,
    *,
    device: torch.device,
    ranks: Ranks,
) -> TranslationScores:
    """What `validator` says of the weights that `model` holds, with their "loss" on `dev`."""
    # One thread beside a busy program is faster than several that meet at barriers.
    with using_threads(1):
        mine = validation_loss(model, validation_batches(dev, ranks), device=device)
    total, num_tokens = ranks.summed(*mine)
    translated = validator()
    scores = {"loss": total / num_tokens, **translated.scores}
    return dataclasses.replace(translated, scores=scores)


@dataclass(kw_only=True)
class BestTracker:
    """Remembers the best score and how long it has stood.

    A score that is not a number is never better, and counts as a validation without improvement.
    The weights that a run starts from (update 0) set the score to beat and use up no patience.
    """

    smaller_is_better: bool
    patience: int
    """Validations in a row without improvement that exhaust it; 0 is endless."""
    best: float | None = None
    best_update: int | None = None
    num_without_improvement: int = field(default=0)

    def take(self, score: float, update: int) -> bool:
        """Note the score of a validation; True if it is the best so far."""
        if not math.isnan(score) and (self.best is None or self._is_better(score)):
            self.best = score
            self.best_update = update
            self.num_without_improvement = 0
            return True
        if update > 0:
            self.num_without_improvement += 1
        return False

    @property
    def is_exhausted(self) -> bool:
        """Whether training has waited long enough for a better score."""
        return 0 < self.patience <= self.num_without_improvement

    def _is_better(self, score: float) -> bool:
        assert self.best is not None
        return score < self.best if self.smaller_is_better else score > self.best
