"""The translator: N lines in, N out, in order, in any batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mt.errors import DataError, DeviceMemoryError
from mt.events import LineSplit, Notice
from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.search_model import SearchModel
from mt.search.hypothesis import SearchResult
from mt.text.padding import pad_with_end
from mt.text.tokenizer import END, START
from mt.translation.options import TranslationOptions
from mt.translation.source import Source
from mt.translation.translator import Translator
from tests.translation.random_models import SHORT_TABLE, WORDS, lines, make, tokenizers


def texts(translator: Translator, given_lines: list[str]) -> list[str]:
    return [each.text for each in translator.translate(given_lines)]


@pytest.mark.parametrize("batch_size", [1, 3, 64])
@pytest.mark.parametrize("beam", [1, 4])
def test_the_batch_size_changes_nothing(batch_size: int, beam: int) -> None:
    expected = texts(make(batch_size=8, beam=beam)[0], list(lines()))
    assert texts(make(batch_size=batch_size, beam=beam)[0], list(lines())) == expected


@pytest.mark.parametrize("beam", [1, 3])
def test_ties_are_broken_alike_in_every_batch(beam: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pieces have the same weights and tie; each batch then rounds in a way of its own."""
    step = SearchModel.step

    def rounded_by_batch(
        model: SearchModel, tokens: torch.Tensor, state: DecoderState
    ) -> tuple[torch.Tensor, DecoderState]:
        logits, after = step(model, tokens, state)
        noise = torch.Generator().manual_seed(len(tokens))
        return logits + 1e-6 * torch.randn(logits.shape, generator=noise), after

    monkeypatch.setattr(SearchModel, "step", rounded_by_batch)
    found = []
    for batch_size in (1, 5, 64):
        translator, _ = make(batch_size=batch_size, beam=beam)
        with torch.no_grad():
            weight = translator.model.output_weight
            weight[4:] = weight[4]
        found.append(texts(translator, list(lines())))
    assert found[0] == found[1] == found[2]


class Device:
    """Stands for a small GPU: it gives up on searches of more than `room` padded tokens."""

    def __init__(self, translator: Translator, room: int) -> None:
        self.tried: list[int] = []
        self._room = room
        self._search = translator._searcher._together
        translator._searcher._together = self.search  # type: ignore[method-assign]

    def search(
        self, sources: Sequence[Source], groups: Sequence[list[int]], *, capacity: int
    ) -> dict[int, SearchResult]:
        longest = max(len(sources[key]) for group in groups for key in group)
        self.tried.append(min(capacity, sum(map(len, groups))) * (longest + 1))
        if self.tried[-1] > self._room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return self._search(sources, groups, capacity=capacity)


def test_what_does_not_fit_in_memory_is_searched_in_halves_with_the_same_result() -> None:
    translator, events = make(batch_size=36)
    device = Device(translator, room=150)
    assert texts(translator, list(lines())) == texts(make(batch_size=36)[0], list(lines()))
    too_large = [size for size in device.tried if size > 150]
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert 0 < len(notices) <= len(too_large)
    assert "from here on 18 sentences are searched together" in notices[0]
    device.tried.clear()
    texts(translator, list(lines()))
    assert max(device.tried) <= 150


def test_a_sentence_that_does_not_fit_in_memory_alone_is_one_line() -> None:
    translator, _ = make()
    Device(translator, room=0)
    with pytest.raises(DeviceMemoryError, match=r"search for a sentence of \d+ tokens") as caught:
        texts(translator, list(lines()))
    assert "(CUDA out of memory)" in str(caught.value)


def test_an_empty_batch_is_misuse() -> None:
    with pytest.raises(ValueError, match="batch_size must be at least 1, but is 0"):
        TranslationOptions(batch_size=0)


def test_options_replace_the_settings_of_the_model() -> None:
    plain, _ = make(beam=1)
    search = dataclasses.replace(plain.config.search, beam=4, n_best=2)
    options = TranslationOptions(search=search, batch_size=1)
    wide = Translator(plain.model, tokenizers(), plain.config, options=options)
    assert wide.config.search == search
    expected, _ = make(beam=4, n_best=2, batch_size=1)
    assert wide.translate(lines()) == expected.translate(lines())


