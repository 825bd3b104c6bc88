"""Dropout keeps the expectation, drops at its rate and is silent in evaluation."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mt.model.dropout import Dropout, set_dropout_share


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.3, 0.5, 0.9])
def test_dropout_zeroes_its_share_and_keeps_the_mean(rate: float) -> None:
    torch.manual_seed(0)
    out = Dropout(rate)(torch.ones(1000, 1001))
    rounded = max(round(rate * 256), 1) / 256
    assert float((out == 0).double().mean()) == pytest.approx(rounded, abs=2e-3)
    assert float(out.double().mean()) == pytest.approx(1.0, abs=1e-2)
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rounded)))


def test_dropout_treats_every_byte_of_its_draws_alike() -> None:
    torch.manual_seed(0)
    out = Dropout(0.5)(torch.ones(200_000, 8))
    share = (out == 0).double().mean(dim=0)
    torch.testing.assert_close(share, torch.full_like(share, 0.5), rtol=0, atol=5e-3)


def test_dropout_is_the_identity_in_evaluation_and_at_rate_zero() -> None:
    x = torch.randn(5, 7)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_dropout_passes_gradients_only_through_what_it_kept() -> None:
    torch.manual_seed(0)
    x = torch.randn(40, 40, requires_grad=True)
    out = Dropout(0.3)(x)
    out.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad * x.detach(), out.detach())


def test_a_share_of_the_rate_is_in_force_in_all_of_a_model_and_none_in_evaluation() -> None:
    model = nn.Sequential(Dropout(0.5), nn.Sequential(nn.ReLU(), Dropout(0.25)))
    drops = [module for module in model.modules() if isinstance(module, Dropout)]
    set_dropout_share(model, 0.5)
    assert [each.rate_in_force for each in drops] == [0.25, 0.125]
    assert float((drops[0](torch.ones(1000, 800)) == 0).double().mean()) == pytest.approx(
        0.25, abs=3e-3
    )
    set_dropout_share(model, 0.0)
    x = torch.randn(5, 7)
    assert drops[0](x) is x
    set_dropout_share(model, 1.0)
    assert [each.eval().rate_in_force for each in drops] == [0.0, 0.0]


def test_dropout_refuses_a_rate_of_one() -> None:
    with pytest.raises(ValueError, match="rate must lie in"):
        Dropout(1.0)
