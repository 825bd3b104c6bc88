"""The sampler yields each pair once, keeps its budget, and finds its place again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.corpus.sampler import BatchSampler
from mt.errors import ConfigError

LENGTHS = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=200)


def sampler_of(lengths: list[tuple[int, int]], *, budget: int, seed: int = 1) -> BatchSampler:
    source, target = (np.array(side, dtype=np.int32) for side in zip(*lengths, strict=True))
    return BatchSampler(source, target, max_tokens=budget, seed=seed)


@given(LENGTHS, st.integers(1, 300), st.integers(0, 3))
def test_each_pair_comes_once_within_the_budget(
    lengths: list[tuple[int, int]], budget: int, epoch: int
) -> None:
    batches = sampler_of(lengths, budget=budget).epoch(epoch)
    assert sorted(i for batch in batches for i in batch.tolist()) == list(range(len(lengths)))
    for batch in batches:
        longest = max(max(lengths[i]) for i in batch.tolist())
        assert len(batch) == 1 or longest * len(batch) <= budget


@given(LENGTHS, st.integers(0, 3))
def test_an_epoch_follows_from_seed_and_number_alone(
    lengths: list[tuple[int, int]], epoch: int
) -> None:
    one, other = (sampler_of(lengths, budget=64).epoch(epoch) for _ in range(2))
    assert [batch.tolist() for batch in one] == [batch.tolist() for batch in other]


def test_epochs_and_seeds_differ() -> None:
    lengths = [(i % 9 + 1, i % 7 + 1) for i in range(300)]
    orders = {
        tuple(sampler_of(lengths, budget=64, seed=seed).epoch(epoch)[0].tolist())
        for seed in (1, 2)
        for epoch in (0, 1, 2)
    }
    assert len(orders) == 6


def test_little_of_a_batch_is_padding() -> None:
    random = np.random.default_rng(0)
    lengths = [
        (int(n), int(n + d))
        for n, d in zip(random.integers(5, 40, 5000), random.integers(0, 4, 5000), strict=True)
    ]
    batches = sampler_of(lengths, budget=1000).epoch(0)
    padded = sum(len(b) * max(lengths[i][1] for i in b.tolist()) for b in batches)
    assert padded < 1.05 * sum(target for _, target in lengths)


def test_nothing_to_sample_from_is_refused() -> None:
    empty = np.zeros(0, dtype=np.int32)
    with pytest.raises(ValueError, match="no pairs"):
        BatchSampler(empty, empty, max_tokens=5, seed=0)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.0, 2.5]), min_size=4, max_size=4),
    st.integers(0, 2),
)
def test_weights_say_how_often_the_pairs_of_a_corpus_come(
    sizes: list[int], weights: list[float], epoch: int
) -> None:
    origins = np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)
    lengths = np.arange(len(origins), dtype=np.int32) % 7 + 1
    weights = weights[: len(sizes)]
    expected = [int(w) * n + round(w % 1 * n) for w, n in zip(weights, sizes, strict=True)]
    if not sum(expected):
        with pytest.raises(ConfigError, match="no pair"):
            BatchSampler(lengths, lengths, max_tokens=20, seed=1, origins=origins, weights=weights)
        return
    sampler = BatchSampler(
        lengths, lengths, max_tokens=20, seed=1, origins=origins, weights=weights
    )
    drawn = np.concatenate(sampler.epoch(epoch))
    assert np.bincount(origins[drawn], minlength=len(sizes)).tolist() == expected
    times = np.bincount(drawn, minlength=len(origins))
    for origin, weight in enumerate(weights):
        assert set(times[origins == origin].tolist()) <= {int(weight), int(weight) + 1}


def test_epochs_draw_other_shares_of_a_corpus() -> None:
    lengths = np.ones(100, dtype=np.int32)
    origins = np.zeros(100, dtype=np.uint16)
    sampler = BatchSampler(lengths, lengths, max_tokens=9, seed=1, origins=origins, weights=[0.5])
    first, second = (set(np.concatenate(sampler.epoch(e)).tolist()) for e in (0, 1))
    assert len(first) == len(second) == 50
    assert first != second