def test_order_and_neighbours_change_nothing() -> None:
    forward = texts(make()[0], list(lines()))
    backward = texts(make()[0], list(reversed(lines())))
    assert backward[::-1] == forward
    assert [texts(make()[0], [line])[0] for line in lines()[:10]] == forward[:10]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=6))
def test_n_lines_in_give_n_lines_out_and_blank_stays_blank(given_lines: list[str]) -> None:
    found = texts(make(max_length=4)[0], given_lines)
    assert len(found) == len(given_lines)
    for line, text in zip(given_lines, found, strict=True):
        assert len(text.splitlines()) <= 1
        if not line.strip():
            assert text == ""


def test_a_blank_line_does_not_reach_the_model() -> None:
    translator, _ = make()
    with_blanks = texts(translator, ["", lines()[0], " \u2028", lines()[1], ""])
    assert with_blanks == ["", texts(make()[0], [lines()[0]])[0], "", with_blanks[3], ""]


def test_scores_are_the_models_own_by_forced_decoding() -> None:
    translator, _ = make(n_best=3)
    translator.model.eval()
    for translation in translator.translate(lines()[:10]):
        source, mask = pad_with_end([tokenizers().source.encode(translation.source)])
        for hypothesis in translation.hypotheses:
            fed = torch.tensor([[START, *hypothesis.tokens]])
            wanted = torch.tensor([*hypothesis.tokens, END])
            with torch.no_grad():
                hidden = translator.model(source, mask, fed)[0]
                scores = torch.log_softmax(hidden @ translator.model.output_weight.T, dim=-1)
            total = float(scores.gather(1, wanted[:, None]).sum())
            assert hypothesis.score == pytest.approx(total / len(wanted), abs=1e-4)


def test_n_best_begins_with_the_best_and_repeats_no_tokens() -> None:
    single = texts(make()[0], list(lines()))
    many = list(make(n_best=3)[0].translate(lines()))
    assert [each.text for each in many] == single
    for each in many:
        tokens = [hypothesis.tokens for hypothesis in each.hypotheses]
        assert len(set(tokens)) == len(tokens)


def test_a_line_longer_than_training_is_translated_in_parts_and_reported() -> None:
    """The translation is that of its sentences, each translated by itself."""
    sentences = ["Haus und Katze.", "Nicht grün!", "Straße über Straße läuft."]
    limit = max(len(tokenizers().source.encode(each)) for each in sentences)
    translator, events = make(longest_source=limit)
    lines = ["haus", "  ".join(sentences), "", sentences[1]]
    found = texts(translator, lines)
    (event,) = events
    assert isinstance(event, LineSplit)
    assert (event.line, event.max_tokens, event.num_parts) == (2, limit, 3)
    alone = texts(make()[0], [*sentences, "haus"])
    assert found == [alone[3], " ".join(filter(None, alone[:3])), "", alone[1]]


def test_n_best_of_a_split_line_is_best_first_and_as_many_at_most() -> None:
    translator, _ = make(longest_source=20, n_best=3)
    (found,) = translator.translate(["Haus und Katze. Nicht grün! Straße über Straße."])
    assert 1 <= len(found.hypotheses) <= 3
    scores = [each.score for each in found.hypotheses]
    assert scores == sorted(scores, reverse=True)


def test_without_splitting_a_long_line_is_translated_whole_and_reported() -> None:
    translator, events = make(longest_source=5, split=False)
    long = " ".join(WORDS * 3)
    assert texts(translator, ["haus", long])[1] == texts(make()[0], [long])[0]
    (notice,) = events
    assert isinstance(notice, Notice)
    assert notice.text.startswith("line 2: ")


