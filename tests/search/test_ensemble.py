"""An ensemble of tables is the table of their mean probabilities, and it is one model to search."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch
from torch import Tensor

from mt.config import LengthPenalty, SearchConfig
from mt.search.ensemble import Ensemble, EnsembleState, log_mean
from mt.search.hypothesis import Hypothesis
from mt.search.penalty import length_penalty
from mt.search.scheduler import Group, beam_search, search_groups
from mt.search.sentence import NO_DEMANDS
from tests.search.table_model import (
    END,
    START,
    SYMBOLS,
    TableModel,
    TableState,
    bounded,
    random_table,
)
from tests.search.table_model import sources as numbered

PENALTIES: list[tuple[LengthPenalty, float]] = [("none", 1.0), ("mean", 1.0), ("gnmt", 0.6)]


def tables(num: int, *, vocabulary: int = 5, sentences: int = 3) -> list[TableModel]:
    return [
        random_table(sentences=sentences, length=6, vocabulary=vocabulary, seed=10 + seed)
        for seed in range(num)
    ]


def averaged(members: list[TableModel]) -> TableModel:
    """The oracle: one table, of the mean of the probabilities in float64."""
    probabilities = torch.stack([each.logits.double().softmax(dim=-1) for each in members])
    return TableModel(probabilities.mean(dim=0).log().float())


def searched(members: list[TableModel], config: SearchConfig) -> list[list[Hypothesis]]:
    found = beam_search(Ensemble(members), *numbered(3), symbols=SYMBOLS, config=config)
    return [list(each.hypotheses) for each in found]


def close(found: list[Hypothesis], expected: list[Hypothesis]) -> bool:
    same = [each.tokens for each in found] == [each.tokens for each in expected]
    return same and [each.score for each in found] == pytest.approx(
        [each.score for each in expected], abs=1e-5
    )


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
@pytest.mark.parametrize("num", [2, 3])
def test_a_wide_beam_finds_the_best_by_the_mean_of_probabilities(
    num: int, penalty: LengthPenalty, alpha: float
) -> None:
    """By brute force over all sequences, each scored by the mean of probabilities step by step."""
    members, max_length, vocabulary = tables(num, vocabulary=4), 4, 4
    config = bounded(
        max_length=max_length,
        beam=vocabulary**max_length,
        n_best=5,
        length_penalty=penalty,
        alpha=alpha,
    )
    words = [word for word in range(vocabulary) if word not in (END, START)]
    every = [t for n in range(max_length + 1) for t in itertools.product(words, repeat=n)]

    def score(sentence: int, tokens: tuple[int, ...]) -> float:
        total, last = 0.0, START
        for position, token in enumerate((*tokens, END)):
            given = [
                math.exp(torch.log_softmax(each.logits[sentence, position, last], -1)[token])
                for each in members
            ]
            total += math.log(sum(given) / len(given))
            last = token
        return total / length_penalty(penalty, alpha, len(tokens) + 1)

    for sentence, hypotheses in enumerate(searched(members, config)):
        expected = sorted(((score(sentence, t), t) for t in every), reverse=True)[:5]
        assert [each.tokens for each in hypotheses] == [tokens for _, tokens in expected]
        assert [each.score for each in hypotheses] == pytest.approx(
            [value for value, _ in expected], rel=1e-5
        )


def test_the_mean_of_probabilities_is_not_that_of_their_logs() -> None:
    """One member all but excludes what the other is sure of: it has one voice, and no veto."""
    p = torch.full((2, 1, 2, 4, 4), 1e-12)
    p[:, :, 1, :, END] = 1.0
    p[0, 0, 0, START, [2, 3]] = torch.tensor([0.98, 0.02])
    p[1, 0, 0, START, [2, 3]] = torch.tensor([1e-9, 0.1])
    p[1, 0, 0, START, END] = 0.9
    members = [TableModel(each.log()) for each in p]
    (result,) = beam_search(
        Ensemble(members),
        *numbered(1),
        symbols=SYMBOLS,
        config=bounded(max_length=1, beam=3, length_penalty="none"),
    )
    assert result.hypotheses[0].tokens == (2,)
    assert result.hypotheses[0].score == pytest.approx(math.log(0.49), abs=1e-5)


@pytest.mark.parametrize("beam", [1, 3, 5])
def test_search_by_members_is_search_by_the_averaged_table(beam: int) -> None:
    for num in (2, 3, 4):
        members = tables(num)
        config = bounded(max_length=7, beam=beam, n_best=beam)
        whole = beam_search(averaged(members), *numbered(3), symbols=SYMBOLS, config=config)
        for found, expected in zip(searched(members, config), whole, strict=True):
            assert close(found, list(expected.hypotheses))


def test_an_ensemble_of_a_model_and_itself_is_that_model() -> None:
    (table,) = tables(1)
    config = bounded(max_length=7, beam=4, n_best=4)
    alone = beam_search(table, *numbered(3), symbols=SYMBOLS, config=config)
    for found, expected in zip(searched([table, table, table], config), alone, strict=True):
        assert close(found, list(expected.hypotheses))


def test_a_member_that_stands_there_twice_counts_twice() -> None:
    one, other = tables(2)
    twice, _ = Ensemble([one, one, other]).step(torch.tensor([START]), state_of(3, [0]))
    expected = (2 * probabilities(one) + probabilities(other)) / 3
    torch.testing.assert_close(twice.exp(), expected)


def probabilities(table: TableModel) -> Tensor:
    return table.logits[[0], 0, START].softmax(dim=-1)


def state_of(num: int, sentences: list[int]) -> EnsembleState:
    own = TableState(torch.tensor(sentences), torch.zeros(len(sentences), dtype=torch.long))
    return EnsembleState((own,) * num)


@pytest.mark.parametrize("capacity", [1, 4, 40])
@pytest.mark.parametrize("seed", range(3))
def test_the_rest_of_a_batch_changes_no_result(capacity: int, seed: int) -> None:
    count = 17
    members = tables(2, sentences=count)
    config = SearchConfig(beam=3, n_best=3, max_length=7)
    source, mask = numbered(count)
    draw = random.Random(seed)
    keys = draw.sample(range(count), count)
    groups = []
    while keys:
        size = draw.randint(1, 5)
        taken, keys = keys[:size], keys[size:]
        groups.append(
            Group(
                keys=taken,
                source=source[taken],
                source_mask=mask[taken],
                demands=[NO_DEMANDS] * len(taken),
            )
        )
    ensemble = Ensemble(members)
    found = dict(search_groups(ensemble, groups, symbols=SYMBOLS, config=config, capacity=capacity))
    for key in range(count):
        (alone,) = beam_search(ensemble, source[[key]], mask[[key]], symbols=SYMBOLS, config=config)
        together = found[key].hypotheses
        assert [each.tokens for each in together] == [each.tokens for each in alone.hypotheses]
        # Kernels of some processors round a row by where it stands in their registers.
        for ours, theirs in zip(together, alone.hypotheses, strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=1e-6)
            assert ours.hit_limit == theirs.hit_limit


def test_all_members_select_and_join_alike() -> None:
    ensemble = Ensemble(tables(2))
    left = ensemble.start(*numbered(3)).select(torch.tensor([[2], [0]]))
    both = left.joined(ensemble.start(*numbered(1)))
    _, after = ensemble.step(torch.tensor([START, START, START]), both)
    for member in after.members:
        assert isinstance(member, TableState)
        assert member.sentence.tolist() == [2, 0, 0]
        assert member.position.tolist() == [1, 1, 1]


def test_log_probabilities_are_normalised_and_what_underflows_keeps_its_price() -> None:
    given = torch.log_softmax(torch.tensor([[0.0, -200.0, 3.0]]), dim=-1)
    other = torch.log_softmax(torch.tensor([[1.0, -210.0, -2.0]]), dim=-1)
    found = log_mean([given, other])
    assert float(found.exp().sum()) == pytest.approx(1.0)
    assert float(found[0, 1]) == pytest.approx(float(given[0, 1]) - math.log(2), rel=1e-4)


def test_what_one_member_forbids_stays_possible_and_what_all_forbid_does_not() -> None:
    never = torch.tensor([-math.inf, -math.inf])
    some = torch.tensor([math.log(0.5), -math.inf])
    found = log_mean([never, some])
    assert float(found[0]) == pytest.approx(math.log(0.25))
    assert float(found[1]) == -math.inf


def test_an_ensemble_needs_a_member() -> None:
    with pytest.raises(ValueError, match="needs a member"):
        Ensemble([])
