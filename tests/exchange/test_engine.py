"""CTranslate2 as an engine keeps the promises of mt's own search."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest

from mt.config import LengthPenalty, SearchConfig
from mt.errors import MtError
from mt.events import ignore
from mt.model_folder.folder import LoadedModel, load_model
from mt.search.hypothesis import SearchResult
from mt.tasks.engine import engine_translator
from mt.text.glossary import Glossary
from mt.text.tokenizer import UNKNOWN
from mt.translation.line_translator import LineTranslator
from mt.translation.options import TranslationOptions
from mt.translation.scorer import Scorer
from mt.translation.source import Source
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.exchange.talkers import SHAPE, SOURCE_WORDS, lines, write_talker

pytest.importorskip("ctranslate2")
SOURCES = [*lines(tuple(SOURCE_WORDS)), "", "  ", *lines(tuple(SOURCE_WORDS))[:3]]
ROOM = SearchConfig(beam=1, max_length_ratio=0, max_length_offset=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder, and beside it its conversion."""
    folder = tmp_path_factory.mktemp("engine") / "m"
    write_talker(folder, SHAPE, joint=True)
    run_here("export", "-m", folder, "-o", folder.parent / "converted").check()
    return folder


def both(folder: Path, search: SearchConfig, **more: Any) -> tuple[Translator, LineTranslator]:
    """mt's own search, and the engine."""
    loaded = load_model(folder)
    options = TranslationOptions(search=search, device="cpu", **more)
    own = Translator(loaded.model, loaded.tokenizers, loaded.config, options=options)
    return own, engine_of(folder, loaded, own, options)


def engine_of(
    folder: Path, loaded: LoadedModel, own: Translator, options: TranslationOptions
) -> LineTranslator:
    return engine_translator(
        folder.parent / "converted",
        loaded.config,
        loaded.tokenizers,
        lambda: own.finder,
        threads=2,
        options=options,
        listener=ignore,
    )


GREEDY: list[dict[str, Any]] = [
    {},
    {"max_length": 3},
    {"max_length_ratio": 0.5, "max_length_offset": 1},
    {"min_length_ratio": 0.8, "max_length_ratio": 2.0},
    {"no_repeat_ngram": 2},
    {"no_repeat_ngram": 1, "max_length": 5},
    {"length_penalty": "none"},
    {"length_penalty": "gnmt", "alpha": 0.6},
]


@pytest.mark.parametrize("change", GREEDY)
def test_greedy_results_are_those_of_mt(folder: Path, change: dict[str, Any]) -> None:
    own, engine = both(folder, dataclasses.replace(ROOM, **change))
    expected = own.translate(SOURCES)
    found = engine.translate(SOURCES)
    assert len({each.text for each in expected}) > 5
    for ours, theirs in zip(expected, found, strict=True):
        assert theirs.source == ours.source
        (one,), (other,) = ours.hypotheses, theirs.hypotheses
        assert (other.text, other.tokens) == (one.text, one.tokens)
        assert other.hit_limit == one.hit_limit
        assert other.score == pytest.approx(one.score, abs=1e-4)


