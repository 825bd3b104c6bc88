"""Samples under constraints and prefixes, and of ensembles, against enumerated distributions."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch

from mt.config import SamplingConfig, SearchConfig
from mt.search.constrained.phrases import Phrase, WordEdges
from mt.search.ensemble import Ensemble
from mt.search.hypothesis import Hypothesis, SearchResult
from mt.search.penalty import length_penalty
from mt.search.scheduler import Group, search_groups
from mt.search.sentence import Demands
from mt.search.step import StepModel
from tests.search.constraint_oracle import (
    SETTINGS,
    Tokens,
    every_allowed,
    may_end_in,
    one_token_sources,
    settings_of,
)
from tests.search.table_model import END, START, SYMBOLS, TableModel, random_table

LIMIT = 4


def drawn(
    model: StepModel[Any],
    sampling: SamplingConfig,
    *,
    prefixes: Sequence[Tokens] = ((),),
    groups: Sequence[Sequence[int]] | None = None,
    capacity: int = 100,
    config: SearchConfig | None = None,
) -> list[tuple[Hypothesis, ...]]:
    """Samples of as many sentences as there are prefixes, each with a stream of its own."""
    count = len(prefixes)
    source, mask = one_token_sources(count)
    found: dict[int, SearchResult] = dict(
        search_groups(
            model,
            [
                Group(
                    keys=keys,
                    source=source[list(keys)],
                    source_mask=mask[list(keys)],
                    demands=[Demands(prefix=prefixes[key], random_stream=(key,)) for key in keys],
                )
                for keys in groups or [range(count)]
            ],
            symbols=SYMBOLS,
            config=config or settings_of(beam=1, limit=LIMIT),
            capacity=capacity,
            sampling=sampling,
        )
    )
    return [found[key].hypotheses for key in range(count)]


def probabilities(
    model: TableModel, allowed: set[Tokens], start: Tokens = ()
) -> dict[Tokens, float]:
    """What is drawn from `allowed`: at each step the model's distribution over what may follow."""
    found: dict[Tokens, float] = {}

    def beyond(tokens: Tokens, p: float) -> None:
        following = {each[len(tokens)] for each in allowed if is_longer(each, tokens)}
        following |= {END} if tokens in allowed else set()
        given = model.logits[0, min(len(tokens), model.logits.size(1) - 1), (START, *tokens)[-1]]
        weights = {token: math.exp(float(given[token])) for token in following}
        for token, weight in weights.items():
            q = p * weight / sum(weights.values())
            if token == END:
                found[tokens] = q
            else:
                beyond((*tokens, token), q)

    beyond(start, 1.0)
    return found


def is_longer(tokens: Tokens, start: Tokens) -> bool:
    return len(tokens) > len(start) and tokens[: len(start)] == start


def check_frequencies(found: Sequence[Hypothesis], expected: Mapping[Tokens, float]) -> None:
    """Each sequence about as often as expected, and no other.

    By Bernstein's inequality a number is beyond these bounds with a probability below 1e-6.
    """
    number = Counter(hypothesis.tokens for hypothesis in found)
    assert sum(expected.values()) == pytest.approx(1)
    assert set(number) <= set(expected)
    for tokens, p in expected.items():
        mean = len(found) * p
        assert abs(number[tokens] - mean) <= 5 + math.sqrt(25 + 30 * mean * (1 - p))


@pytest.mark.parametrize("prefix", [(), (3,), (2, 2, 4)])
@pytest.mark.parametrize("values", [{}, *SETTINGS])
def test_what_may_follow_comes_as_often_as_the_model_says(
    values: Mapping[str, float], prefix: Tokens
) -> None:
    """All sequences that constraints and the prefix allow, and none besides."""
    model = random_table(sentences=1, length=LIMIT + 1, vocabulary=5, seed=7)
    config = settings_of(values, beam=1, limit=LIMIT)
    allowed = set(every_allowed(5, LIMIT, config, prefix))
    sampling = SamplingConfig(samples=8_000, seed=2)
    (found,) = drawn(model, sampling, prefixes=[prefix], config=config)
    check_frequencies(found, probabilities(model, allowed, prefix))


