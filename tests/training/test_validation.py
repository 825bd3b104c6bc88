"""Which weights are best, when waiting ends, and how a validation set is cut into batches."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest
import torch

from mt.config import MetricName, ModelConfig
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.model.encoder_decoder import EncoderDecoder
from mt.training.batch import make_batch
from mt.training.best import METRIC_NAMES, BestTracker, Extent
from mt.training.minutes import MinutesPlan
from mt.training.progress import Progress
from mt.training.validation import validation_batches, validation_groups, validation_loss

Scores = dict[str, float]


def take_all(tracker: BestTracker, scores: list[Scores], extent: Extent = "whole") -> list[int]:
    """The updates, counted from 1, that were best; ends where the tracker is exhausted."""
    best = []
    for update, each in enumerate(scores, start=1):
        if tracker.take(each, update, extent=extent):
            best.append(update)
        if tracker.is_exhausted:
            break
    return best


@pytest.mark.parametrize(
    ("scores", "metric", "patience", "best", "waited"),
    [
        ([1.0, 0.9, 0.95, 0.96, 0.5], "loss", 2, [1, 2], 2),
        ([10, 12, 11, 12, 13], "bleu", 3, [1, 2, 5], 0),
        ([1.0, 1.1], "loss", 1, [1], 1),
        ([10, 10, 10], "chrf", 2, [1], 2),
        ([5, 4, 3, 2, 1, 0.5], "exact", 0, [1], 5),
        ([90, 80, 85], "ser", 0, [1, 2], 1),
    ],
)
def test_patience_counts_validations_in_a_row_without_a_better_score(
    scores: list[float], metric: MetricName, patience: int, best: list[int], waited: int
) -> None:
    tracker = BestTracker(metric=metric, patience=patience)
    assert take_all(tracker, [{METRIC_NAMES[metric]: score} for score in scores]) == best
    assert tracker.num_without_improvement == waited


@pytest.mark.parametrize("first", [2.0, math.nan])
def test_nan_is_never_better_and_counts_against_patience(first: float) -> None:
    tracker = BestTracker(metric="loss", patience=9)
    took = [tracker.take({"loss": loss}, i) for i, loss in enumerate([first, math.nan, 1.5])]
    assert took == [not math.isnan(first), False, True]
    assert tracker.best_update == 2
    assert BestTracker(metric="loss", patience=1).take({"loss": math.nan}, 1) is False


@pytest.mark.parametrize(
    ("metric", "scores", "best"),
    [
        ("bleu", [(0.001, 9.0, 6.2), (0.003, 9.0, 5.5), (0.0, 9.0, 4.8)], [1, 2, 3]),
        ("bleu", [(0.0, 9.0, 6.2), (0.0, 8.0, 5.5), (0.0, 9.1, 7.0)], [1, 3]),
        ("bleu", [(20.001, 40.0, 2.0), (20.004, 39.0, 1.0)], [1]),
        ("bleu", [(20.0, 40.0, 2.0), (20.0, 40.0, 2.0)], [1]),
        ("chrf", [(1.0, 40.0, 2.0), (0.5, 40.001, 1.9)], [1, 2]),
        ("loss", [(1.0, 40.0, 2.0), (9.0, 50.0, 2.0)], [1]),
    ],
)
def test_equal_scores_are_decided_by_chrf_and_then_by_the_loss(
    metric: MetricName, scores: list[tuple[float, float, float]], best: list[int]
) -> None:
    """Equal is what is shown alike, to two digits."""
    tracker = BestTracker(metric=metric, patience=0)
    names = ("BLEU", "chrF2", "loss")
    assert take_all(tracker, [dict(zip(names, each, strict=True)) for each in scores]) == best


@pytest.mark.parametrize(
    ("metric", "name", "zero"),
    [("bleu", "BLEU", 0.004), ("chrf", "chrF2", 0.0), ("ser", "SER", 100)],
)
def test_scores_of_zero_use_up_no_patience_while_the_loss_falls(
    metric: MetricName, name: str, zero: float
) -> None:
    def after(losses: list[float]) -> BestTracker:
        tracker = BestTracker(metric=metric, patience=2)
        tracker.take({name: zero, "chrF2": zero, "loss": 9.0}, 1)
        assert tracker.standing is not None
        tracker.standing = dataclasses.replace(tracker.standing, keys=(1e9,))  # never beaten
        for update, loss in enumerate(losses, start=2):
            tracker.take({name: zero, "chrF2": zero, "loss": loss}, update)
        return tracker

    assert after([8.0, 7.0, 6.0]).num_without_improvement == 0
    assert after([8.0, 8.0, 8.5]).is_exhausted
    assert not after([8.0, 8.5, 7.0]).is_exhausted


def test_only_scores_of_the_same_lines_are_compared() -> None:
    tracker = BestTracker(metric="bleu", patience=0)

    def take(update: int, score: float, sample: float, extent: Extent) -> bool:
        return tracker.take(
            {"BLEU": score}, update, of_sample={"BLEU": sample}, extent=extent, num_pairs=2
        )

    assert take(1, 0.9, 0.9, "look")
    assert not take(2, 0.8, 0.8, "look")
    assert not tracker.has_translated
    assert take(3, 0.5, 0.4, "whole")  # more than a look is always better than one
    assert tracker.has_translated
    assert not take(4, 0.45, 0.39, "sample")
    assert take(5, 0.45, 0.41, "sample")  # the sample of update 3 scored less
    assert not take(6, 0.90, 0.40, "whole")  # its sample is worse, and there is nothing else
    assert take(7, 0.30, 0.42, "whole")
    assert not take(8, 0.29, 0.99, "whole")
    assert not take(9, 9.0, 9.0, "look")


def test_a_validation_that_was_cut_is_compared_by_the_loss() -> None:
    tracker = BestTracker(metric="bleu", patience=0)
    assert tracker.take({"BLEU": 9.0, "loss": 3.0}, 1, extent="cut")
    assert not tracker.has_translated
    assert not tracker.take({"BLEU": 20.0, "loss": 3.5}, 2, extent="look")
    assert tracker.take({"BLEU": 5.0, "loss": 2.5}, 3)
    assert not tracker.take({"BLEU": 50.0, "loss": 2.6}, 4, extent="cut")
    assert tracker.take({"BLEU": 1.0, "loss": 2.4}, 5, extent="cut")


def test_what_is_best_survives_a_checkpoint() -> None:
    tracker = BestTracker(metric="bleu", patience=3)
    for update, score in enumerate([3.0, 2.0], start=1):
        tracker.take({"BLEU": score, "loss": 4.0 - update}, update, extent="sample", num_pairs=2)
    restored = BestTracker(metric="bleu", patience=3)
    restored.restore(json.loads(json.dumps(dataclasses.asdict(tracker))))
    assert restored == tracker


def test_a_checkpoint_of_an_older_mt_says_enough() -> None:
    tracker = BestTracker(metric="bleu", patience=3)
    tracker.restore({"best": 20.0, "best_update": 7, "num_without_improvement": 1})
    assert not tracker.take({"BLEU": 20.0, "chrF2": 90.0, "loss": 0.1}, 8)
    assert tracker.num_without_improvement == 2
    assert tracker.take({"BLEU": 20.01, "chrF2": 1.0, "loss": 9.0}, 9)


def store_of(path: Path, lengths: list[tuple[int, int]]) -> TokenStore:
    sources = [[4 + i % 9 for i in range(source)] for source, _ in lengths]
    targets = [[4 + i % 7 for i in range(target)] for _, target in lengths]
    write_tokens(path, [TokenBlock.of(sources, targets)], vocab_size=20)
    return TokenStore(path)


def test_batches_of_a_validation_set_are_bounded_by_tokens(tmp_path: Path) -> None:
    """One line of thousands of words beside 63 others took gigabytes."""
    lengths = [(5, 5)] * 100 + [(3000, 10), (10, 3000), (700, 700), (9000, 2)]
    store = store_of(tmp_path / "p.arrow", lengths)
    groups = validation_groups(store)
    assert sorted(i for group in groups for i in group) == list(range(103))  # all but the longest
    for group in groups:
        source = max(lengths[i][0] for i in group) + 1
        target = max(lengths[i][1] for i in group) + 1
        assert len(group) == 1 or len(group) * (source + target) <= 8192
        assert len(group) <= 64


def test_the_loss_of_a_validation_set_does_not_depend_on_its_batches(tmp_path: Path) -> None:
    lengths = [(1 + i * 7 % 40, 1 + i * 11 % 30) for i in range(150)]
    store = store_of(tmp_path / "p.arrow", lengths)
    torch.manual_seed(1)
    config = ModelConfig(d_model=16, d_inner=16, encoder_layers=1, decoder_layers=1, heads=2)
    model = EncoderDecoder(config, source_vocab=20, target_vocab=20).eval()
    device = torch.device("cpu")
    total, count = validation_loss(model, validation_batches(store), device=device)
    singles = [make_batch(store, [index]) for index in range(len(lengths))]
    by_one, _ = validation_loss(model, singles, device=device)
    assert count == sum(target + 1 for _, target in lengths)
    assert total == pytest.approx(by_one, rel=1e-5)


def test_a_stop_ends_the_loss(tmp_path: Path) -> None:
    store = store_of(tmp_path / "p.arrow", [(5, 5)] * 200)
    asked: list[int] = []

    def should_stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    config = ModelConfig(d_model=16, d_inner=16, encoder_layers=1, decoder_layers=1, heads=2)
    model = EncoderDecoder(config, source_vocab=20, target_vocab=20)
    device = torch.device("cpu")
    _, count = validation_loss(
        model, validation_batches(store), device=device, should_stop=should_stop
    )
    assert count == 2 * 64 * 6


def test_the_last_validation_has_its_time_kept() -> None:
    progress = Progress(update=10)
    plan = MinutesPlan(budget=100.0, progress=progress)
    assert not plan.wants_to_know(looks_first=True)
    progress.seconds = 10.0
    assert plan.wants_to_know(looks_first=True)
    progress.validated_update, progress.validated_seconds = 10, 14.0
    progress.loss_seconds, progress.sample_seconds, progress.whole_seconds = 1.0, 3.0, 19.0
    progress.update = 50
    assert plan.reserved(looks_first=False) == pytest.approx(24.0)
    progress.seconds = 75.0
    assert not plan.is_over(looks_first=False)
    progress.seconds = 76.1
    assert plan.is_over(looks_first=False)
    progress.whole_seconds = 60.0  # too much of the budget: a sample has to do
    assert plan.reserved(looks_first=False) == pytest.approx(4.8)
    assert not plan.is_over(looks_first=False)
    assert plan.has_time(90.0, 80.0, 13.0, is_last=True)
    assert not plan.has_time(90.0, 80.0, 15.0, is_last=True)
    assert not plan.has_time(90.0, 80.0, 6.0, is_last=False)
