"""Attention against torch's own, in float64 with copied weights."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.model import attention
from mt.model.attention import (
    MultiHeadAttention,
    attend,
    attention_weights,
    causal_bias,
    fused_scaled_dot_product,
    scaled_dot_product,
)
from mt.model.dropout import Dropout
from mt.model.translation_model import padding_bias
from tests.model.copied_weights import copy_attention

RTOL = 1e-10


@pytest.fixture(autouse=True)
def _double() -> None:
    torch.manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("has_mask", [False, True])
def test_scaled_dot_product_equals_torchs(has_mask: bool) -> None:
    query, key, value = draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8)
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 4:] = False
    bias = padding_bias(mask).double() if has_mask else None
    ours = scaled_dot_product(query, key, value, bias)
    theirs = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    torch.testing.assert_close(ours, theirs, rtol=RTOL, atol=1e-12)


@pytest.mark.parametrize("has_bias", [False, True])
def test_the_fused_path_of_gpus_equals_the_plain_one(has_bias: bool) -> None:
    query, key, value = draw(2, 3, 5, 8), draw(2, 3, 5, 8), draw(2, 3, 5, 8)
    bias = causal_bias(5, device=query.device) if has_bias else None
    fused = fused_scaled_dot_product(query, key, value, bias, Dropout(0.5).eval())
    plain = scaled_dot_product(query, key, value, bias)
    torch.testing.assert_close(fused, plain, rtol=RTOL, atol=1e-12)


def test_the_causal_path_of_gpus_equals_that_of_cpus() -> None:
    query, key, value = draw(2, 3, 5, 8), draw(2, 3, 5, 8), draw(2, 3, 5, 8)
    silent = Dropout(0.5).eval()
    fused = fused_scaled_dot_product(query, key, value, None, silent, is_causal=True)
    torch.testing.assert_close(
        attend(query, key, value, None, silent, is_causal=True), fused, rtol=RTOL, atol=1e-12
    )
    bias = causal_bias(5, device=query.device)
    assert torch.equal(
        attend(query, key, value, None, silent, is_causal=True),
        attend(query, key, value, bias, silent),
    )
    with pytest.raises(ValueError, match="no further bias"):
        attend(query, key, value, bias, silent, is_causal=True)


@pytest.mark.parametrize("in_autocast", [False, True])
def test_narrow_projections_are_attended_to_in_float32_on_cpus(in_autocast: bool) -> None:
    query, key, value = (draw(2, 3, 5, 8).bfloat16() for _ in range(3))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=in_autocast):
        ours = attend(query, key, value, None, Dropout(0.5).eval())
    wide = scaled_dot_product(query.float(), key.float(), value.float(), None)
    assert ours.dtype == torch.bfloat16
    assert torch.equal(ours, wide.bfloat16())


@pytest.mark.parametrize("is_causal", [False, True])
def test_multi_head_attention_by_fused_kernels_equals_that_of_cpus(
    is_causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branch of GPUs is forced here, where torch has the same operator."""
    module = MultiHeadAttention(16, 4, 0.3, key_value_heads=2).double().eval()
    x = draw(2, 6, 16)
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[0, 4:] = False
    bias = None if is_causal else padding_bias(mask).double()
    expected = module(x, x, bias, is_causal=is_causal)
    fused: list[bool] = []

    def count(*arguments: Any, **options: Any) -> Tensor:
        fused.append(True)
        return original(*arguments, **options)

    original = functional.scaled_dot_product_attention
    monkeypatch.setattr(attention, "has_fused_kernels", lambda x: True)
    monkeypatch.setattr(functional, "scaled_dot_product_attention", count)
    found = module(x, x, bias, is_causal=is_causal)
    torch.testing.assert_close(found, expected, rtol=RTOL, atol=1e-12)
    assert fused == [True]


@pytest.mark.parametrize("is_training", [False, True])
def test_fused_attention_drops_weights_at_the_rate_of_training(is_training: bool) -> None:
    """Equal scores over 200 keys, whose values are unit vectors: what comes are the weights."""
    query, key = torch.zeros(1, 1, 200, 8), torch.zeros(1, 1, 200, 8)
    dropout = Dropout(0.3).train(is_training)
    weights = 200 * fused_scaled_dot_product(query, key, torch.eye(200)[None, None], None, dropout)
    if not is_training:
        torch.testing.assert_close(weights, torch.ones_like(weights))
        return
    kept = weights > 0
    assert float(kept.float().mean()) == pytest.approx(0.7, abs=0.02)
    torch.testing.assert_close(weights[kept], torch.full_like(weights[kept], 1 / 0.7))


