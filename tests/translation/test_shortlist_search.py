"""Search over shortlists: that of the same model with all other pieces forbidden."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from mt.config import Config, ModelConfig, SearchConfig, SearchPrecision
from mt.events import Event, WholeVocabulary
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.search_model import SearchModel
from mt.model_folder.folder import LoadedModel
from mt.search.hypothesis import SearchResult
from mt.search.scheduler import Group, search_groups
from mt.search.sentence import NO_DEMANDS, Symbols
from mt.search.step import S, StepModel
from mt.text.glossary import Glossary
from mt.text.padding import pad_with_end
from mt.text.subwords import train_subwords
from mt.text.tokenizer import END, PAD, START, UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation import shortlist_model
from mt.translation.forced import force
from mt.translation.shortlist import Shortlist
from mt.translation.shortlist_model import ShortlistModel
from mt.translation.shortlist_search import ShortlistSearcher
from mt.translation.translator import Translator

WORDS = ["haus", "katze", "läuft", "grün", "und", "Straße", "nicht", "über"]
WHOLE = Symbols(start=START, end=END, forbidden=(PAD, START, UNKNOWN))
Pairs = list[tuple[Sequence[int], Sequence[int]]]


@cache
def lines() -> tuple[str, ...]:
    draw = random.Random(3)
    return tuple(" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(40))


@cache
def tokenizers() -> TokenizerPair:
    one = train_subwords(lines(), kind="bpe", vocab_size=300)
    return TokenizerPair(source=one, target=one)


def encoded() -> list[list[int]]:
    return tokenizers().source.encode_batch(list(lines()))


def network(*, seed: int = 0) -> EncoderDecoder:
    torch.manual_seed(seed)
    size = tokenizers().source.vocab_size
    shape = ModelConfig(
        d_model=32, d_inner=64, encoder_layers=1, decoder_layers=1, heads=2, dropout=0.3
    )
    model = EncoderDecoder(shape, source_vocab=size, target_vocab=size).eval()
    with torch.no_grad():
        model.output_weight[END] += 0.2  # so that some hypotheses end before the bound
    return model


def table(*, per_piece: int = 9, unknown: Sequence[int] = ()) -> Shortlist:
    """Random pieces for each source piece but the `unknown` ones."""
    size = tokenizers().source.vocab_size
    draw = np.random.default_rng(1)
    lists = [
        draw.choice(np.arange(4, size), 0 if i in unknown else per_piece, replace=False)
        for i in range(size)
    ]
    return Shortlist(
        first=np.cumsum([0, *map(len, lists)]).astype(np.int32),
        pieces=np.concatenate(lists).astype(np.int32),
        frequent=np.arange(100, 110, dtype=np.int32),
        target_vocab=size,
    )


def make(
    shortlist: Shortlist | None,
    *,
    batch_size: int = 8,
    precision: SearchPrecision = "float32",
    exact_scores: bool = True,
    workers: int | None = None,
    seeds: Sequence[int] = (0,),
    num_copies: int = 0,
    glossary: Glossary | None = None,
    **search: float,
) -> tuple[Translator, list[Event]]:
    settings = SearchConfig(**{"beam": 3, "max_length": 12, **search})  # type: ignore[arg-type]
    members = []
    for seed in seeds:
        model = network(seed=seed)
        config = Config(model=model.config, search=settings)
        members.append(LoadedModel(config=config, tokenizers=tokenizers(), model=model))
    first, *others = members
    events: list[Event] = []
    translator = Translator(
        first.model,
        first.tokenizers,
        first.config,
        others=others,
        copies_on=[torch.device("cpu")] * num_copies,
        batch_size=batch_size,
        precision=precision,
        workers=workers,
        shortlist=shortlist,
        exact_scores=exact_scores,
        glossary=glossary,
        listener=events.append,
    )
    return translator, events


class MaskedModel:
    """The same model with minus infinity for what is on no shortlist; a sentence at a time."""

    def __init__(self, model: EncoderDecoder, candidates: NDArray[np.int32]) -> None:
        self.model = SearchModel(model)
        self.is_out = torch.ones(model.output_weight.size(0), dtype=torch.bool)
        self.is_out[torch.from_numpy(candidates).long()] = False

    def start(self, source: Tensor, source_mask: Tensor) -> DecoderState:
        return self.model.start(source, source_mask)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        logits, after = self.model.step(tokens, state)
        return logits.masked_fill(self.is_out, -math.inf), after


def search(
    model: StepModel[S],
    sources: Sequence[Sequence[int]],
    symbols: Symbols,
    *,
    beam: int,
    **settings: float,
) -> list[SearchResult]:
    """In groups of four that join each other."""
    groups = []
    for begin in range(0, len(sources), 4):
        part = sources[begin : begin + 4]
        source, mask = pad_with_end(part)
        keys = range(begin, begin + len(part))
        groups.append(
            Group(keys=keys, source=source, source_mask=mask, demands=[NO_DEMANDS] * len(part))
        )
    config = SearchConfig(beam=beam, n_best=beam, max_length=10, **settings)  # type: ignore[arg-type]
    found = dict(search_groups(model, groups, symbols=symbols, config=config, capacity=8))
    return [found[key] for key in range(len(sources))]


def as_ids(result: SearchResult, candidates: NDArray[np.int32]) -> list[tuple[int, ...]]:
    return [tuple(candidates[list(each.tokens)].tolist()) for each in result.hypotheses]


@pytest.mark.parametrize("beam", [1, 4])
def test_it_is_the_search_with_all_other_pieces_forbidden(beam: int) -> None:
    model, shortlist = network(), table()
    found = search(
        ShortlistModel(SearchModel(model), shortlist), encoded(), shortlist_model.SYMBOLS, beam=beam
    )
    for source, result in zip(encoded(), found, strict=True):
        candidates = shortlist.candidates(source)
        (expected,) = search(MaskedModel(model, candidates), [source], WHOLE, beam=beam)
        assert as_ids(result, candidates) == [each.tokens for each in expected.hypotheses]
        scores = [each.score for each in result.hypotheses]
        assert scores == pytest.approx([each.score for each in expected.hypotheses], abs=1e-5)


@pytest.mark.parametrize("beam", [1, 4])
def test_lists_of_all_pieces_change_nothing(beam: int) -> None:
    model, size = network(), tokenizers().source.vocab_size
    everything = Shortlist(
        first=np.zeros(size + 1, np.int32),
        pieces=np.zeros(0, np.int32),
        frequent=np.arange(4, size, dtype=np.int32),
        target_vocab=size,
    )
    # A trained model gives nothing to symbols that no text holds; this one is not trained.
    expected = search(MaskedModel(model, everything.candidates([])), encoded(), WHOLE, beam=beam)
    found = search(
        ShortlistModel(SearchModel(model), everything),
        encoded(),
        shortlist_model.SYMBOLS,
        beam=beam,
    )
    candidates = everything.candidates([])
    for ours, theirs in zip(found, expected, strict=True):
        assert as_ids(ours, candidates) == [each.tokens for each in theirs.hypotheses]


@pytest.mark.parametrize("refill", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3, 64])
@pytest.mark.parametrize("beam", [1, 4])
def test_company_changes_nothing(beam: int, batch_size: int, refill: bool) -> None:
    expected = list(make(table(), beam=beam, n_best=beam)[0].translate(lines()))
    translator, _ = make(table(), batch_size=batch_size, workers=2, beam=beam, n_best=beam)
    assert isinstance(translator._finder, ShortlistSearcher)
    translator._finder.short.refill = refill
    found = list(translator.translate(lines()[::-1]))[::-1]
    for ours, theirs in zip(found, expected, strict=True):
        assert [each.tokens for each in ours.hypotheses] == [
            each.tokens for each in theirs.hypotheses
        ]


def test_scores_are_those_of_the_model_best_first() -> None:
    translator, _ = make(table(), n_best=3)
    for source, translation in zip(encoded(), translator.translate(lines()), strict=True):
        pairs: Pairs = [(source, each.tokens) for each in translation.hypotheses]
        means = [
            each.log_probability / len(each.log_probabilities)
            for each in force(translator.model, pairs)
        ]
        scores = [each.score for each in translation.hypotheses]
        assert scores == pytest.approx(means, abs=1e-5)
        assert scores == sorted(scores, reverse=True)


def test_one_hypothesis_is_the_same_with_and_without_its_exact_score() -> None:
    exact, quick = (
        list(make(table(), exact_scores=is_exact)[0].translate(lines()))
        for is_exact in (True, False)
    )
    assert [each.hypotheses[0].tokens for each in quick] == [
        each.hypotheses[0].tokens for each in exact
    ]
    # Within a shortlist all is likelier.
    assert all(
        ours.hypotheses[0].score > theirs.hypotheses[0].score
        for ours, theirs in zip(quick, exact, strict=True)
    )


def test_several_hypotheses_are_always_scored() -> None:
    exact, quick = (
        list(make(table(), n_best=2, exact_scores=is_exact)[0].translate(lines()))
        for is_exact in (True, False)
    )
    assert quick == exact


def test_a_sentence_with_an_unknown_piece_has_the_whole_vocabulary() -> None:
    unknown = tokenizers().source.encode(lines()[0])[0]
    num = sum(unknown in source for source in encoded())
    assert 0 < num < len(lines())
    shortlist = table(unknown=[unknown])
    translator, events = make(shortlist)
    found, whole = translator.translate(lines()), make(None)[0].translate(lines())
    for ours, theirs, source in zip(found, whole, encoded(), strict=True):
        if unknown in source:
            assert ours.hypotheses[0].tokens == theirs.hypotheses[0].tokens
        else:
            assert set(ours.hypotheses[0].tokens) <= set(shortlist.candidates(source).tolist())
    assert events == [WholeVocabulary(num_demanding=0, num_unknown=num, num_unfit=0)]


@pytest.mark.parametrize("per_piece", [1, 200])
def test_lists_that_are_too_short_or_too_long_are_not_used(per_piece: int) -> None:
    sources = ["haus", "katze"]
    translator, events = make(table(per_piece=per_piece), beam=8)
    assert list(translator.translate(sources)) == list(make(None, beam=8)[0].translate(sources))
    assert events == [WholeVocabulary(num_demanding=0, num_unknown=0, num_unfit=2)]


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_narrow_products_keep_to_the_lists(precision: SearchPrecision) -> None:
    translator, _ = make(table(), precision=precision)
    for source, translation in zip(encoded(), translator.translate(lines()), strict=True):
        assert set(translation.hypotheses[0].tokens) <= set(table().candidates(source).tolist())


def test_blank_lines_stay_blank() -> None:
    translator, events = make(table())
    assert [each.text for each in translator.translate(["", " "])] == ["", ""]
    assert events == []
