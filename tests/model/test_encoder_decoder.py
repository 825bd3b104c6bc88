"""Invariants of the whole model, in every form it takes."""

from __future__ import annotations

import math

import pytest
import torch

from mt.config import Initialisation, ModelConfig
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import TranslationModel, count_parameters
from tests.model.forms import (
    CHOICES,
    FORMS,
    VOCABULARY,
    assert_close,
    logits_of,
    make_model,
    name_of,
    source_of,
)


@pytest.fixture(params=FORMS, ids=name_of)
def model(request: pytest.FixtureRequest) -> TranslationModel:
    return make_model(request.param)


def test_asking_for_attention_changes_no_hidden_vector(model: TranslationModel) -> None:
    source, mask = source_of(7, 4)
    target = torch.randint(4, VOCABULARY, (2, 5))
    hidden, weights = model.forward_with_attention(source, mask, target, layers=[0, 1])
    assert_close(hidden, model(source, mask, target))
    assert list(weights) == [0, 1]
    for each in weights.values():
        assert each.shape == (2, 5, 7)
        assert_close(each.sum(dim=2), torch.ones(2, 5, dtype=torch.float64))
        assert bool((each[1, :, 4:] == 0).all()), "padding is not attended to"
    assert not torch.allclose(weights[0], weights[1])
    with pytest.raises(ValueError, match="2 layers, none is 2"):
        model.forward_with_attention(source, mask, target, layers=[2])


def test_a_later_target_token_changes_nothing_earlier(model: TranslationModel) -> None:
    source, mask = source_of(5, 5)
    target = torch.randint(4, VOCABULARY, (2, 6))
    other = target.clone()
    other[:, 4:] = (other[:, 4:] + 1) % VOCABULARY
    before, after = (logits_of(model, source, mask, t) for t in (target, other))
    assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_padding_and_company_change_no_logit(model: TranslationModel) -> None:
    source, mask = source_of(8, 3)
    target = torch.randint(4, VOCABULARY, (2, 5))
    together = logits_of(model, source, mask, target)
    alone = logits_of(model, source[1:, :3], mask[1:, :3], target[1:])
    assert_close(together[1:], alone)
    wider = torch.cat((source, torch.zeros(2, 6, dtype=torch.long)), dim=1)
    wider_mask = torch.cat((mask, torch.zeros(2, 6, dtype=torch.bool)), dim=1)
    assert_close(logits_of(model, wider, wider_mask, target), together)


def test_dropout_acts_in_training_and_not_in_evaluation(model: TranslationModel) -> None:
    source, mask = source_of(5)
    target = torch.randint(4, VOCABULARY, (1, 4))
    assert_close(model(source, mask, target), model(source, mask, target))
    model.train()
    assert not torch.allclose(model(source, mask, target), model(source, mask, target))


def test_tied_matrices_are_one(model: TranslationModel) -> None:
    tied = model.config.tied
    assert (model.source_embedding is model.target_embedding) == (tied == "all")
    assert (model.output_weight is model.target_embedding.weight) == (tied != "none")
    names = [name for name, _ in model.named_parameters()]
    matrices = [name for name in names if "embedding" in name or name.startswith("output.")]
    assert len(matrices) == {"all": 1, "target": 2, "none": 3}[tied]


def test_every_parameter_gets_a_gradient(model: TranslationModel) -> None:
    source, mask = source_of(5, 5)
    logits_of(model, source, mask, torch.randint(0, VOCABULARY, (2, 6))).logsumexp(
        -1
    ).sum().backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is not None and bool(p.grad.ne(0).any()) for p in model.parameters())


def test_tying_needs_equal_vocabularies() -> None:
    with pytest.raises(ValueError, match="equal vocabularies"):
        EncoderDecoder(ModelConfig(tied="all"), source_vocab=5, target_vocab=6)


def test_the_tiny_preset_has_the_parameters_its_shape_implies() -> None:
    width, inner, vocabulary = 128, 256, 1000
    attention = 4 * (width * width + width)
    feed_forward = 2 * width * inner + inner + width
    norm = 2 * width
    encoder = 4 * (attention + feed_forward + 2 * norm) + norm
    decoder = 4 * (2 * attention + feed_forward + 3 * norm) + norm
    model = EncoderDecoder(ModelConfig(), source_vocab=vocabulary, target_vocab=vocabulary)
    assert count_parameters(model) == vocabulary * width + encoder + decoder


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "relative"])
@torch.no_grad()
def test_the_order_of_a_source_and_of_a_target_matters(positions: str) -> None:
    form = {name: values[0] for name, values in CHOICES.items()}
    model = make_model({**form, "positions": positions})
    source, mask = source_of(6)
    target = torch.randint(4, VOCABULARY, (1, 5))
    before = logits_of(model, source, mask, target)
    assert not torch.allclose(logits_of(model, source.flip(1), mask, target), before)
    other = target[:, [1, 0, 2, 3, 4]]
    assert int((target != other).sum()) == 2
    assert not torch.allclose(logits_of(model, source, mask, other)[:, 2:], before[:, 2:])


@torch.no_grad()
def test_initialisation_by_depth_divides_the_last_matrices_of_sublayers() -> None:
    weights = []
    kinds: tuple[Initialisation, ...] = ("xavier", "depth")
    for initialisation in kinds:
        torch.manual_seed(0)
        config = ModelConfig(
            d_model=16, encoder_layers=2, decoder_layers=3, initialisation=initialisation
        )
        model = EncoderDecoder(config, source_vocab=9, target_vocab=9)
        weights.append(dict(model.named_parameters()))
    for name, plain in weights[0].items():
        count = 1
        if name.endswith(("attention.output.weight", "outer.weight")):
            count = 2 * 2 if name.startswith("encoder") else 3 * 3
        torch.testing.assert_close(weights[1][name], plain / math.sqrt(count))
