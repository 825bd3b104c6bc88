"""What may follow: constraints against their definitions, and search against brute force."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import LengthPenalty, SearchConfig
from mt.errors import ConfigError
from mt.search.constrained.constraints import (
    LONGEST_LOOP,
    Constraint,
    MinimumLength,
    NoLoop,
    NoRepeatedNgram,
)
from mt.search.hypothesis import FinishedHypotheses, Hypothesis, SearchResult
from mt.search.penalty import length_penalty
from mt.search.scheduler import Group, beam_search, search_groups
from mt.search.sentence import NO_DEMANDS, Demands, Sentence
from tests.search.constraint_oracle import (
    SETTINGS,
    Tokens,
    every_allowed,
    loops,
    may_end_in,
    one_token_sources,
    repeats_ngram,
    settings_of,
)
from tests.search.table_model import END, START, SYMBOLS, TableModel, random_table

PENALTIES: list[tuple[LengthPenalty, float]] = [("none", 1.0), ("mean", 1.0), ("gnmt", 0.6)]


def search(
    model: TableModel, count: int, config: SearchConfig, *prefixes: Tokens
) -> list[SearchResult]:
    demands = [Demands(prefix=prefix) for prefix in prefixes] or [NO_DEMANDS] * count
    return beam_search(
        model, *one_token_sources(count), symbols=SYMBOLS, config=config, demands=demands
    )


def check_against_all(
    model: TableModel,
    sentence: int,
    found: SearchResult,
    allowed: Iterator[Tokens],
    config: SearchConfig,
) -> None:
    """The n best found are those of all that are allowed, at the model's score."""
    scored = sorted(
        (
            model.log_probability(sentence, tokens)
            / length_penalty(config.length_penalty, config.alpha, len(tokens) + 1),
            tokens,
        )
        for tokens in allowed
    )
    expected = scored[::-1][: config.n_best]
    assert [h.tokens for h in found.hypotheses] == [tokens for _, tokens in expected]
    scores = [score for score, _ in expected]
    assert [h.score for h in found.hypotheses] == pytest.approx(scores, rel=1e-5)


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("values", SETTINGS, ids=str)
@pytest.mark.parametrize("vocabulary", [3, 4])
@pytest.mark.parametrize("seed", range(2))
def test_a_wide_beam_finds_the_best_of_all_that_is_allowed(
    kind: tuple[LengthPenalty, float], values: dict[str, float], vocabulary: int, seed: int
) -> None:
    limit = 5
    model = random_table(sentences=2, length=6, vocabulary=vocabulary, seed=seed)
    config = settings_of(values, beam=vocabulary**limit, n_best=6, limit=limit, kind=kind)
    allowed = list(every_allowed(vocabulary, limit, config))
    assert len(allowed) < sum((vocabulary - 2) ** length for length in range(limit + 1))
    for sentence, found in enumerate(search(model, 2, config)):
        check_against_all(model, sentence, found, iter(allowed), config)


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("values", [{}, *SETTINGS], ids=str)
@pytest.mark.parametrize(
    "prefixes", [((2,), (3, 3)), ((3, 2, 3, 2), ()), ((2, 2, 2, 2, 2), (2, 3, 3, 3, 2, 3, 2))]
)
def test_a_wide_beam_finds_the_best_of_all_with_the_prefix(
    kind: tuple[LengthPenalty, float], values: dict[str, float], prefixes: tuple[Tokens, Tokens]
) -> None:
    """Also where a prefix itself does what is forbidden, and where it goes beyond the bound."""
    vocabulary, limit = 4, 5
    model = random_table(sentences=2, length=8, vocabulary=vocabulary, seed=7)
    config = settings_of(values, beam=vocabulary**limit, n_best=6, limit=limit, kind=kind)
    results = search(model, 2, config, *prefixes)
    for sentence, (found, prefix) in enumerate(zip(results, prefixes, strict=True)):
        allowed = every_allowed(vocabulary, max(limit, len(prefix)), config, prefix)
        check_against_all(model, sentence, found, allowed, config)
        for hypothesis in found.hypotheses:
            is_at_limit = len(hypothesis.tokens) == max(limit, len(prefix))
            assert hypothesis.hit_limit == is_at_limit