def test_minimum_bayes_risk_orders_the_beam_and_keeps_the_scores_of_the_model() -> None:
    """By brute force over the hypotheses of the same beam, by the letters that two texts share."""

    def utility(given: Sequence[str]) -> NDArray[np.float64]:
        return np.array([[float(len(set(h) & set(r))) for r in given] for h in given])

    plain, _ = make(beam=4, n_best=4, length_penalty="none")
    chosen, _ = make(beam=4, n_best=2, length_penalty="none", utility=utility)
    num_changed = 0
    for line in lines()[:20]:
        (beam,) = plain.translate([line])
        (found,) = chosen.translate([line])
        if len(beam.hypotheses) < 4:
            continue  # some read alike, and their probabilities are not told one by one
        weights = np.exp([each.score for each in beam.hypotheses])
        expected = utility([each.text for each in beam.hypotheses]) @ (weights / weights.sum())
        order = sorted(range(len(expected)), key=lambda i: (-round(expected[i], 9), i))
        assert [each.text for each in found.hypotheses] == [
            beam.hypotheses[i].text for i in order[:2]
        ]
        assert found.hypotheses[0].score == pytest.approx(beam.hypotheses[order[0]].score)
        assert found.hypotheses[0].expected_utility == pytest.approx(expected[order[0]])
        num_changed += order[0] != 0
    assert num_changed


def test_a_line_beyond_learned_positions_is_split_or_refused_with_its_number() -> None:
    translator, _ = make(model=SHORT_TABLE, max_length=500)
    assert len(texts(translator, ["haus"])) == 1  # hypotheses are bounded by the table
    assert len(texts(translator, ["haus", " ".join(WORDS * 9)])) == 2  # and parts too
    translator, _ = make(model=SHORT_TABLE, max_length=500, split=False)
    with pytest.raises(DataError, match=r"line 2: \d+ tokens are more than the 15"):
        texts(translator, ["haus", " ".join(WORDS * 9)])


def test_dropout_is_off_even_when_the_model_was_left_training() -> None:
    translator, _ = make()
    expected = texts(translator, list(lines()[:5]))
    translator.model.train()
    assert texts(translator, list(lines()[:5])) == expected


def test_a_batch_holds_a_bounded_number_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    step = SearchModel.step
    sizes: list[tuple[int, int]] = []

    def recorded(
        model: SearchModel, tokens: torch.Tensor, state: DecoderState
    ) -> tuple[torch.Tensor, DecoderState]:
        assert state.source is not None
        sizes.append((state.source.bias.size(0), state.source.bias.size(3)))
        return step(model, tokens, state)

    monkeypatch.setattr(SearchModel, "step", recorded)
    translator, _ = make(batch_size=4)
    texts(translator, ["haus"] * 9 + [" ".join(WORDS * 25)] * 3)
    assert max(size for size, _ in sizes) > 1
    assert all(size == 1 or size * length <= 4 * 64 for size, length in sizes)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("refill", [True, False])
@pytest.mark.parametrize("beam", [1, 4])
def test_workers_and_refilling_change_nothing(workers: int, refill: bool, beam: int) -> None:
    expected = [each.hypotheses for each in make(beam=beam)[0].translate(lines())]
    plain, _ = make(beam=beam)
    options = TranslationOptions(batch_size=8, workers=workers)
    translator = Translator(plain.model, tokenizers(), plain.config, options=options)
    translator._searcher.refill = refill
    found = [each.hypotheses for each in translator.translate(lines())]
    assert [[h.tokens for h in each] for each in found] == [
        [h.tokens for h in each] for each in expected
    ]
    for one, other in zip(found, expected, strict=True):
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-5)


def test_a_fault_in_a_worker_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    translator, _ = make(batch_size=4)

    def fail(*_: object) -> None:
        raise DataError("a fault of the second worker")

    monkeypatch.setattr(SearchModel, "step", fail)
    threads = torch.get_num_threads()
    with pytest.raises(DataError, match="second worker"):
        texts(translator, list(lines()))
    assert torch.get_num_threads() == threads


def test_threads_may_share_a_translator() -> None:
    translator, _ = make()
    expected = texts(translator, list(lines()))
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: texts(translator, list(lines())), range(6)):
            assert found == expected
