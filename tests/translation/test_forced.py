"""Forced decoding against decoding step by step."""

from __future__ import annotations

import copy
import math
import random

import pytest
import torch

from mt.config import ModelConfig
from mt.errors import ModelNumbersError
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.search_model import SearchModel
from mt.text.padding import pad_with_end
from mt.text.tokenizer import END, START
from mt.translation.forced import Forced, TokenPair, force

VOCABULARY = 40


@pytest.fixture(scope="module")
def model() -> EncoderDecoder:
    torch.manual_seed(0)
    config = ModelConfig(d_model=32, d_inner=64, encoder_layers=2, decoder_layers=3, heads=2)
    return EncoderDecoder(config, source_vocab=VOCABULARY, target_vocab=VOCABULARY)


def pairs_of(num: int, *, longest: int = 30) -> list[TokenPair]:
    draw = random.Random(num)
    return [
        tuple(draw.choices(range(4, VOCABULARY), k=draw.randint(0, longest)) for _ in "st")  # type: ignore[misc]
        for _ in range(num)
    ]


def step_by_step(model: EncoderDecoder, pair: TokenPair) -> list[float]:
    source, mask = pad_with_end([pair[0]])
    search = SearchModel(model.eval())
    state = search.start(source, mask)
    found = []
    with torch.inference_mode():
        for fed, wanted in zip([START, *pair[1]], [*pair[1], END], strict=True):
            logits, state = search.step(torch.tensor([fed]), state)
            found.append(float(torch.log_softmax(logits[0], dim=0)[wanted]))
    return found


def assert_same(ours: list[Forced], theirs: list[Forced]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert a.log_probabilities == pytest.approx(b.log_probabilities, abs=1e-5)
        torch.testing.assert_close(a.attention[1], b.attention[1], atol=1e-5, rtol=0)


def test_log_probabilities_are_those_of_decoding_step_by_step(model: EncoderDecoder) -> None:
    pairs = [*pairs_of(12), ([5, 6], []), ([], [5, 6]), ([], [])]
    for pair, forced in zip(pairs, force(model, pairs, batch_size=4), strict=True):
        assert forced.log_probabilities == pytest.approx(step_by_step(model, pair), abs=1e-5)


def test_order_and_batches_change_nothing(model: EncoderDecoder) -> None:
    pairs = pairs_of(40)
    alone = force(model, pairs, batch_size=1, attention_of=[1])
    assert_same(force(model, pairs, batch_size=64, attention_of=[1]), alone)
    assert_same(force(model, pairs[::-1], batch_size=7, attention_of=[1])[::-1], alone)


def test_attention_has_a_row_a_step_and_a_column_a_source_token(model: EncoderDecoder) -> None:
    pairs = pairs_of(9)
    for (source, target), forced in zip(
        pairs, force(model, pairs, attention_of=[0, 2]), strict=True
    ):
        assert list(forced.attention) == [0, 2]
        for weights in forced.attention.values():
            assert weights.shape == (len(target) + 1, len(source) + 1)
            torch.testing.assert_close(weights.sum(dim=1), torch.ones(len(target) + 1))


def test_what_does_not_fit_in_memory_is_decoded_in_halves(
    model: EncoderDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = pairs_of(8, longest=5)
    expected = force(model, pairs, attention_of=[1])
    forward = EncoderDecoder.forward_with_attention

    def small(self: EncoderDecoder, source: torch.Tensor, *args: object, **flags: object) -> object:
        if len(source) > 3:
            raise torch.OutOfMemoryError("no room")
        return forward(self, source, *args, **flags)  # type: ignore[arg-type]

    monkeypatch.setattr(EncoderDecoder, "forward_with_attention", small)
    assert_same(force(model, pairs, attention_of=[1]), expected)


def test_dropout_is_off_even_when_the_model_was_left_training(model: EncoderDecoder) -> None:
    pairs = pairs_of(3)
    expected = [each.log_probabilities for each in force(model, pairs)]
    model.train()
    assert [each.log_probabilities for each in force(model, pairs)] == expected


def test_a_model_that_gives_no_number_is_refused(model: EncoderDecoder) -> None:
    broken = copy.deepcopy(model)
    with torch.no_grad():
        broken.output_weight[5] = math.inf
    with pytest.raises(ModelNumbersError, match="NaN"):
        force(broken, pairs_of(3))


def test_a_batch_needs_a_pair(model: EncoderDecoder) -> None:
    assert force(model, []) == []
    with pytest.raises(ValueError, match="at least 1, but is 0"):
        force(model, pairs_of(1), batch_size=0)