@pytest.mark.parametrize("values", [{}, *SETTINGS], ids=str)
@pytest.mark.parametrize("prefix", [(), (4, 2), (3, 3, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_beam_one_takes_the_best_token_that_is_allowed(
    values: dict[str, float], prefix: Tokens, seed: int
) -> None:
    limit, vocabulary = 9, 6
    model = random_table(sentences=1, length=10, vocabulary=vocabulary, seed=seed)
    config = settings_of(values, beam=1, limit=limit)
    tokens = prefix
    while len(tokens) < limit:
        scores = model.logits[0, len(tokens), tokens[-1] if tokens else START].tolist()
        words = [v for v in range(2, vocabulary) if may_end_in((*tokens, v), config)]
        may_end = len(tokens) >= math.floor(config.min_length_ratio) or not words
        best = max([*words, *([END] if may_end else [])], key=lambda v: scores[v])
        if best == END:
            break
        tokens = (*tokens, best)
    (result,) = search(model, 1, config, prefix)
    assert result.hypotheses[0].tokens == tokens


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_every_reported_score_is_the_forced_score(
    kind: tuple[LengthPenalty, float], values: dict[str, float]
) -> None:
    model = random_table(sentences=3, length=9, vocabulary=7, seed=4)
    config = settings_of(values, beam=4, n_best=4, limit=8, kind=kind)
    for sentence, result in enumerate(search(model, 3, config, (), (3, 4), (5, 5, 5))):
        for hypothesis in result.hypotheses:
            forced = model.log_probability(sentence, hypothesis.tokens)
            assert hypothesis.log_probability == pytest.approx(forced, abs=1e-4)


@pytest.mark.parametrize("values", [{}, *SETTINGS], ids=str)
def test_stopping_early_changes_no_result(
    values: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_table(sentences=3, length=12, vocabulary=6, seed=5)
    config = settings_of(values, beam=5, n_best=2, limit=11)

    def run() -> list[list[Hypothesis]]:
        return [list(each.hypotheses) for each in search(model, 3, config, (2, 3), (), (4,))]

    early = run()
    monkeypatch.setattr(FinishedHypotheses, "cannot_improve", lambda self, best_live: False)
    assert run() == early


@pytest.mark.parametrize("values", [{}, *SETTINGS], ids=str)
@pytest.mark.parametrize(("beam", "capacity"), [(1, 3), (3, 1), (3, 7), (5, 40)])
def test_the_rest_of_a_batch_changes_no_result(
    values: dict[str, float], beam: int, capacity: int
) -> None:
    """Sentences of other lengths, with other prefixes, come and go in one beam."""
    count = 23
    model = random_table(sentences=count, length=6, vocabulary=5, seed=beam)
    draw = random.Random(capacity)
    prefixes = [tuple(draw.choices((2, 3, 4), k=draw.choice((0, 0, 1, 4)))) for _ in range(count)]
    source, mask = one_token_sources(count)
    config = settings_of(values, beam=beam, n_best=beam, limit=7)

    def group(keys: list[int]) -> Group:
        demands = [Demands(prefix=prefixes[key]) for key in keys]
        return Group(keys=keys, source=source[keys], source_mask=mask[keys], demands=demands)

    keys = draw.sample(range(count), count)
    groups = []
    while keys:
        size = draw.randint(1, 6)
        groups.append(group(keys[:size]))
        keys = keys[size:]
    found = dict(search_groups(model, groups, symbols=SYMBOLS, config=config, capacity=capacity))
    for key in range(count):
        alone = dict(
            search_groups(model, [group([key])], symbols=SYMBOLS, config=config, capacity=1)
        )
        assert found[key].hypotheses == alone[key].hypotheses
        assert found[key].hypotheses[0].tokens[: len(prefixes[key])] == prefixes[key]


def sentence_of(length: int, *, source_length: int = 6, limit: int = 99) -> Sentence:
    return Sentence(
        key=0,
        source_length=source_length,
        limit=limit,
        demands=NO_DEMANDS,
        finished=FinishedHypotheses(SearchConfig(), limit),
        length=length,
    )


def beam_of(rows: list[list[Tokens]]) -> tuple[torch.Tensor, list[Sentence]]:
    """Tokens (B, K, T + 1) of hypotheses, of one length in each sentence, and the sentences.

    What stands to their left would match, were it looked at.
    """
    width = 1 + max(len(tokens) for row in rows for tokens in row)

    def padded(tokens: Tokens) -> list[int]:
        before = width - len(tokens) - 1
        return [*([tokens[-1] if tokens else 2] * before), START, *tokens]

    filled = torch.tensor([[padded(tokens) for tokens in row] for row in rows])
    return filled, [sentence_of(len(row[0])) for row in rows]


@st.composite
def hypotheses(draw: st.DrawFn) -> list[list[Tokens]]:
    """Two hypotheses for each of some sentences, full of loops."""

    def one(length: int) -> Tokens:
        tokens: list[int] = []
        while len(tokens) < length:
            block = draw(st.lists(st.integers(2, 4), min_size=1, max_size=LONGEST_LOOP + 1))
            tokens += block * draw(st.integers(1, 4))
        return tuple(tokens[:length])

    lengths = draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))
    return [[one(length), one(length)] for length in lengths]


RULES: list[tuple[Callable[[int], Constraint], Callable[[Tokens, int], bool]]] = [
    (NoRepeatedNgram, repeats_ngram),
    (NoLoop, loops),
]


@settings(max_examples=60, deadline=None)
@given(rows=hypotheses(), number=st.integers(1, 4), rule=st.sampled_from(RULES))
def test_constraints_forbid_what_their_definitions_do(
    rows: list[list[Tokens]],
    number: int,
    rule: tuple[Callable[[int], Constraint], Callable[[Tokens, int], bool]],
) -> None:
    constraint, is_broken = rule
    tokens, sentences = beam_of(rows)
    before = torch.randn(len(rows), 2, 5)
    scores = before.clone()
    constraint(number).forbid(scores, tokens, sentences)
    for b, row in enumerate(rows):
        for k, hypothesis in enumerate(row):
            assert torch.equal(scores[b, k, :2], before[b, k, :2])  # the end is always allowed
            for word in (2, 3, 4):
                if is_broken((*hypothesis, word), number):
                    assert scores[b, k, word] == -math.inf
                else:
                    assert scores[b, k, word] == before[b, k, word]


def test_a_loop_may_be_as_long_as_it_is_said() -> None:
    for period in range(1, LONGEST_LOOP + 2):
        block = tuple(range(2, 2 + period))
        tokens, sentences = beam_of([[block * 3]])
        scores = torch.zeros(1, 1, 30)
        NoLoop(3).forbid(scores, tokens, sentences)
        for index in range(period):  # the fourth time is forbidden where it would be complete
            tokens, sentences = beam_of([[block * 3 + block[:index]]])
            scores = torch.zeros(1, 1, 30)
            NoLoop(3).forbid(scores, tokens, sentences)
            is_last = index == period - 1 and period <= LONGEST_LOOP
            assert (scores[0, 0, block[index]] == -math.inf) == is_last


def test_the_end_is_forbidden_before_the_least_length_where_a_word_may_follow() -> None:
    scores = torch.zeros(3, 2, 4)
    scores[..., START] = -math.inf
    scores[1, 1, 2:] = -math.inf  # nothing but the end
    sentences = [sentence_of(2), sentence_of(2), sentence_of(3)]  # of 5 source tokens
    MinimumLength(0.7, end=END).forbid(scores, torch.zeros(3, 2, 4, dtype=torch.long), sentences)
    assert scores[..., END].tolist() == [[-math.inf] * 2, [-math.inf, 0.0], [0.0, 0.0]]


def looping_world() -> TableModel:
    """The same word all the time, and the end hardly ever."""
    logits = torch.zeros(1, 1, 4, 4)
    logits[..., 2] = 9.0
    logits[..., END] = -9.0
    logits[..., START] = -math.inf
    return TableModel(logits)


@pytest.mark.parametrize("beam", [1, 4])
def test_a_guard_of_two_lets_a_word_stand_twice(beam: int) -> None:
    (free,) = search(looping_world(), 1, settings_of(beam=beam, limit=8))
    assert free.hypotheses[0].tokens == (2,) * 8
    (guarded,) = search(looping_world(), 1, settings_of({"max_repeats": 2}, beam=beam, limit=8))
    assert guarded.hypotheses[0].tokens[:3] == (2, 2, 3)


@pytest.mark.parametrize("beam", [1, 2, 9])
def test_where_no_word_is_left_a_hypothesis_ends(beam: int) -> None:
    """Two words, none of them twice: six tokens, which are asked for, cannot be."""
    config = settings_of({"no_repeat_ngram": 1, "min_length_ratio": 6.0}, beam=beam, limit=8)
    (result,) = search(looping_world(), 1, config)
    (best,) = result.hypotheses
    assert best.tokens in {(2, 3), (3, 2)}
    assert not best.hit_limit
    assert best.score > -math.inf


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("prefix", [(), (2, 3)])
def test_what_the_model_holds_for_impossible_has_a_result_all_the_same(
    beam: int, prefix: Tokens
) -> None:
    logits = torch.full((2, 1, 4, 4), -math.inf)
    logits[..., 2] = 0.0  # never an end, never a 3
    logits[1, ..., [END, 2]] = 0.0
    config = settings_of(beam=beam, limit=4)
    impossible, possible = search(TableModel(logits), 2, config, prefix, ())
    (only,) = impossible.hypotheses
    assert only.tokens == prefix
    assert only.score == -math.inf
    assert possible.hypotheses[0].score > -math.inf


@pytest.mark.parametrize("symbol", [END, START])
def test_a_prefix_of_symbols_that_are_no_text_is_misuse(symbol: int) -> None:
    model = random_table(sentences=1, length=3, vocabulary=4, seed=0)
    with pytest.raises(ValueError, match="prefix cannot hold"):
        search(model, 1, settings_of(beam=2, limit=4), (2, symbol))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"no_repeat_ngram": -1}, "search.no_repeat_ngram must not be negative"),
        ({"max_repeats": -1}, "search.max_repeats must not be negative"),
        ({"min_length_ratio": -0.1}, "search.min_length_ratio must lie between 0 and"),
        ({"min_length_ratio": 2.5}, "search.max_length_ratio"),
    ],
)
def test_settings_that_cannot_be_are_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SearchConfig(**values)  # type: ignore[arg-type]
