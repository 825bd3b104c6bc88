"""Samples of lines: they follow from the line, its number and the seed, and from nothing else."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from mt.config import SamplingConfig
from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.search_model import SearchModel
from mt.search.hypothesis import Hypothesis
from mt.search.mbr import Utility
from mt.search.sentence import Demands
from mt.translation.options import TranslationOptions
from mt.translation.source import Source
from mt.translation.translator import Translator
from tests.translation.random_models import lines, make, scorer_of, tokenizers
from tests.translation.samples import Samples, letters_in_common, tokens_of


def sampler(
    *,
    batch_size: int = 8,
    workers: int | None = 1,
    refill: bool = True,
    longest_source: int = 0,
    utility: Utility | None = None,
    length_penalty: str = "mean",
    **sampling: Any,
) -> Translator:
    plain, _ = make(longest_source=longest_source, length_penalty=length_penalty)
    translator = Translator(
        plain.model,
        tokenizers(),
        plain.config,
        options=TranslationOptions(
            batch_size=batch_size,
            workers=workers,
            utility=utility,
            sampling=SamplingConfig(**{"samples": 4, **sampling}),
        ),
    )
    translator._searcher.refill = refill
    return translator


def tokens(translator: Translator, given: Sequence[str] = lines()) -> Samples:
    return tokens_of(list(translator.translate(given)))


def searched(translator: Translator, sources: Sequence[Source]) -> list[tuple[Hypothesis, ...]]:
    """The samples of sources, each with the stream that it names."""
    translator.model.eval()
    return [result.hypotheses for result in translator._searcher.search(sources)]


def test_batches_workers_and_refilling_change_no_sample() -> None:
    """What each filter lets through is a matter of tests/search/test_top_p.py."""
    filters: dict[str, Any] = {"top_p": 0.8, "temperature": 0.9}
    expected = tokens(sampler(**filters))
    assert len(set(map(tuple, map(tuple, expected)))) == len(expected)
    for batch_size, workers, refill in [(1, 1, True), (3, 2, True), (64, 1, False), (64, 2, True)]:
        translator = sampler(batch_size=batch_size, workers=workers, refill=refill, **filters)
        assert tokens(translator) == expected


@pytest.mark.parametrize("filters", [{}, {"top_p": 0.7}, {"top_k": 3, "top_p": 0.9}])
def test_rounding_changes_no_sample(
    filters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch rounds in a way of its own; many pieces tie."""
    step = SearchModel.step

    def rounded_by_batch(
        model: SearchModel, fed: torch.Tensor, state: DecoderState
    ) -> tuple[torch.Tensor, DecoderState]:
        logits, after = step(model, fed, state)
        noise = torch.Generator().manual_seed(len(fed))
        return logits + 2e-6 * torch.randn(logits.shape, generator=noise), after

    monkeypatch.setattr(SearchModel, "step", rounded_by_batch)
    found = []
    for batch_size in (1, 5, 24):
        plain = sampler()
        with torch.no_grad():
            weight = plain.model.output_weight
            weight[4::3] = weight[4]
        translator = Translator(
            plain.model,
            tokenizers(),
            plain.config,
            options=TranslationOptions(
                batch_size=batch_size, sampling=SamplingConfig(samples=4, **filters)
            ),
        )
        found.append(tokens(translator, lines()[:24]))
    assert found[0] == found[1] == found[2]


def test_order_and_neighbours_change_no_sample() -> None:
    """Sentences in any order; a line between other lines; windows of any size."""
    expected = tokens(sampler())
    encoded = [
        Source(
            tokens=tokenizers().source.encode(line),
            text=line,
            line=number,
            demands=Demands(random_stream=(number, 0)),
        )
        for number, line in enumerate(lines(), start=1)
    ]
    order = list(range(len(encoded)))
    random.Random(5).shuffle(order)
    found = searched(sampler(), [encoded[i] for i in order])
    for i, samples in zip(order, found, strict=True):
        assert [each.tokens for each in samples] == expected[i]
    others = ["haus", "", "katze und straße", lines()[3], "grün"]
    assert tokens(sampler(), others)[3] == expected[3]
    tail = sampler().translate_window(lines()[24:], first_line=25)
    assert tokens_of(tail) == expected[24:]
    assert tokens_of(list(sampler().translate(lines()[24:], first_line=25))) == expected[24:]


def test_equal_lines_at_different_places_have_different_samples() -> None:
    found = tokens(sampler(samples=2), [lines()[0]] * 20)
    assert len(set(map(tuple, found))) >= 19


