"""Search: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mt.config import SearchConfig
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.search_model import SearchModel
from mt.model.translation_model import padding_bias
from mt.model_folder import folder as model_folder
from mt.text.padding import pad_with_end
from mt.translation.options import TranslationOptions
from mt.translation.translation import Translation
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.cases.toy import WORDS, Toy, as_bytes, as_lines, sentence, toy_sources


@pytest.fixture(scope="module")
def untrained(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the toy model with first, random weights."""
    folder = tmp_path_factory.mktemp("untrained") / "model"
    shutil.copytree(model, folder)
    loaded = model_folder.load_model(folder)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        fresh = model_folder.build_model(loaded.config, loaded.tokenizers)
    model_folder.save_weights(folder, fresh)
    return folder


def translations(
    folder: Path, lines: Sequence[str], *, batch_size: int = 64, **search: int
) -> list[Translation]:
    """Translations through the Python API with some settings of search changed."""
    settings = dataclasses.replace(SearchConfig(), **search)  # type: ignore[arg-type]
    options = TranslationOptions(search=settings, batch_size=batch_size)
    translator = Translator.load(folder, options=options)
    return list(translator.translate(lines))


def long_sources(num: int, *, num_words: int) -> list[str]:
    """Toy text of other lengths than training saw."""
    order = random.Random("long")
    return [" ".join(order.choices(WORDS, k=num_words)) for _ in range(num)]


@pytest.mark.parametrize("beam", [1, 5])
def test_company_of_a_sentence_changes_nothing(beam: int, model: Path) -> None:
    """G01 (OpenNMT-py#1909, #2208; CTranslate2#546, #1050; fairseq#427, #3078).

    Also transformers#22707, marian-dev#311, pytorch/translate#308. In float32 on the CPU
    translations are equal, and scores but for the last digits, for every batch size and order.
    """
    lines = [*toy_sources(60, seed="company"), *long_sources(4, num_words=60)]
    random.Random(1).shuffle(lines)
    alone = translations(model, lines, batch_size=1, beam=beam, n_best=beam)
    others = [
        translations(model, lines, batch_size=size, beam=beam, n_best=beam) for size in (3, 64)
    ]
    others.append(translations(model, lines[::-1], batch_size=7, beam=beam, n_best=beam)[::-1])
    for other in others:
        for ours, theirs in zip(alone, other, strict=True):
            assert [h.tokens for h in ours.hypotheses] == [h.tokens for h in theirs.hypotheses]
            assert [h.score for h in ours.hypotheses] == pytest.approx(
                [h.score for h in theirs.hypotheses], abs=1e-4
            )


def test_padding_changes_no_encoder_state(model: Path) -> None:
    """G01: the states of a padded row are those of the row alone."""
    loaded = model_folder.load_model(model)
    sources = loaded.tokenizers.source.encode_batch([*toy_sources(8, seed="states"), WORDS[0]])
    padded, mask = pad_with_end(sources)
    assert isinstance(loaded.model, EncoderDecoder)
    with torch.inference_mode():
        states = loaded.model.encode(padded, padding_bias(mask))
        for row, source in enumerate(sources):
            alone, own_mask = pad_with_end([source])
            expected = loaded.model.encode(alone, padding_bias(own_mask))[0]
            torch.testing.assert_close(
                states[row, : len(source) + 1], expected, atol=1e-5, rtol=1e-5
            )


def test_first_of_n_best_is_the_best(model: Path, toy: Toy) -> None:
    """G04 (OpenNMT/OpenNMT-py#1320): n-best only adds lines, in falling order of score."""
    stdin = toy.test.source.read_bytes()
    plain = run_here("translate", "-m", model, stdin=stdin).check().lines
    listed = run_here("translate", "-m", model, "--n-best", "5", stdin=stdin).check().lines
    assert listed[::5] == plain
    rows = run_here("translate", "-m", model, "--n-best", "5", "--json", stdin=stdin).check().lines
    records = [json.loads(row) for row in rows]
    assert [record["source"] for record in records] == as_lines(stdin)
    for number, record in enumerate(records):
        texts = [hypothesis["text"] for hypothesis in record["hypotheses"]]
        scores = [hypothesis["score"] for hypothesis in record["hypotheses"]]
        assert texts == listed[5 * number : 5 * number + 5]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("weights", ["trained", "untrained"])
def test_hypotheses_of_a_sentence_are_distinct(
    weights: str, model: Path, untrained: Path, toy: Toy
) -> None:
    """G05 (OpenNMT#56; OpenNMT-py#60, #1001; modernmt#295): as sequences of tokens."""
    lines = [*as_lines(toy.test.source.read_bytes()), "zzz 🦊", WORDS[0]]
    folder = model if weights == "trained" else untrained
    for translation in translations(folder, lines, beam=8, n_best=8):
        found = [hypothesis.tokens for hypothesis in translation.hypotheses]
        assert len(set(found)) == len(found)
        assert weights == "untrained" or len(found) >= 5  # the rest read like one of these