@pytest.mark.parametrize("values", SETTINGS)
@pytest.mark.parametrize("filters", [{"temperature": 2.0}, {"top_k": 2, "top_p": 0.9}])
def test_no_sample_breaks_a_constraint_and_its_score_is_the_forced_score(
    values: Mapping[str, float], filters: Mapping[str, Any]
) -> None:
    """The price of all its tokens, those of the prefix and those left to draw from included."""
    prefixes = [(), (3,), (4, 2), (5,), (), (2, 2)]
    model = random_table(sentences=len(prefixes), length=9, vocabulary=7, seed=3)
    config = settings_of(values, beam=1, limit=8, kind=("gnmt", 0.6))
    found = drawn(model, SamplingConfig(samples=20, **filters), prefixes=prefixes, config=config)
    for sentence, (prefix, samples) in enumerate(zip(prefixes, found, strict=True)):
        assert len(samples) == 20
        for each in samples:
            assert each.tokens[: len(prefix)] == prefix
            for length in range(len(prefix) + 1, len(each.tokens) + 1):
                assert may_end_in(each.tokens[:length], config)
            forced = model.log_probability(sentence, each.tokens)
            divisor = length_penalty("gnmt", 0.6, len(each.tokens) + 1)
            assert each.log_probability == pytest.approx(forced, abs=1e-4)
            assert each.score == pytest.approx(forced / divisor, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("capacity", [1, 3, 40])
def test_the_rest_of_a_batch_changes_no_sample(seed: int, capacity: int) -> None:
    """Sentences with prefixes and without, in any order, refilled or not."""
    count = 23
    draw = random.Random(seed)
    prefixes = [tuple(draw.choices(range(2, 9), k=draw.randint(0, 5))) for _ in range(count)]
    model = random_table(sentences=count, length=6, vocabulary=9, seed=seed)
    sampling = SamplingConfig(samples=3, top_p=0.9, seed=seed)
    values = {"no_repeat_ngram": 2, "max_repeats": 1, "min_length_ratio": 4.0}
    config = settings_of(values, beam=1, limit=9)
    together = drawn(model, sampling, prefixes=prefixes, config=config)
    keys, groups = draw.sample(range(count), count), []
    while keys:
        size = draw.randint(1, 6)
        taken, keys = keys[:size], keys[size:]
        groups.append(taken)
    found = drawn(
        model, sampling, prefixes=prefixes, groups=groups, capacity=capacity, config=config
    )
    assert found == together


def test_an_ensemble_is_drawn_from_by_the_mean_of_its_probabilities() -> None:
    members = [random_table(sentences=1, length=4, vocabulary=5, seed=seed) for seed in (1, 2)]
    mean = torch.stack([each.logits.softmax(dim=-1) for each in members]).mean(dim=0)
    allowed = set(every_allowed(5, 3, settings_of(beam=1, limit=3)))
    (found,) = drawn(
        Ensemble(members),
        SamplingConfig(samples=20_000),
        config=settings_of(beam=1, limit=3),
    )
    averaged = TableModel(mean.log())
    check_frequencies(found, probabilities(averaged, allowed))
    for each in found[:50]:
        forced = averaged.log_probability(0, each.tokens)
        assert each.log_probability == pytest.approx(forced, abs=1e-4)


def test_a_prefix_beyond_the_bound_is_the_whole_sample() -> None:
    model = random_table(sentences=1, length=4, vocabulary=5, seed=1)
    prefix = (2, 3, 4, 2, 3)
    (found,) = drawn(model, SamplingConfig(samples=3), prefixes=[prefix])
    assert {each.tokens for each in found} == {prefix}
    assert all(each.hit_limit for each in found)


@pytest.mark.parametrize("filters", [{}, {"top_k": 2, "top_p": 0.5, "temperature": 0.5}])
def test_what_the_model_holds_for_impossible_ends_a_sample_at_no_probability(
    filters: Mapping[str, Any],
) -> None:
    """In its prefix with the whole of it, at the bound as it is; other sentences are as ever."""
    model = random_table(sentences=3, length=6, vocabulary=5, seed=4)
    model.logits[0, :, :, 3] = -math.inf
    model.logits[1, :, :, END] = -math.inf
    prefixes: list[Tokens] = [(2, 3, 4), (), ()]
    found = drawn(model, SamplingConfig(samples=4, **filters), prefixes=prefixes)
    assert {each.tokens for each in found[0]} == {(2, 3, 4)}
    assert {len(each.tokens) for each in found[1]} == {LIMIT}
    assert {each.score for samples in found[:2] for each in samples} == {-math.inf}
    assert all(each.score > -math.inf for each in found[2])


def test_phrases_are_refused() -> None:
    source, mask = one_token_sources(1)
    edges = WordEdges(begins_inside=bytes(5), begins_apart=b"\1" * 5, ends_inside=bytes(5))
    phrase = Phrase(alternatives=((2, 3),), edges=edges)
    demands = [Demands(phrases=(phrase,))]
    group = Group(keys=[0], source=source, source_mask=mask, demands=demands)
    results = search_groups(
        random_table(sentences=1, length=4, vocabulary=5, seed=1),
        [group],
        symbols=SYMBOLS,
        config=settings_of(beam=1, limit=LIMIT),
        capacity=1,
        sampling=SamplingConfig(),
    )
    with pytest.raises(ValueError, match="cannot demand phrases"):
        next(results)
