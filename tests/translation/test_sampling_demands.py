"""Samples of lines with prefixes, under constraints, and of ensembles, in any batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import SamplingConfig
from mt.model_folder.folder import LoadedModel
from mt.search.mbr import Utility
from mt.text.glossary import Glossary
from mt.text.normalise import is_blank, normalise
from mt.translation.options import TranslationOptions
from mt.translation.translation import Translation
from mt.translation.translator import Translator
from tests.translation.members import DEEP, member, scorer_of
from tests.translation.random_models import lines, some_prefixes, tokenizers
from tests.translation.samples import letters_in_common, tokens_of

CONSTRAINTS: dict[str, Any] = {"no_repeat_ngram": 2, "max_repeats": 1, "min_length_ratio": 0.7}


def sampler(
    *members: LoadedModel,
    batch_size: int = 8,
    workers: int | None = 1,
    refill: bool = False,
    utility: Utility | None = None,
    glossary: Glossary | None = None,
    **sampling: Any,
) -> Translator:
    first, *others = members
    translator = Translator(
        first.model,
        first.tokenizers,
        first.config,
        others=others,
        options=TranslationOptions(
            batch_size=batch_size,
            workers=workers,
            utility=utility,
            glossary=glossary,
            sampling=SamplingConfig(**{"samples": 3, **sampling}),
        ),
    )
    translator._searcher.refill = refill
    return translator


def check_scores(members: Sequence[LoadedModel], translations: Sequence[Translation]) -> None:
    """They are those of forced decoding, by the members together."""
    pairs = [
        (tokenizers().source.encode(one.source), each.tokens)
        for one in translations
        for each in one.hypotheses
    ]
    scored = [each.score for each in scorer_of(*members).score_tokens(pairs)]
    reported = [each.score for one in translations for each in one.hypotheses]
    assert reported == pytest.approx(scored, abs=1e-4)


def test_every_sample_begins_with_the_prefix_at_the_models_score() -> None:
    one = member(1, max_length=30)
    prefixes = some_prefixes(len(lines()))
    found = list(sampler(one).translate(lines(), prefixes=prefixes))
    free = list(sampler(one).translate(lines()))
    num_varied = 0
    for translation, prefix, without in zip(found, prefixes, free, strict=True):
        assert len(translation.hypotheses) == 3
        assert all(h.text.startswith(normalise(prefix)) for h in translation.hypotheses)
        if is_blank(prefix):
            assert translation == without
        num_varied += len({each.tokens for each in translation.hypotheses}) > 1
    assert num_varied == len(lines())
    check_scores([one], found)


@pytest.mark.parametrize("filters", [{}, {"temperature": 2.0, "top_p": 0.9}])
def test_no_sample_breaks_a_constraint_and_scores_are_the_models(filters: dict[str, Any]) -> None:
    one = member(1, max_length=40, **CONSTRAINTS)
    found = list(sampler(one, **filters).translate(lines()))
    for translation in found:
        length = len(tokenizers().source.encode(translation.source))
        for each in translation.hypotheses:
            ngrams = list(zip(each.tokens, each.tokens[1:], strict=False))
            assert len(set(ngrams)) == len(ngrams)
            assert all(a != b for a, b in ngrams)
            assert len(each.tokens) >= int(0.7 * length)
    check_scores([one], found)
    free = list(sampler(member(1, max_length=40), **filters).translate(lines()))
    assert tokens_of(free) != tokens_of(found)


@pytest.mark.parametrize(
    ("num_members", "filters"), [(1, {}), (2, {"top_k": 9, "top_p": 0.9, "temperature": 1.5})]
)
def test_batches_workers_and_refilling_change_no_sample(
    num_members: int, filters: dict[str, Any]
) -> None:
    """With prefixes and constraints, by a model and by an ensemble."""
    members = [member(1, **CONSTRAINTS), member(2, DEEP)][:num_members]
    some = lines()[:24]
    prefixes = some_prefixes(len(some))
    expected = tokens_of(list(sampler(*members, **filters).translate(some, prefixes=prefixes)))
    for batch_size, workers, refill in [(1, 1, True), (3, 2, True), (64, 2, False), (64, 1, True)]:
        translator = sampler(
            *members, batch_size=batch_size, workers=workers, refill=refill, **filters
        )
        assert tokens_of(list(translator.translate(some, prefixes=prefixes))) == expected
    tail = sampler(*members, **filters).translate(some[16:], prefixes=prefixes[16:], first_line=17)
    assert tokens_of(list(tail)) == expected[16:]


def test_an_ensemble_is_sampled_at_the_score_of_all_its_members() -> None:
    members = member(1), member(2, DEEP), member(3)
    found = list(sampler(*members).translate(lines()[:20]))
    check_scores(members, found)
    alone = [list(sampler(each).translate(lines()[:20])) for each in members]
    assert all(tokens_of(each) != tokens_of(found) for each in alone)
    twice = list(sampler(members[0], members[0]).translate(lines()[:20]))
    assert tokens_of(twice) == tokens_of(alone[0])


def test_minimum_bayes_risk_chooses_among_samples_with_the_prefix() -> None:
    some, prefixes = lines()[:10], ["Haus"] * 10
    drawn = sampler(member(1), samples=6).translate(some, prefixes=prefixes)
    translator = sampler(member(1), samples=6, utility=letters_in_common)
    found = translator.translate(some, prefixes=prefixes)
    for samples, chosen in zip(drawn, found, strict=True):
        texts = [each.text for each in samples.hypotheses]
        assert {each.text for each in chosen.hypotheses} == set(texts)
        assert chosen.text.startswith("Haus")
        means = dict(zip(texts, letters_in_common(texts).mean(axis=1), strict=True))
        assert means[chosen.text] == pytest.approx(max(means.values()))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=5))
def test_any_line_with_any_prefix_has_as_many_samples_as_asked_for(
    pairs: list[tuple[str, str]],
) -> None:
    translator = sampler(member(1, max_length=4, **CONSTRAINTS), samples=2)
    given_lines = [line for line, _ in pairs]
    prefixes = [prefix for _, prefix in pairs]
    found = list(translator.translate(given_lines, prefixes=prefixes))
    assert [one.source for one in found] == given_lines
    assert all(len(one.hypotheses) == 2 for one in found)


def test_samples_with_a_glossary_are_misuse() -> None:
    with pytest.raises(ValueError, match="without a glossary"):
        sampler(member(1), glossary=Glossary([("haus", "house")]))
