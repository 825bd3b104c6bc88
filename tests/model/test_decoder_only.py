"""A decoder-only model against the plain idea of it: a causal stack over one row of tokens."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mt.config import Config, ModelConfig, PositionKind, TrainingConfig
from mt.errors import ConfigError, DataError
from mt.model.decoder_only import DecoderOnly, prefix_bias
from mt.model.inference.search_model import SearchModel
from mt.model.translation_model import count_parameters
from tests.model.forms import CHOICES, VOCABULARY, make_model, source_of

SHAPE = ModelConfig(
    architecture="decoder-only",
    d_model=16,
    d_inner=32,
    encoder_layers=0,
    decoder_layers=3,
    heads=4,
    dropout=0.0,
)


def model_of(config: ModelConfig) -> DecoderOnly:
    torch.manual_seed(2)
    model = DecoderOnly(config, source_vocab=VOCABULARY, target_vocab=VOCABULARY)
    return model.double().eval()


def torch_stack(model: DecoderOnly) -> nn.TransformerEncoder:
    """Torch's own layers with the weights of ours."""
    config = model.config
    layer = nn.TransformerEncoderLayer(
        config.d_model,
        config.heads,
        config.d_inner,
        dropout=0.0,
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    stack = nn.TransformerEncoder(
        layer,
        config.decoder_layers,
        norm=nn.LayerNorm(config.d_model, dtype=torch.float64),
        enable_nested_tensor=False,
    )
    with torch.no_grad():
        pairs: list[tuple[Any, Any]] = list(zip(stack.layers, model.decoder, strict=True))
        for theirs, ours in pairs:
            own = ours.attention
            theirs.self_attn.in_proj_weight.copy_(
                torch.cat((own.query.weight, own.key_value.weight))
            )
            theirs.self_attn.in_proj_bias.copy_(torch.cat((own.query.bias, own.key_value.bias)))
            for mine, its in (
                (own.output, theirs.self_attn.out_proj),
                (ours.feed_forward.inner, theirs.linear1),
                (ours.feed_forward.outer, theirs.linear2),
                (ours.attention_residual.norm, theirs.norm1),
                (ours.feed_forward_residual.norm, theirs.norm2),
            ):
                its.load_state_dict(mine.state_dict())
    return stack.eval()


@pytest.mark.parametrize("is_prefix", [False, True])
@torch.no_grad()
def test_it_is_a_stack_of_torch_over_the_joined_row(is_prefix: bool) -> None:
    model = model_of(dataclasses.replace(SHAPE, bidirectional_source=is_prefix))
    stack = torch_stack(model)
    source, mask = source_of(7, 4)
    target = torch.randint(4, VOCABULARY, (2, 5))
    hidden = model(source, mask, target)
    for row, length in enumerate((7, 4)):
        tokens = torch.cat((source[row, :length], target[row]))
        x = model.source_embedding.weight[tokens] * math.sqrt(16) + model.positions(len(tokens))
        seen = torch.ones(len(tokens), len(tokens), dtype=torch.bool).tril()
        if is_prefix:
            seen[:length, :length] = True
        out = stack(x[None], mask=~seen)[0, length:]
        torch.testing.assert_close(hidden[row], out, rtol=1e-10, atol=1e-12)


@torch.no_grad()
def test_source_tokens_see_later_ones_with_a_bidirectional_source_alone() -> None:
    """What a source position computes shows in what later layers make of the target."""
    source, mask = source_of(6)
    for is_prefix in (False, True):
        model = model_of(dataclasses.replace(SHAPE, bidirectional_source=is_prefix))
        states: list[list[Tensor]] = []
        handle = model.decoder[-1].register_forward_pre_hook(
            lambda _, inputs, states=states: states[-1].append(inputs[0])
        )
        for ids in (source, torch.cat((source[:, :5], (source[:, 5:] + 1) % VOCABULARY), dim=1)):
            states.append([])
            model(ids, mask, torch.tensor([[1]]))
        handle.remove()
        (first,), (second,) = states
        assert torch.equal(first[:, :5], second[:, :5]) == (not is_prefix)


def test_the_bias_of_a_prefix_says_who_sees_whom() -> None:
    bias = prefix_bias(torch.tensor([2, 1]), 3)
    no = -math.inf
    assert bias.shape == (2, 1, 3, 3)
    assert bias[0, 0].tolist() == [[0, 0, no], [0, 0, no], [0, 0, 0]]
    assert bias[1, 0].tolist() == [[0, no, no], [0, 0, no], [0, 0, 0]]


def test_a_loss_on_the_target_reaches_what_reads_the_source() -> None:
    config = dataclasses.replace(SHAPE, tied="target")
    model = model_of(config)
    source, mask = source_of(4)
    hidden = model(source, mask, torch.tensor([[1, 5, 6]]))
    assert hidden.shape == (1, 3, 16), "nothing is predicted of the source"
    hidden.square().sum().backward()
    gradient = model.source_embedding.weight.grad
    assert gradient is not None
    assert set(gradient.abs().sum(dim=1).nonzero().flatten().tolist()) == set(source[0].tolist())


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "relative"])
@torch.no_grad()
def test_attention_is_shared_out_over_the_source(positions: PositionKind) -> None:
    form = {name: values[0] for name, values in CHOICES.items()}
    model = make_model({**form, "architecture": "decoder-only", "positions": positions})
    source, mask = source_of(6, 3)
    _, weights = model.forward_with_attention(
        source, mask, torch.randint(4, VOCABULARY, (2, 4)), layers=[1]
    )
    assert weights[1].shape == (2, 4, 6)
    torch.testing.assert_close(weights[1].sum(dim=2), torch.ones(2, 4, dtype=torch.float64))
    assert bool((weights[1][1, :, 3:] == 0).all())


@torch.no_grad()
def test_learned_positions_bound_each_side_and_not_their_sum() -> None:
    model = model_of(dataclasses.replace(SHAPE, positions="learned", max_positions=5))
    search = SearchModel(model)
    assert model.longest == 5
    source, mask = source_of(5)
    model(source, mask, torch.full((1, 5), 4))
    state = search.start(source, mask)
    for _ in range(5):
        _, state = search.step(torch.tensor([4]), state)
    too_long, its_mask = source_of(6)
    for fed in ((too_long, its_mask, torch.full((1, 2), 4)), (source, mask, torch.full((1, 6), 4))):
        with pytest.raises(DataError, match="a sequence: 5 tokens are more than the 4 that"):
            model(*fed)
    with pytest.raises(DataError, match="a sequence: 5 tokens are more than the 4 that"):
        search.start(too_long, its_mask)


def test_it_has_the_parameters_that_its_shape_implies() -> None:
    width, inner = 16, 32
    attention = 4 * (width * width + width)
    feed_forward = 2 * width * inner + inner + width
    norm = 2 * width
    expected = VOCABULARY * width + 3 * (attention + feed_forward + 2 * norm) + norm
    assert count_parameters(model_of(SHAPE)) == expected


def test_settings_that_no_decoder_only_model_has_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"no encoder, but model\.encoder_layers is 4"):
        ModelConfig(architecture="decoder-only")
    with pytest.raises(ConfigError, match="bidirectional_source = true needs"):
        ModelConfig(bidirectional_source=True)
    with pytest.raises(ConfigError, match="names the encoder"):
        Config(model=SHAPE, training=TrainingConfig(freeze=("encoder",)))
    with pytest.raises(ConfigError, match="nothing to train"):
        Config(model=SHAPE, training=TrainingConfig(freeze=("embeddings", "decoder")))
