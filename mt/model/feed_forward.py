"""The position-wise feed-forward layer (Vaswani et al. 2017, section 3.3), and its gated form."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from mt.config import ModelConfig
from mt.model.dropout import Dropout


class FeedForward(nn.Module):
    """W2 f(W1 x + b1) + b2, with f = ReLU, GELU (x Phi(x) itself) or swish (x / (1 + exp(-x)))."""

    def __init__(
        self, d_model: int, d_inner: int, *, activation: nn.Module, dropout: float, biases: bool
    ) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_inner, bias=biases)
        self.outer = nn.Linear(d_inner, d_model, bias=biases)
        self.activation = activation
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        out: Tensor = self.outer(self.dropout(self.activation(self.inner(x))))
        return out


class GatedFeedForward(nn.Module):
    """SwiGLU (Shazeer 2020): W2 (silu(W1 x + b1) * (W3 x + b3)) + b2, silu(x) = x / (1 + exp(-x)).

    `inner` holds W1 and W3, one above the other.
    """

    def __init__(self, d_model: int, width: int, *, dropout: float, biases: bool) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, 2 * width, bias=biases)
        self.outer = nn.Linear(width, d_model, bias=biases)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        gate, value = self.inner(x).chunk(2, dim=-1)
        out: Tensor = self.outer(self.dropout(functional.silu(gate) * value))
        return out


def gated_width(d_inner: int) -> int:
    """The width at which three matrices have the weights of two of width `d_inner`.

    That is 2/3 of it, rounded to a multiple of 8, for which products are fast.
    """
    return max(8 * round(d_inner / 12), 8)


_ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "swish": nn.SiLU}


def make_feed_forward(config: ModelConfig) -> FeedForward | GatedFeedForward:
    """A feed-forward layer of the shape that `config` names."""
    if config.activation == "swiglu":
        return GatedFeedForward(
            config.d_model,
            gated_width(config.d_inner),
            dropout=config.activation_dropout,
            biases=config.biases,
        )
    return FeedForward(
        config.d_model,
        config.d_inner,
        activation=_ACTIVATIONS[config.activation](),
        dropout=config.activation_dropout,
        biases=config.biases,
    )
