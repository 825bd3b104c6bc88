"""Samples against enumerated distributions, greedy search, forced scores, and other batches."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest
import torch

from mt.config import SamplingConfig, SearchConfig
from mt.errors import ModelNumbersError
from mt.search.hypothesis import Hypothesis, SearchResult
from mt.search.penalty import length_penalty
from mt.search.scheduler import Group, beam_search, search_groups
from mt.search.sentence import Demands
from tests.search.table_model import (
    END,
    START,
    SYMBOLS,
    TableModel,
    random_table,
    sources,
)


def group_of(keys: Sequence[int]) -> Group:
    """Sentences of a table model, each with a stream of its own."""
    source, mask = sources(max(keys) + 1)
    return Group(
        keys=keys,
        source=source[list(keys)],
        source_mask=mask[list(keys)],
        demands=[Demands(random_stream=(key,)) for key in keys],
    )


def sample(
    model: TableModel,
    sampling: SamplingConfig,
    *,
    sentences: int = 1,
    groups: Sequence[Sequence[int]] | None = None,
    capacity: int = 100,
    **search: object,
) -> list[tuple[Hypothesis, ...]]:
    found: dict[int, SearchResult] = dict(
        search_groups(
            model,
            [group_of(keys) for keys in groups or [range(sentences)]],
            symbols=SYMBOLS,
            config=SearchConfig(**{"max_length": 4, **search}),  # type: ignore[arg-type]
            capacity=capacity,
            sampling=sampling,
        )
    )
    return [found[key].hypotheses for key in range(sentences)]


def step_distribution(
    model: TableModel, position: int, last: int, top_k: int | None
) -> torch.Tensor:
    """What follows `last`, of the `top_k` most probable tokens."""
    p = torch.softmax(model.logits[0, position, last].double(), dim=0)
    if top_k is not None:
        p = torch.where(p >= p.topk(top_k).values[-1], p, 0.0)
    return p / p.sum()


@pytest.mark.parametrize("top_k", [None, 2])
@pytest.mark.parametrize("seed", range(3))
def test_whole_samples_come_as_often_as_the_model_says(top_k: int | None, seed: int) -> None:
    """Each of all sequences of at most 3 words: within five standard deviations of its mean."""
    model = random_table(sentences=1, length=4, vocabulary=5, seed=seed)
    count = 20_000
    (found,) = sample(model, SamplingConfig(samples=count, top_k=top_k, seed=seed), max_length=3)
    number = Counter(hypothesis.tokens for hypothesis in found)
    total = 0.0
    for length in range(4):
        for tokens in itertools.product([2, 3, 4], repeat=length):
            p, last = 1.0, START
            for position, token in enumerate((*tokens, END)):
                if position < 3:  # at the bound the end follows for sure
                    p *= float(step_distribution(model, position, last, top_k)[token])
                last = token
            total += p
            assert abs(number[tokens] - count * p) <= 5 * math.sqrt(count * p * (1 - p)) + 1e-9
    assert total == pytest.approx(1)


@pytest.mark.parametrize(
    "sampling", [SamplingConfig(top_k=1, samples=3), SamplingConfig(temperature=0.001, samples=3)]
)
def test_top_k_of_one_and_a_low_temperature_give_what_greedy_search_gives(
    sampling: SamplingConfig,
) -> None:
    model = random_table(sentences=30, length=9, vocabulary=8, seed=1)
    config = SearchConfig(beam=1, max_length=8)
    greedy = beam_search(model, *sources(30), symbols=SYMBOLS, config=config)
    found = sample(model, sampling, sentences=30, max_length=8)
    for samples, result in zip(found, greedy, strict=True):
        assert [each.tokens for each in samples] == [result.hypotheses[0].tokens] * 3
        assert samples[0].hit_limit == result.hypotheses[0].hit_limit


@pytest.mark.parametrize(
    "sampling",
    [
        SamplingConfig(samples=4),
        SamplingConfig(samples=4, temperature=3.0),
        SamplingConfig(samples=4, top_k=2, top_p=0.8, temperature=0.7),
    ],
)
def test_every_reported_score_is_the_forced_score(sampling: SamplingConfig) -> None:
    """Of the model as it is: without temperature and filters."""
    model = random_table(sentences=6, length=9, vocabulary=7, seed=3)
    found = sample(model, sampling, sentences=6, length_penalty="gnmt", alpha=0.6, max_length=8)
    for sentence, samples in enumerate(found):
        for each in samples:
            forced = model.log_probability(sentence, each.tokens)
            divisor = length_penalty("gnmt", 0.6, len(each.tokens) + 1)
            assert each.log_probability == pytest.approx(forced, abs=1e-4)
            assert each.score == pytest.approx(forced / divisor, abs=1e-4)
            assert each.hit_limit == (len(each.tokens) == 8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("capacity", [1, 3, 40])
@pytest.mark.parametrize("samples", [1, 5])
def test_groups_and_room_change_no_sample(seed: int, capacity: int, samples: int) -> None:
    """Sentences come in any order, alone or together, and take the rows of those that are done."""
    count = 23
    model = random_table(sentences=count, length=6, vocabulary=9, seed=seed)
    sampling = SamplingConfig(samples=samples, top_p=0.9, seed=seed)
    together = sample(model, sampling, sentences=count, max_length=9)
    draw = random.Random(seed)
    keys = draw.sample(range(count), count)
    groups = []
    while keys:
        size = draw.randint(1, 6)
        groups.append(keys[:size])
        keys = keys[size:]
    found = sample(model, sampling, sentences=count, groups=groups, capacity=capacity, max_length=9)
    assert found == together


def test_more_samples_begin_with_fewer() -> None:
    model = random_table(sentences=5, length=6, vocabulary=9, seed=2)
    few = sample(model, SamplingConfig(samples=3), sentences=5)
    many = sample(model, SamplingConfig(samples=17), sentences=5)
    assert [samples[:3] for samples in many] == few


def test_a_seed_draws_the_same_and_another_something_else() -> None:
    model = random_table(sentences=10, length=6, vocabulary=9, seed=2)
    runs = [sample(model, SamplingConfig(seed=seed), sentences=10) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert sum(one != other for one, other in zip(runs[0], runs[2], strict=True)) >= 5


def test_equal_sentences_of_different_streams_have_different_samples() -> None:
    table = random_table(sentences=1, length=6, vocabulary=9, seed=2)
    model = TableModel(table.logits.expand(20, -1, -1, -1))
    found = sample(model, SamplingConfig(samples=2), sentences=20)
    assert len({tuple(each.tokens for each in samples) for samples in found}) >= 15
    assert sum(samples[0].tokens != samples[1].tokens for samples in found) >= 10


def test_a_model_that_gives_no_number_is_refused() -> None:
    model = TableModel(torch.full((1, 1, 4, 4), math.nan))
    with pytest.raises(ModelNumbersError, match="NaN"):
        sample(model, SamplingConfig())


def test_a_sample_that_finds_no_way_on_ends_as_it_is() -> None:
    """No end, and no word twice: behind the last word nothing is left to be drawn."""
    logits = torch.zeros(1, 1, 5, 5)
    logits[..., [START, END]] = -math.inf
    config = SamplingConfig(samples=40, seed=3)
    (found,) = sample(TableModel(logits), config, no_repeat_ngram=1, max_length=9)
    assert {tuple(sorted(each.tokens)) for each in found} == {(2, 3, 4)}
    assert len({each.tokens for each in found}) == 6
    assert {each.log_probability for each in found} == {-math.inf}
