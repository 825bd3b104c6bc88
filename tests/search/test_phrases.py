"""Phrases that hypotheses must hold: beside brute force, and in batches that must not matter."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import LengthPenalty, SearchConfig
from mt.search.constrained.phrases import Phrase, PhraseProgress, Reached, WordEdges
from mt.search.hypothesis import Hypothesis
from mt.search.penalty import length_penalty
from mt.search.scheduler import Group, beam_search, search_groups
from mt.search.sentence import NO_DEMANDS, Demands
from tests.search.table_model import (
    END,
    PENALTIES,
    START,
    SYMBOLS,
    TableModel,
    bounded,
    every_hypothesis,
    random_table,
    sources,
)

VOCABULARY = 64
# In these tests even tokens from 10 on go on with the word of the token before them.
NOWHERE = WordEdges(
    begins_inside=bytes(VOCABULARY),
    ends_inside=bytes(VOCABULARY),
    begins_apart=bytes(VOCABULARY),
)
GOES_ON = WordEdges(
    begins_inside=bytes(token >= 10 and token % 2 == 0 for token in range(VOCABULARY)),
    ends_inside=bytes(token not in (START, END) for token in range(VOCABULARY)),
    begins_apart=bytes(token == 2 for token in range(VOCABULARY)),
)


def phrase(
    *alternatives: tuple[int, ...],
    times: int = 1,
    is_exact: bool = False,
    edges: WordEdges = NOWHERE,
) -> Phrase:
    return Phrase(alternatives=alternatives, times=times, is_exact=is_exact, edges=edges)


def begins(wanted: Phrase, before: int, first: int) -> bool:
    edges = wanted.edges
    if wanted.is_word:
        return edges.begins_apart[first] == 1 or edges.ends_inside[before] == 0
    return edges.part(before, first)


def ends(wanted: Phrase, last: int, after: int) -> bool:
    return (
        wanted.edges.begins_inside[after] == 0 if wanted.is_word else wanted.edges.part(last, after)
    )


def count_of(wanted: Phrase, tokens: Sequence[int]) -> int:
    """The most times that a phrase stands in tokens side by side: always the first that ends."""
    text = [START, *tokens, END]
    count, last = 0, 1
    for end in range(2, len(text)):
        starts = [
            end - len(each)
            for each in wanted.alternatives
            if tuple(text[max(end - len(each), 0) : end]) == each
        ]
        if any(
            start >= last
            and begins(wanted, text[start - 1], text[start])
            and ends(wanted, text[end - 1], text[end])
            for start in starts
        ):
            count, last = count + 1, end
    return count


def holds(phrases: Sequence[Phrase], tokens: Sequence[int]) -> bool:
    counts = [(each, count_of(each, tokens)) for each in phrases]
    return all(
        count == each.times if each.is_exact else count >= each.times for each, count in counts
    )


def search(
    model: TableModel,
    demands: Sequence[Sequence[Phrase]],
    *,
    beam: int,
    max_length: int,
    n_best: int = 1,
    penalty: LengthPenalty = "mean",
    alpha: float = 1.0,
) -> list[tuple[Hypothesis, ...]]:
    config = bounded(
        max_length=max_length, beam=beam, n_best=n_best, length_penalty=penalty, alpha=alpha
    )
    results = beam_search(
        model,
        *sources(len(demands)),
        symbols=SYMBOLS,
        config=config,
        demands=[Demands(phrases=tuple(each)) for each in demands],
    )
    return [result.hypotheses for result in results]


DEMANDS: dict[str, tuple[Phrase, ...]] = {
    "one": (phrase((2, 3)),),
    "restart": (phrase((2, 2, 3)),),
    "overlap": (phrase((2, 3)), phrase((3, 2))),
    "prefix of another": (phrase((3,)), phrase((3, 2))),
    "twice": (phrase((2,), times=2),),
    "exactly once": (phrase((2,), is_exact=True),),
    "exactly twice": (phrase((2, 2), times=2, is_exact=True),),
    "alternatives": (phrase((2, 2, 2), (3, 3)),),
    "one inside another": (phrase((2, 3, 2), (3,)),),
}


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
@pytest.mark.parametrize("phrases", DEMANDS.values(), ids=DEMANDS)
def test_a_wide_beam_finds_the_best_of_all_that_hold_the_phrases(
    phrases: tuple[Phrase, ...], penalty: LengthPenalty, alpha: float
) -> None:
    max_length, n_best, vocabulary = 5, 4, 4
    model = random_table(sentences=2, length=6, vocabulary=vocabulary, seed=len(phrases))
    found = search(
        model,
        [phrases, phrases],
        beam=vocabulary**max_length,
        n_best=n_best,
        max_length=max_length,
        penalty=penalty,
        alpha=alpha,
    )
    holding = [t for t in every_hypothesis(vocabulary, max_length) if holds(phrases, t)]
    for sentence, hypotheses in enumerate(found):
        scored = [
            (
                model.log_probability(sentence, tokens)
                / length_penalty(penalty, alpha, len(tokens) + 1),
                tokens,
            )
            for tokens in holding
        ]
        expected = sorted(scored, reverse=True)[:n_best]
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        assert [h.score for h in hypotheses] == pytest.approx([s for s, _ in expected], rel=1e-5)


def test_phrases_are_held_within_a_prefix_and_without_repeated_ngrams() -> None:
    max_length, vocabulary, prefix = 5, 4, (3, 3)
    phrases = (phrase((2, 3)), phrase((3, 2)))
    model = random_table(sentences=1, length=6, vocabulary=vocabulary, seed=4)
    (found,) = beam_search(
        model,
        *sources(1),
        symbols=SYMBOLS,
        config=bounded(
            max_length=max_length, beam=vocabulary**max_length, n_best=2, no_repeat_ngram=2
        ),
        demands=[Demands(prefix=prefix, phrases=phrases)],
    )
    allowed = [
        tokens
        for tokens in every_hypothesis(vocabulary, max_length)
        if tokens[: len(prefix)] == prefix
        and holds(phrases, tokens)
        and len(set(itertools.pairwise(tokens))) == len(tokens) - 1
    ]
    expected = sorted(
        allowed, key=lambda tokens: -model.log_probability(0, tokens) / (len(tokens) + 1)
    )
    assert len(allowed) >= 2
    assert [each.tokens for each in found.hypotheses] == expected[:2]


ALTERNATIVES = st.lists(
    st.lists(st.integers(2, 5) | st.integers(10, 13), min_size=1, max_size=3).map(tuple),
    min_size=1,
    max_size=2,
)
PHRASES = st.builds(
    Phrase,
    alternatives=ALTERNATIVES.map(tuple),
    edges=st.sampled_from([NOWHERE, GOES_ON]),
    times=st.integers(1, 2),
    is_exact=st.booleans(),
    is_word=st.booleans(),
)


@given(PHRASES, st.lists(st.integers(2, 4) | st.integers(10, 13), max_size=12))
@settings(max_examples=500, deadline=None)
def test_walking_over_tokens_counts_what_looking_at_them_counts(
    wanted: Phrase, tokens: list[int]
) -> None:
    reached, previous = Reached(), START
    for token in tokens:
        reached = wanted.after(reached, previous, token)
        previous = token
    counts = (wanted.times_at_end(reached), count_of(wanted, tokens))
    if not wanted.is_exact:
        counts = (min(counts[0], wanted.times), min(counts[1], wanted.times))
    assert counts[0] == counts[1]


@given(PHRASES, st.lists(st.integers(2, 4) | st.integers(10, 13), max_size=6))
@settings(max_examples=200, deadline=None)
def test_ways_on_lead_to_the_phrase(wanted: Phrase, tokens: list[int]) -> None:
    """Whatever is written, following one way after another meets it."""
    reached, previous = Reached(), START
    for token in tokens:
        reached = wanted.after(reached, previous, token)
        previous = token
    steps = 0
    while ways := wanted.ways_on(reached, previous):
        token = min(ways)
        reached = wanted.after(reached, previous, token)
        previous = token
        steps += 1
        assert steps <= 12
    is_possible = any(
        ends(wanted, each[-1], each[0])
        and begins(wanted, each[-1], each[0])
        and begins(wanted, previous, each[0])
        for each in wanted.alternatives
    )
    if is_possible:
        assert wanted.times_at_end(reached) >= wanted.times


@given(
    st.integers(0, 1000),
    st.sampled_from([1, 2, 5]),
    st.lists(st.lists(PHRASES, max_size=3), min_size=1, max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_what_ended_before_the_bound_holds_its_phrases(
    seed: int, beam: int, demands: list[list[Phrase]]
) -> None:
    model = random_table(sentences=len(demands), length=14, vocabulary=14, seed=seed)
    found = search(model, demands, beam=beam, n_best=beam, max_length=14)
    for phrases, hypotheses in zip(demands, found, strict=True):
        assert hypotheses
        for hypothesis in hypotheses:
            assert hypothesis.hit_limit or holds(phrases, hypothesis.tokens)


@pytest.mark.parametrize("beam", [2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_scores_with_phrases_are_forced_scores(seed: int, beam: int) -> None:
    model = random_table(sentences=1, length=9, vocabulary=7, seed=seed)
    (found,) = search(model, [[phrase((5, 6)), phrase((4,))]], beam=beam, n_best=beam, max_length=8)
    for each in found:
        assert each.log_probability == pytest.approx(
            model.log_probability(0, each.tokens), abs=1e-4
        )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("capacity", [1, 3, 40])
def test_the_rest_of_a_batch_changes_no_result(seed: int, capacity: int) -> None:
    """Sentences with phrases and without, in one batch and refilled, as if each were alone."""
    count = 15
    model = random_table(sentences=count, length=9, vocabulary=7, seed=seed)
    source, mask = sources(count)
    config = SearchConfig(beam=4, n_best=4, max_length=9)
    demands = [
        NO_DEMANDS if key % 3 == 0 else Demands(phrases=(phrase((5, 6)), phrase((4,)))[: key % 3])
        for key in range(count)
    ]
    groups = [
        Group(
            keys=part,
            source=source[part],
            source_mask=mask[part],
            demands=[demands[k] for k in part],
        )
        for part in (list(range(i, i + 3)) for i in range(0, count, 3))
    ]
    found = dict(search_groups(model, groups, symbols=SYMBOLS, config=config, capacity=capacity))
    for key in range(count):
        (alone,) = beam_search(
            model,
            source[[key]],
            mask[[key]],
            symbols=SYMBOLS,
            config=config,
            demands=[demands[key]],
        )
        assert found[key].hypotheses == alone.hypotheses
        if demands[key] is NO_DEMANDS:
            (plain,) = beam_search(
                model, source[[key]], mask[[key]], symbols=SYMBOLS, config=config
            )
            assert found[key] == plain


def test_at_the_bound_what_lacks_a_phrase_comes_only_if_nothing_has_it() -> None:
    model = random_table(sentences=1, length=4, vocabulary=6, seed=0)
    impossible = [phrase((2, 3, 4, 5))]
    (found,) = search(model, [impossible], beam=3, n_best=3, max_length=3)
    assert found and all(each.hit_limit and len(each.tokens) == 3 for each in found)
    possible = [phrase((2, 3, 4))]
    (found,) = search(model, [possible], beam=3, n_best=3, max_length=3)
    assert [each.tokens for each in found] == [(2, 3, 4)]


@pytest.mark.parametrize(
    ("gap", "is_close"), [(1e-6, True), (-1e-6, True), (0.0, True), (0.1, False)]
)
def test_a_choice_within_a_bank_that_rounding_could_turn_is_a_close_call(
    gap: float, is_close: bool
) -> None:
    """One slot: 4 is asked for, and whether 2 or 3 stands before it is a matter of rounding."""
    logits = torch.full((1, 3, 5, 5), -30.0)
    logits[0, 0, START, [2, 3, 4]] = torch.tensor([1.0, 1.0 + gap, -29.0])
    logits[0, 1:, :, 4] = 30.0
    logits[0, 1:, 4, END] = 60.0
    config = SearchConfig(beam=2, max_length=4)
    (result,) = beam_search(
        TableModel(logits),
        *sources(1),
        symbols=SYMBOLS,
        config=config,
        demands=[Demands(phrases=(phrase((4,)),))],
    )
    assert result.is_close_call == is_close


@pytest.mark.parametrize(
    ("tokens", "is_lost"),
    [
        ((4, 3), True),
        ((4, 5), True),
        ((4, 5, 6, 3), False),
        ((4, 7, 3), False),
        ((4, 4), True),
    ],
)
def test_what_is_begun_for_a_phrase_alone_is_gone_through_with(
    tokens: tuple[int, ...], is_lost: bool
) -> None:
    """By one of the phrases that begin so; what was likely anyway may be left."""
    phrases = [phrase((4, 5, 6)), phrase((4, 7))]
    for is_forced in (True, False):
        progress = PhraseProgress(START, (Reached(), Reached()))
        for index, token in enumerate(tokens):
            progress = progress.after(phrases, token, is_forced=is_forced and index == 0)
        if tokens == (4, 5):
            progress = progress.after(phrases, 3)
        assert progress.is_lost == (is_lost and is_forced)


def test_what_is_begun_for_a_phrase_alone_does_not_end_inside_a_word() -> None:
    phrases = [phrase((11,), edges=GOES_ON)]
    for after, is_lost in ((10, True), (3, False), (END, False)):
        progress = PhraseProgress(3, (Reached(),)).after(phrases, 11, is_forced=True)
        assert progress.after(phrases, after).is_lost == is_lost


def test_phrases_without_alternatives_are_misuse() -> None:
    for alternatives in itertools.chain([()], [((),)]):
        with pytest.raises(ValueError, match="alternatives"):
            Phrase(alternatives=alternatives, edges=NOWHERE)
    with pytest.raises(ValueError, match="times"):
        phrase((2,), times=0)