@pytest.mark.parametrize("weights", ["trained", "untrained"])
def test_n_best_list_repeats_no_text(weights: str, model: Path, untrained: Path, toy: Toy) -> None:
    """G05: texts that coincide once detokenised are merged, or it is said that they are not."""
    lines = [*as_lines(toy.test.source.read_bytes()), "zzz 🦊", WORDS[0]]
    folder = model if weights == "trained" else untrained
    for translation in translations(folder, lines, beam=8, n_best=8):
        texts = [hypothesis.text for hypothesis in translation.hypotheses]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("max_length", [1, 5])
def test_search_that_reaches_its_bound_gives_what_it_has(
    beam: int, max_length: int, untrained: Path, toy: Toy
) -> None:
    """G07 (OpenNMT-py#212, PR#221; fairseq#119; sockeye#545): no crash, and not all empty."""
    lines = as_lines(toy.test.source.read_bytes())
    options = ("--beam", str(beam), "--max-length", str(max_length))
    run = run_here("translate", "-m", untrained, *options, stdin=as_bytes(lines)).check()
    assert len(run.lines) == len(lines)
    found = translations(untrained, lines, beam=beam, max_length=max_length)
    assert [each.text for each in found] == run.lines
    assert all(len(each.hypotheses[0].tokens) <= max_length for each in found)
    assert any(each.hypotheses[0].tokens for each in found)


@pytest.mark.parametrize(
    "odd",
    [
        WORDS[0],
        "???????? ...",
        " ".join([WORDS[0]] * 8),
        "zzzz zzzz",
        ".",
        "🦊" * 10,
        "Ω",
        "a" * 200,
    ],
)
@pytest.mark.parametrize("weights", ["trained", "untrained"])
def test_odd_input_ends_within_the_documented_bound(
    odd: str, weights: str, model: Path, untrained: Path
) -> None:
    """G08 (LibreTranslate#167, #168; EasyNMT#38; Opus-MT#49; marian-dev#311): 2 n + 20 tokens."""
    folder = model if weights == "trained" else untrained
    options = TranslationOptions(search=SearchConfig(), split=False)
    (found,) = Translator.load(folder, options=options).translate([odd])
    num_source = len(model_folder.load_model(folder).tokenizers.source.encode(odd))
    assert len(found.hypotheses[0].tokens) <= 2 * num_source + 20


def test_translation_ended_at_the_bound_is_warned_of(model: Path) -> None:
    """G08: on standard error, once, with their number."""
    stdin = as_bytes([sentence(0, 1, 2, 3), sentence(4, 5, 6, 7), ""])
    run = run_here("translate", "-m", model, "--max-length", "2", stdin=stdin).check()
    assert len(run.lines) == 3
    assert run.err == "mt: warning: 2 translations were ended at the length bound\n"
    assert run_here("translate", "-m", model, stdin=stdin).check().err == ""


@pytest.mark.parametrize("beam", [1, 5])
def test_search_ends_when_its_result_is_settled(
    beam: int, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G09 (awslabs/sockeye PR#233): far from a bound of 200 tokens."""
    num_steps = 0
    step = SearchModel.step

    def counting(
        self: SearchModel, tokens: Tensor, state: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        nonlocal num_steps
        num_steps += 1
        return step(self, tokens, state)

    monkeypatch.setattr(SearchModel, "step", counting)
    (found,) = translations(
        model, [sentence(0, 1)], beam=beam, max_length_offset=1000, max_length=200
    )
    assert num_steps <= 3 * len(found.hypotheses[0].tokens) + 20


@pytest.mark.parametrize("beam", [1, 5])
def test_empty_line_in_a_batch_harms_no_other(beam: int, model: Path) -> None:
    """G10 (OpenNMT-py#1642; CTranslate2 PR#50, PR#460, PR#677): no row without a source."""
    first, last = sentence(0, 1, 2), sentence(3)
    alone = [translations(model, [line], beam=beam)[0].text for line in (first, last)]
    for lines in ([first, "", last], ["", first, last], [first, last, ""]):
        found = [each.text for each in translations(model, lines, batch_size=3, beam=beam)]
        assert found.pop(lines.index("")) == ""
        assert found == alone
    assert [each.text for each in translations(model, ["", "", ""], beam=beam)] == ["", "", ""]


def test_search_is_without_dropout_whatever_the_model_was_at(model: Path, toy: Toy) -> None:
    """G11 (fairseq#568, #2712): a model left in training mode translates the same."""
    lines = as_lines(toy.test.source.read_bytes())
    translator = Translator.load(model)
    expected = list(translator.translate(lines))
    translator.model.train()
    assert list(translator.translate(lines)) == expected
