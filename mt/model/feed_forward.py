"""The position-wise feed-forward layer (Vaswani et al. 2017, section 3.3)."""

from __future__ import annotations

from torch import Tensor, nn

from mt.config import Activation
from mt.model.dropout import Dropout


class FeedForward(nn.Module):
    """W2 f(W1 x + b1) + b2, with f = ReLU or GELU (the exact form, x Phi(x))."""

    def __init__(
        self, d_model: int, d_inner: int, *, activation: Activation, dropout: float
    ) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_inner)
        self.outer = nn.Linear(d_inner, d_model)
        self.activation = nn.ReLU() if activation == "relu" else nn.GELU()
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        out: Tensor = self.outer(self.dropout(self.activation(self.inner(x))))
        return out
