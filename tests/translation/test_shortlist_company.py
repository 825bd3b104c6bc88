"""Shortlists beside other bounds and wishes: prefixes, terms, constraints, ensembles."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from mt.events import WholeVocabulary
from mt.model.inference.search_model import SearchModel
from mt.search.ensemble import Ensemble
from mt.text.glossary import Glossary
from mt.text.normalise import is_blank
from mt.translation import shortlist_model
from mt.translation.forced import force_together
from mt.translation.shortlist import Shortlist
from mt.translation.shortlist_model import ShortlistModel
from mt.translation.translation import Translation
from mt.translation.translator import Translator
from tests.translation.test_shortlist_search import (
    WHOLE,
    MaskedModel,
    Pairs,
    as_ids,
    encoded,
    lines,
    make,
    network,
    search,
    table,
    tokenizers,
)

SEEDS = (0, 1)
TERMS = [("haus", "Straße nicht"), ("katze", "xylophon")]


def check_scores(translator: Translator, found: Sequence[Translation]) -> None:
    """They are those of the models over the whole vocabulary."""
    pairs: Pairs = []
    for translation in found:
        source = tokenizers().source.encode(translation.source)
        pairs += [(source, each.tokens) for each in translation.hypotheses]
    models = [translator.model, *(each.model for each in translator.others)]
    forced = force_together(models, pairs)
    expected = [each.log_probability / len(each.log_probabilities) for each in forced]
    scores = [each.score for translation in found for each in translation.hypotheses]
    assert scores == pytest.approx(expected, abs=1e-4)


def tokens(translation: Translation) -> list[tuple[int, ...]]:
    return [hypothesis.tokens for hypothesis in translation.hypotheses]


def is_within(translation: Translation, shortlist: Shortlist) -> bool:
    """Whether the best translation holds no piece that the shortlist rules out."""
    source = tokenizers().source.encode(translation.source)
    return set(translation.hypotheses[0].tokens) <= set(shortlist.candidates(source).tolist())


@pytest.mark.parametrize("beam", [1, 3])
def test_a_line_with_a_prefix_is_as_without_shortlist(beam: int) -> None:
    prefixes = random.Random(1).choices(["", " ", "Haus", "katze läu", "xyz"], k=len(lines()))
    translator, events = make(table(), beam=beam, n_best=beam)
    found = list(translator.translate(lines(), prefixes=prefixes))
    whole = list(make(None, beam=beam, n_best=beam)[0].translate(lines(), prefixes=prefixes))
    free = list(make(table(), beam=beam, n_best=beam)[0].translate(lines()))
    num_outside = 0
    for ours, theirs, short, prefix in zip(found, whole, free, prefixes, strict=True):
        if is_blank(prefix):
            assert tokens(ours) == tokens(short)
        else:
            assert ours.text.startswith(prefix)
            assert tokens(ours) == tokens(theirs)
            num_outside += not is_within(ours, table())
    check_scores(translator, found)
    assert num_outside > 10
    num = sum(not is_blank(prefix) for prefix in prefixes)
    assert events == [WholeVocabulary(num_demanding=num, num_unknown=0, num_unfit=0)]


@pytest.mark.parametrize("batch_size", [3, 64])
def test_terms_come_from_outside_a_shortlist(batch_size: int) -> None:
    glossary = Glossary(TERMS)
    translator, events = make(
        table(), batch_size=batch_size, glossary=glossary, max_length=24, beam=5
    )
    found = list(translator.translate(lines()))
    usual = list(make(table(), max_length=24, beam=5)[0].translate(lines()))
    num_asked = num_missed = num_outside = 0
    for ours, theirs in zip(found, usual, strict=True):
        assert ours.terms is not None
        num_asked += len(ours.terms)
        num_missed += len(ours.hypotheses[0].terms_missed)
        if not glossary.missed(ours.terms, theirs.text):
            assert tokens(ours) == tokens(theirs)
            assert is_within(ours, table())
        num_outside += not is_within(ours, table())
    assert num_missed <= num_asked // 20
    assert num_outside > 10
    check_scores(translator, found)
    assert events == []


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize(
    "settings",
    [
        {"no_repeat_ngram": 1},
        {"no_repeat_ngram": 2},
        {"max_repeats": 1},
        {"max_repeats": 2, "min_length_ratio": 1.5},
    ],
)
def test_constraints_are_those_of_the_pieces(settings: dict[str, float], beam: int) -> None:
    model, shortlist = network(), table()
    short = ShortlistModel(SearchModel(model), shortlist)
    found = search(short, encoded(), shortlist_model.SYMBOLS, beam=beam, **settings)
    free = search(short, encoded(), shortlist_model.SYMBOLS, beam=beam)
    assert found != free
    for source, result in zip(encoded(), found, strict=True):
        candidates = shortlist.candidates(source)
        (expected,) = search(MaskedModel(model, candidates), [source], WHOLE, beam=beam, **settings)
        assert as_ids(result, candidates) == [each.tokens for each in expected.hypotheses]


def test_no_run_of_pieces_comes_twice() -> None:
    translator, _ = make(table(), no_repeat_ngram=2, n_best=3)
    found = list(translator.translate(lines()))
    for translation in found:
        assert is_within(translation, table())
        for each in translation.hypotheses:
            pairs = list(zip(each.tokens, each.tokens[1:], strict=False))
            assert len(set(pairs)) == len(pairs)
    check_scores(translator, found)


@pytest.mark.parametrize("beam", [1, 4])
def test_an_ensemble_is_that_of_its_members_over_the_same_shortlist(beam: int) -> None:
    models, shortlist = [network(seed=seed) for seed in SEEDS], table()
    short = Ensemble([ShortlistModel(SearchModel(model), shortlist) for model in models])
    found = search(short, encoded(), shortlist_model.SYMBOLS, beam=beam)
    for source, result in zip(encoded(), found, strict=True):
        candidates = shortlist.candidates(source)
        masked = Ensemble([MaskedModel(model, candidates) for model in models])
        (expected,) = search(masked, [source], WHOLE, beam=beam)
        assert as_ids(result, candidates) == [each.tokens for each in expected.hypotheses]
        scores = [each.score for each in result.hypotheses]
        assert scores == pytest.approx([each.score for each in expected.hypotheses], abs=1e-5)


@pytest.mark.parametrize("num_copies", [0, 1])
@pytest.mark.parametrize("batch_size", [1, 64])
def test_an_ensemble_has_scores_of_all_members_whatever_the_company(
    batch_size: int, num_copies: int
) -> None:
    expected = list(make(table(), seeds=SEEDS, n_best=3)[0].translate(lines()))
    translator, _ = make(
        table(), seeds=SEEDS, n_best=3, batch_size=batch_size, num_copies=num_copies
    )
    found = list(translator.translate(lines()))
    assert [tokens(each) for each in found] == [tokens(each) for each in expected]
    assert all(is_within(each, table()) for each in found)
    check_scores(translator, found)
    alone = make(table(), n_best=3)[0].translate(lines())
    assert [each.text for each in found] != [each.text for each in alone]


def test_a_shortlist_of_another_vocabulary_is_refused() -> None:
    short = table()
    other = Shortlist(
        first=short.first, pieces=short.pieces, frequent=short.frequent, target_vocab=301
    )
    with pytest.raises(ValueError, match="a shortlist of 301 target pieces does not fit a model"):
        make(other)