def test_a_seed_gives_the_same_and_another_something_else() -> None:
    assert tokens(sampler(seed=3)) == tokens(sampler(seed=3))
    pairs = zip(tokens(sampler(seed=3)), tokens(sampler(seed=4)), strict=True)
    assert sum(one != other for one, other in pairs) >= 32


@pytest.mark.parametrize("filters", [{"top_k": 1}, {"temperature": 0.001}])
def test_without_freedom_samples_are_greedy_translations(filters: dict[str, Any]) -> None:
    greedy = [one.hypotheses[0].tokens for one in make(beam=1)[0].translate(lines())]
    assert tokens(sampler(**filters)) == [[each] * 4 for each in greedy]


@pytest.mark.parametrize("filters", [{}, {"temperature": 0.6, "top_p": 0.8, "top_k": 9}])
def test_scores_are_those_of_the_scorer(filters: dict[str, Any]) -> None:
    scorer, _ = scorer_of(length_penalty="gnmt")
    for translation in sampler(length_penalty="gnmt", **filters).translate(lines()[:10]):
        source = tokenizers().source.encode(translation.source)
        pairs = [(source, each.tokens) for each in translation.hypotheses]
        for each, scored in zip(translation.hypotheses, scorer.score_tokens(pairs), strict=True):
            total = sum(scored.log_probabilities)
            length = len(each.tokens) + 1
            assert each.score == pytest.approx(total / ((5 + length) / 6), abs=1e-4)


def test_a_line_has_as_many_samples_as_asked_for_equal_ones_and_blank_lines_included() -> None:
    found = list(sampler(samples=7, temperature=0.05).translate([lines()[0], " ", lines()[1]]))
    assert [len(one.hypotheses) for one in found] == [7, 7, 7]
    assert {each.text for each in found[1].hypotheses} == {""}
    assert len({each.text for each in found[0].hypotheses}) < 7


def test_samples_of_a_split_line_are_those_of_its_parts_in_order() -> None:
    """The parts of a line have random numbers of their own, even where they are equal."""
    sentence = "Haus und Katze nicht grün."
    limit = len(tokenizers().source.encode(sentence))
    translator = sampler(longest_source=limit, samples=5, length_penalty="none")
    (line,) = translator.translate([f"{sentence} {sentence}"])
    source = tokenizers().source.encode(sentence)
    parts = [
        Source(tokens=source, text=sentence, line=1, demands=Demands(random_stream=(1, part)))
        for part in (0, 1)
    ]
    first, second = searched(sampler(samples=5), parts)
    assert [each.tokens for each in line.hypotheses] == [
        (*a.tokens, *b.tokens) for a, b in zip(first, second, strict=True)
    ]
    for each, a, b in zip(line.hypotheses, first, second, strict=True):
        assert each.score == pytest.approx(a.log_probability + b.log_probability, abs=1e-4)
        assert each.hit_limit == (a.hit_limit or b.hit_limit)
    assert any(a.tokens != b.tokens for a, b in zip(first, second, strict=True))


def test_minimum_bayes_risk_weighs_samples_by_how_often_they_were_drawn() -> None:
    """By brute force over all samples, each a candidate and a reference."""
    options: dict[str, Any] = {"samples": 12, "temperature": 0.4}
    plain = list(sampler(**options).translate(lines()[:20]))
    chosen = list(sampler(utility=letters_in_common, **options).translate(lines()[:20]))
    num_repeated = 0
    for drawn, found in zip(plain, chosen, strict=True):
        given = [each.text for each in drawn.hypotheses]
        expected = dict(zip(given, letters_in_common(given).mean(axis=1), strict=True))
        assert {each.text: each.expected_utility for each in found.hypotheses} == pytest.approx(
            expected
        )
        order = [each.expected_utility for each in found.hypotheses]
        assert order == pytest.approx(sorted(expected.values(), reverse=True))
        num_repeated += len(set(given)) < len(given)
    assert num_repeated


def test_sampling_leaves_search_as_it_is() -> None:
    """The settings of search bound and score samples, and nothing else of them matters."""
    wide, _ = make(beam=7, n_best=2)
    translator = sampler()
    expected = tokens(translator)
    config = dataclasses.replace(translator.config, search=wide.config.search)
    options = TranslationOptions(sampling=SamplingConfig(samples=4), batch_size=8)
    other = Translator(translator.model, tokenizers(), config, options=options)
    assert tokens(other) == expected