def test_scaled_dot_product_equals_the_formula_term_by_term() -> None:
    query, key, value = draw(1, 1, 2, 4), draw(1, 1, 3, 4), draw(1, 1, 3, 4)
    ours = scaled_dot_product(query, key, value, None)[0, 0]
    for t in range(2):
        scores = [float(query[0, 0, t] @ key[0, 0, s]) / math.sqrt(4) for s in range(3)]
        total = sum(math.exp(score) for score in scores)
        expected = sum(
            (math.exp(score) / total * value[0, 0, s] for s, score in enumerate(scores)),
            start=torch.zeros(4, dtype=torch.float64),
        )
        torch.testing.assert_close(ours[t], expected, rtol=RTOL, atol=1e-12)


@pytest.mark.parametrize("is_causal", [False, True])
def test_multi_head_attention_equals_torchs(is_causal: bool) -> None:
    ours = MultiHeadAttention(16, 4, 0.0).double()
    theirs = nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64)
    copy_attention(ours, theirs)
    x = draw(2, 6, 16)
    memory = x if is_causal else draw(2, 9, 16)
    mask = torch.ones(2, memory.size(1), dtype=torch.bool)
    if not is_causal:
        mask[0, 5:] = False
    bias = None if is_causal else padding_bias(mask).double()
    out = ours(x, memory, bias, is_causal=is_causal)
    expected, weights = theirs(
        x,
        memory,
        memory,
        key_padding_mask=None if is_causal else ~mask,
        attn_mask=causal_bias(6, device=x.device).double() if is_causal else None,
    )
    torch.testing.assert_close(out, expected, rtol=RTOL, atol=1e-12)
    if not is_causal:
        mean = ours.mean_weights(x, memory, bias)
        torch.testing.assert_close(mean, weights, rtol=RTOL, atol=1e-12)


def test_attention_refuses_heads_that_do_not_divide_the_width() -> None:
    with pytest.raises(ValueError, match="multiple of heads"):
        MultiHeadAttention(16, 3, 0.0)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shared", [1, 2])
def test_shared_keys_and_values_equal_torchs_grouped_queries(shared: int, is_causal: bool) -> None:
    attention = MultiHeadAttention(16, 4, 0.0, key_value_heads=shared, biases=False).double()
    x = draw(2, 6, 16)
    key, value = attention.key_value(x).view(2, 6, 2, shared, 4).permute(2, 0, 3, 1, 4)
    heads = functional.scaled_dot_product_attention(
        attention.query(x).view(2, 6, 4, 4).transpose(1, 2),
        key,
        value,
        is_causal=is_causal,
        enable_gqa=True,
    )
    expected = attention.output(heads.transpose(1, 2).flatten(2))
    found = attention(x, x, None, is_causal=is_causal)
    torch.testing.assert_close(found, expected, rtol=RTOL, atol=1e-12)
    assert attention.key_value.out_features == 2 * shared * 4


def test_attention_refuses_shared_heads_that_do_not_divide_the_heads() -> None:
    with pytest.raises(ValueError, match="multiple of key_value_heads"):
        MultiHeadAttention(16, 4, 0.0, key_value_heads=3)


def test_the_gradient_of_attention_is_right() -> None:
    inputs = [draw(1, 2, length, 3).requires_grad_() for length in (3, 4, 4)]
    bias = draw(3, 4).requires_grad_()
    assert torch.autograd.gradcheck(scaled_dot_product, (*inputs, bias))


def test_the_gradient_of_softmax_collapses_without_the_scale_as_heads_widen() -> None:
    """Section 3.2.1 of Vaswani et al.: products of width E have variance E, and softmax saturates.

    Measured is how much the weights of 16 keys move with the scores: the norm of the Jacobian
    diag(p) - p p^T, the mean over 100 queries. Scores over sqrt(E) keep it whatever the width;
    queries times sqrt(E) undo the scale.
    """

    def jacobian(width: int, factor: float) -> float:
        query, key = draw(100, 1, 1, width), draw(100, 1, 16, width)
        p = attention_weights(query * factor, key, None).flatten(1)
        matrix = torch.diag_embed(p) - p[:, :, None] * p[:, None]
        return float(matrix.flatten(1).norm(dim=1).mean())

    widths = (4, 64, 1024, 16384)
    scaled = [jacobian(width, 1.0) for width in widths]
    bare = [jacobian(width, math.sqrt(width)) for width in widths]
    assert max(scaled) < 1.2 * min(scaled)
    assert all(after < 0.6 * before for before, after in itertools.pairwise(bare))
    assert bare[-1] < 0.1 * scaled[-1]
