"""Beam search against brute force, forced scoring, greedy search, and itself without stopping."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mt.config import LengthPenalty, SearchConfig
from mt.errors import ModelNumbersError
from mt.search.hypothesis import FinishedHypotheses, Hypothesis
from mt.search.penalty import length_limit, length_penalty
from mt.search.scheduler import beam_search
from tests.search.table_model import (
    END,
    PENALTIES,
    START,
    SYMBOLS,
    TableModel,
    TableState,
    bounded,
    every_hypothesis,
    random_table,
    sources,
)


def search(
    model: TableModel,
    count: int = 1,
    *,
    beam: int,
    max_length: int,
    n_best: int = 1,
    penalty: LengthPenalty = "mean",
    alpha: float = 1.0,
) -> list[list[Hypothesis]]:
    config = bounded(
        max_length=max_length, beam=beam, n_best=n_best, length_penalty=penalty, alpha=alpha
    )
    results = beam_search(model, *sources(count), symbols=SYMBOLS, config=config)
    return [list(result.hypotheses) for result in results]


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
@pytest.mark.parametrize(("vocabulary", "max_length"), [(3, 5), (4, 4), (4, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_what_brute_force_finds(
    penalty: LengthPenalty, alpha: float, vocabulary: int, max_length: int, seed: int
) -> None:
    model = random_table(sentences=2, length=6, vocabulary=vocabulary, seed=seed)
    n_best = 4
    found = search(
        model,
        2,
        beam=vocabulary**max_length,
        n_best=n_best,
        max_length=max_length,
        penalty=penalty,
        alpha=alpha,
    )
    for sentence, hypotheses in enumerate(found):
        scored = [
            (
                model.log_probability(sentence, tokens)
                / length_penalty(penalty, alpha, len(tokens) + 1),
                tokens,
            )
            for tokens in every_hypothesis(vocabulary, max_length)
        ]
        expected = sorted(scored, reverse=True)[:n_best]
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        assert [h.score for h in hypotheses] == pytest.approx([s for s, _ in expected], rel=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_beam_one_is_greedy(seed: int) -> None:
    model = random_table(sentences=1, length=9, vocabulary=6, seed=seed)
    tokens: list[int] = []
    last = START
    while len(tokens) < 8:
        last = int(model.logits[0, len(tokens), last].argmax())
        if last == END:
            break
        tokens.append(last)
    assert search(model, beam=1, max_length=8)[0][0].tokens == tuple(tokens)


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
@pytest.mark.parametrize("seed", range(10))
def test_every_reported_score_is_the_forced_score(
    penalty: LengthPenalty, alpha: float, seed: int
) -> None:
    model = random_table(sentences=3, length=9, vocabulary=7, seed=seed)
    for sentence, hypotheses in enumerate(
        search(model, 3, beam=4, n_best=4, max_length=8, penalty=penalty, alpha=alpha)
    ):
        for hypothesis in hypotheses:
            forced = model.log_probability(sentence, hypothesis.tokens)
            divisor = length_penalty(penalty, alpha, len(hypothesis.tokens) + 1)
            assert hypothesis.log_probability == pytest.approx(forced, abs=1e-4)
            assert hypothesis.score == pytest.approx(forced / divisor, abs=1e-4)


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
@pytest.mark.parametrize("n_best", [1, 3])
@pytest.mark.parametrize("seed", range(10))
def test_stopping_early_changes_no_result(
    penalty: LengthPenalty,
    alpha: float,
    n_best: int,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = random_table(sentences=3, length=12, vocabulary=6, seed=seed)

    def run() -> list[list[Hypothesis]]:
        return search(model, 3, beam=5, n_best=n_best, max_length=11, penalty=penalty, alpha=alpha)

    early = run()
    early_steps = model.num_steps
    monkeypatch.setattr(FinishedHypotheses, "cannot_improve", lambda self, best_live: False)
    assert run() == early
    assert model.num_steps - early_steps >= early_steps


def test_stopping_early_saves_steps() -> None:
    logits = torch.zeros(1, 30, 3, 3)
    logits[..., START] = -math.inf
    logits[0, 2:, :, END] = 20.0
    model = TableModel(logits)
    search(model, beam=2, max_length=29, penalty="none")
    assert model.num_steps <= 4


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_a_sentence_is_translated_alike_by_itself_and_in_a_batch(beam: int) -> None:
    model = random_table(sentences=6, length=9, vocabulary=8, seed=3)
    together = search(model, 6, beam=beam, n_best=beam, max_length=8)
    for sentence in range(6):
        alone = TableModel(model.logits[sentence : sentence + 1])
        assert search(alone, beam=beam, n_best=beam, max_length=8)[0] == together[sentence]


def test_the_first_of_n_best_is_the_single_best_and_scores_never_rise() -> None:
    model = random_table(sentences=8, length=9, vocabulary=8, seed=4)
    single = search(model, 8, beam=6, max_length=8)
    many = search(model, 8, beam=6, n_best=6, max_length=8)
    for one, six in zip(single, many, strict=True):
        assert six[0] == one[0]
        scores = [hypothesis.score for hypothesis in six]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.tokens for hypothesis in six}) == 6


def small_world() -> TableModel:
    """P(x) = 1; then end .40, a .35, b .25; after a: end .95; after b: end .1."""
    x, a, b = 2, 3, 4
    p = torch.full((1, 3, 5, 5), 1e-9)
    p[0, 0, START, x] = 1.0
    p[0, 1, x, [END, a, b]] = torch.tensor([0.40, 0.35, 0.25])
    p[0, 2, a, [END, x]] = torch.tensor([0.95, 0.05])
    p[0, 2, b, [END, x]] = torch.tensor([0.10, 0.90])
    return TableModel(p.log())


@pytest.mark.parametrize(
    ("penalty", "alpha", "tokens", "score"),
    [
        ("none", 1.0, (2,), -0.9163),
        ("mean", 1.0, (2, 3), -0.3670),
        ("gnmt", 1.0, (2,), -0.7854),
        ("gnmt", 2.0, (2, 3), -0.6194),
    ],
)
def test_a_first_finished_hypothesis_does_not_end_the_search(
    penalty: LengthPenalty, alpha: float, tokens: tuple[int, ...], score: float
) -> None:
    """Values by hand: ln .4 and ln .3325 over the penalties (OpenNMT-py 1320, joeynmt 149)."""
    best = search(small_world(), beam=2, max_length=20, penalty=penalty, alpha=alpha)[0][0]
    assert best.tokens == tokens
    assert best.score == pytest.approx(score, abs=1e-4)


def test_a_hypothesis_that_never_ends_is_ended_at_the_bound_at_its_own_price() -> None:
    logits = torch.zeros(1, 1, 3, 3)
    logits[..., START] = -math.inf
    logits[..., END] = -15.0
    model = TableModel(logits)
    best = search(model, beam=2, max_length=5)[0][0]
    assert best.tokens == (2,) * 5
    assert best.hit_limit
    assert best.log_probability == pytest.approx(model.log_probability(0, best.tokens), abs=1e-4)


@pytest.mark.parametrize(
    ("gap", "is_close"), [(1e-6, True), (-1e-6, True), (0.0, True), (0.1, False)]
)
@pytest.mark.parametrize("beam", [1, 2])
def test_a_choice_that_rounding_could_turn_is_a_close_call(
    gap: float, is_close: bool, beam: int
) -> None:
    """Two words that are all but equal: pruning decides with beam 1, ranking with beam 2."""
    logits = torch.full((1, 2, 5, 5), -30.0)
    logits[0, 0, START, [2, 3]] = torch.tensor([1.0, 1.0 + gap])
    logits[0, 1, :, END] = 30.0
    config = SearchConfig(beam=beam, max_length=4)
    (result,) = beam_search(TableModel(logits), *sources(1), symbols=SYMBOLS, config=config)
    assert result.is_close_call == is_close


def test_forbidden_symbols_never_appear() -> None:
    logits = torch.zeros(1, 1, 4, 4)
    logits[..., START] = 9.0
    best = search(TableModel(logits), beam=3, n_best=3, max_length=4)[0]
    assert all(START not in hypothesis.tokens for hypothesis in best)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("position", [0, 2])
@pytest.mark.parametrize("vocabulary", [6, 5000])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_logits_that_are_no_numbers_end_the_search(
    value: float, vocabulary: int, position: int, beam: int
) -> None:
    """Of a large vocabulary too, whose best are found in two stages; one sentence is enough."""

    class Watched(TableModel):
        def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
            assert self.num_steps < 20, "the search goes on for ever"
            return super().step(tokens, state)

    logits = torch.zeros(2, 4, 1, vocabulary)
    logits[..., END] = -9.0
    # One bad number spoils the sum over all; -inf does where it is all there is.
    logits[1, position, :, 0 if value == -math.inf else vocabulary - 1 :] = value
    model = Watched(logits.expand(-1, -1, vocabulary, -1))
    with pytest.raises(ModelNumbersError, match="NaN"):
        search(model, 2, beam=beam, max_length=6)


def test_the_length_bound_follows_the_source() -> None:
    config = SearchConfig(max_length_ratio=2.0, max_length_offset=20)
    assert length_limit(config, 7) == 34
    assert length_limit(SearchConfig(max_length=5), 100) == 5


def test_greedy_needs_one_row_a_sentence() -> None:
    rows: list[int] = []

    class Counting(TableModel):
        def step(self, tokens: Tensor, state: object) -> tuple[Tensor, object]:  # type: ignore[override]
            rows.append(len(tokens))
            return super().step(tokens, state)  # type: ignore[arg-type]

    table = random_table(sentences=3, length=6, vocabulary=5, seed=0)
    search(Counting(table.logits), 3, beam=1, max_length=5)
    assert max(rows) == 3