@pytest.mark.parametrize("penalty", get_args(LengthPenalty))
@pytest.mark.parametrize("change", [{}, {"max_length": 3}, {"min_length_ratio": 1.0}])
def test_scores_of_a_beam_are_those_of_mt_score_and_bounds_hold(
    folder: Path, penalty: LengthPenalty, change: dict[str, Any]
) -> None:
    search = SearchConfig(beam=4, n_best=3, length_penalty=penalty, alpha=0.7, **change)
    own, engine = both(folder, search)
    loaded = load_model(folder)
    scorer = Scorer(loaded.model, loaded.tokenizers, own.config)
    for translation in engine.translate(SOURCES):
        source = loaded.tokenizers.source.encode(translation.source)
        if not source:
            continue
        scores = [each.score for each in translation.hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert 1 <= len(scores) <= 3
        pairs = [(source, each.tokens) for each in translation.hypotheses]
        for each, scored in zip(translation.hypotheses, scorer.score_tokens(pairs), strict=True):
            assert each.score == pytest.approx(scored.score, abs=2e-4)
            assert len(each.tokens) <= min(2 * len(source) + 20, search.max_length or 1000)
            assert len(each.tokens) >= min(
                int(search.min_length_ratio * len(source)), search.max_length or 1000
            )
            assert min(each.tokens, default=UNKNOWN + 1) > UNKNOWN


def test_what_the_engine_has_no_form_for_is_found_by_mt(folder: Path) -> None:
    loaded = load_model(folder)
    own, engine = both(folder, ROOM)
    prefixes = ["house", *[""] * (len(SOURCES) - 1)]
    expected = own.translate(SOURCES, prefixes=prefixes)
    assert [each.text for each in engine.translate(SOURCES, prefixes=prefixes)] == [
        each.text for each in expected
    ]
    word = SOURCE_WORDS[0]
    long = " ".join([word] * 700)  # its hypotheses may need more positions than are written
    assert len(loaded.tokenizers.source.encode(long)) > 2048
    own, engine = both(folder, ROOM, split=False)
    found, expected = engine.translate([long, word]), own.translate([long, word])
    assert [each.hypotheses[0].tokens for each in found] == [
        each.hypotheses[0].tokens for each in expected
    ]


def test_lines_that_protect_texts_are_found_by_mt_and_no_others(folder: Path) -> None:
    own, engine = both(folder, ROOM, glossary=Glossary())
    protected = [(word,) if i == 0 else () for i, word in enumerate(SOURCES)]
    expected = own.translate_window(SOURCES, protected=protected)
    searched: list[int] = []

    class Counted:
        def search(self, sources: Sequence[Source]) -> list[SearchResult]:
            searched.append(len(sources))
            return own.finder.search(sources)

    engine.finder = dataclasses.replace(engine.finder, own=Counted)  # type: ignore[type-var]
    found = engine.translate_window(SOURCES, protected=protected)
    assert searched == [1]
    assert [each.text for each in found] == [each.text for each in expected]
    assert expected[0].terms is not None and len(expected[0].terms) == 1
    with pytest.raises(ValueError, match="need a glossary"):
        both(folder, ROOM)[0].translate_window(SOURCES, protected=protected)


def test_long_lines_are_translated_in_parts(folder: Path) -> None:
    own, engine = both(folder, ROOM)
    long = ". ".join(lines(tuple(SOURCE_WORDS)))
    (expected,) = own.translate([long])
    (found,) = engine.translate([long])
    assert len(found.hypotheses[0].parts) > 5
    assert found.text == expected.text


@pytest.mark.parametrize("penalty", ["mean", "gnmt"])
def test_a_reserved_symbol_is_never_given(tmp_path: Path, penalty: LengthPenalty) -> None:
    """A model that thinks of the unknown symbol above all."""
    import torch

    from mt.model_folder.folder import save_weights

    folder = write_talker(tmp_path / "m", SHAPE, joint=True)
    model = load_model(folder).model
    with torch.no_grad():
        model.output_weight[UNKNOWN, 0] = 1.0
    save_weights(folder, model)
    run_here("export", "-m", folder, "-o", tmp_path / "converted").check()
    search = dataclasses.replace(ROOM, length_penalty=penalty)
    own, engine = both(folder, search)
    for ours, theirs in zip(own.translate(SOURCES), engine.translate(SOURCES), strict=True):
        assert theirs.hypotheses[0].tokens == ours.hypotheses[0].tokens
        assert theirs.hypotheses[0].score == pytest.approx(ours.hypotheses[0].score, abs=1e-4)


def test_damaged_weights_are_an_error_of_mt(folder: Path, tmp_path: Path) -> None:
    loaded = load_model(folder)
    tmp_path.joinpath("converted").mkdir()
    make = partial(
        engine_of,
        tmp_path / "m",
        loaded,
        both(folder, ROOM)[0],
        TranslationOptions(search=ROOM),
    )
    with pytest.raises(MtError, match="cannot be loaded by CTranslate2"):
        make()
