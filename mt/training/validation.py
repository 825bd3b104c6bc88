"""Validation: the loss on held-out pairs, and what is asked of whoever scores translations.

Those scores come from outside, as a callable: training knows neither search nor BLEU.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import torch

from mt.config import TrainingConfig
from mt.corpus.store import TokenStore
from mt.errors import DataError
from mt.model.device import fitting_in_memory, using_threads
from mt.model.translation_model import TranslationModel
from mt.training.batch import Batch, make_batch
from mt.training.best import Extent
from mt.training.distributed import Ranks
from mt.training.loss import projected_cross_entropy

_PAIRS_PER_BATCH = 64
_TOKENS_PER_BATCH = 8192  # padded, of both sides
_LONGEST = 4096  # tokens of a side; the memory of attention grows by their square
DIVERGED_LOSS = 1000.0
"""Nats a token that no model has; to know nothing costs about 10."""
_LEAST_INTERVAL, _MOST_INTERVAL = 1000, 5000  # updates between validations when not given


class DivergedError(Exception):
    """The weights predict nothing any more."""


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
    also: dict[str, dict[str, float]] = field(default_factory=dict)
    """Scores of each further set, which decides nothing."""
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Mean and half width of 95 % of bootstrap samples of scores, by name."""
    extent: Extent = "whole"
    """What part of the validation set the scores are of."""
    of_sample: dict[str, float] | None = None
    """Scores of the fixed sample, where `scores` are of more."""
    num_pairs: int | None = None
    """How many pairs were translated; None for all."""
    num_all_pairs: int | None = None
    """Pairs of the validation set."""
    loss_seconds: float = 0.0
    """What the loss took, and in the end what does not depend on the time that is left."""
    also_seconds: float = 0.0
    """What further sets took."""
    look_seconds: float = 0.0
    """What the look took; 0 where there was none."""
    sample_seconds: float = 0.0
    """What the search of the fixed sample takes, and of all of them."""
    whole_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ValidationTask:
    """What is asked of a validator, beside the scores of the weights that the model holds."""

    looks_first: bool = False
    """Whether a look at a sample is to show if the model is worth translating the whole set."""
    is_timed: bool = False
    """Whether the run has a budget in minutes, so that sets of any size are looked at first."""
    has_time: Callable[[float], bool] = lambda seconds: True
    """Whether there is time for so many seconds more; if not, the sample has to do."""
    should_stop: Callable[[], bool] = lambda: False
    """Asked about once a second; True ends the validation without scores."""
    report: Callable[[int, int], None] = lambda done, total: None
    """Called with how many lines are done, and of how many."""


Validator = Callable[[ValidationTask], TranslationScores | None]
"""Gives None where it was asked to stop."""


def validation_interval(config: TrainingConfig, updates_per_epoch: int) -> int:
    """Updates between validations: as many as are set, else about those of an epoch."""
    if config.validate_every is not None:
        return config.validate_every
    return min(max(updates_per_epoch, _LEAST_INTERVAL), _MOST_INTERVAL)


def validation_batches(store: TokenStore, ranks: Ranks | None = None) -> Iterator[Batch]:
    """The pairs of a validation set in batches of like lengths; the share of a rank of them."""
    groups = validation_groups(store)
    for group in groups if ranks is None else ranks.share(groups):
        yield make_batch(store, group)


def validation_groups(store: TokenStore) -> list[list[int]]:
    """Pairs of like lengths that are computed together, bounded by number and padded tokens.

    A longer pair than `_LONGEST` is in none: it would need more memory than a machine has.
    """
    groups: list[list[int]] = []
    sides = [0, 0]
    for index in store.target_lengths.argsort(kind="stable").tolist():
        lengths = [int(store.source_lengths[index]) + 1, int(store.target_lengths[index]) + 1]
        if max(lengths) > _LONGEST:
            continue
        widest = [max(pair) for pair in zip(sides, lengths, strict=True)]
        count = len(groups[-1]) + 1 if groups else 0
        if not groups or count > _PAIRS_PER_BATCH or count * sum(widest) > _TOKENS_PER_BATCH:
            groups.append([])
            widest = lengths
        groups[-1].append(index)
        sides = widest
    return groups


@torch.no_grad()
def validation_loss(
    model: TranslationModel,
    batches: Iterable[Batch],
    *,
    device: torch.device,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[float, int]:
    """Summed cross-entropy in nats, without smoothing, in float32; and the number of tokens.

    What comes after a stop is left out. Raises DeviceMemoryError for a batch that does not fit in
    the memory of the device.
    """
    total = 0.0
    num_tokens = 0
    for batch in batches:
        if should_stop():
            break
        with fitting_in_memory(
            f"a batch of {len(batch.source)} validation pairs of up to {batch.source.size(1)} "
            f"source and {batch.target.size(1)} target tokens",
            hint="Leave the longest pairs out of --dev, or take a smaller --preset",
        ):
            batch = batch.to(device)
            hidden = model(batch.source, batch.source_mask, batch.target)
            loss, count = projected_cross_entropy(
                hidden.flatten(0, 1).index_select(0, batch.label_indices),
                model.output_weight,
                batch.labels,
                bias=model.output_bias,
            )
            total += float(loss)
        num_tokens += count
    return total, num_tokens


def score_weights(
    model: TranslationModel,
    dev: TokenStore,
    validator: Validator,
    task: ValidationTask,
    *,
    device: torch.device,
    ranks: Ranks,
) -> TranslationScores | None:
    """What `validator` says of the weights that `model` holds, with their "loss" on `dev`.

    None where it was asked to stop. Raises DivergedError, before anything is translated, where the
    loss is no loss of a model, and DataError where there is no pair to compute it of.
    """
    begun = time.monotonic()
    batches = validation_batches(dev, ranks)
    # One thread beside a busy program is faster than several that meet at barriers.
    with using_threads(1):
        mine = validation_loss(model, batches, device=device, should_stop=task.should_stop)
    total, num_tokens, num_stopped = ranks.summed(*mine, task.should_stop())
    if num_stopped:
        return None
    if not num_tokens:
        raise DataError(f"no pair of the validation set has at most {_LONGEST} tokens a side")
    loss = total / num_tokens
    if not loss < DIVERGED_LOSS:  # NaN, too; of the sum all ranks say the same
        raise DivergedError(f"the loss on the validation set is {loss:g}")
    loss_seconds = time.monotonic() - begun
    translated = validator(task)
    if translated is None:
        return None
    of_sample = {"loss": loss, **(translated.of_sample or translated.scores)}
    scores = {"loss": loss, **translated.scores}
    return dataclasses.replace(
        translated,
        scores=scores,
        of_sample=of_sample,
        loss_seconds=loss_seconds + translated.also_seconds,
    )
