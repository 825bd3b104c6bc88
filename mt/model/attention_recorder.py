"""The weights that attention uses in a pass, for people to look at.

Shapes: B batch, H heads, T query positions, S key positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from mt.model.attention import MultiHeadAttention, Recorder


@contextmanager
def recorded_weights(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Within it, each attention layer of `model` leaves the weights that it attends by.

    Gives a dictionary that fills with weights (B, H, T, S), after the softmax and before dropout,
    under the names that the layers have in `model` (`decoder.0.cross_attention`); of several passes
    of a layer, the latest. No other model is touched. Raises ValueError where the weights of
    `model` are recorded already.
    """
    layers = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    }
    if any(layer.recorder is not None for layer in layers.values()):
        raise ValueError("the attention of this model is being recorded already")
    found: dict[str, Tensor] = {}

    def recorder_of(name: str) -> Recorder:
        def record(weights: Tensor) -> None:
            found[name] = weights.detach()

        return record

    try:
        for name, layer in layers.items():
            layer.recorder = recorder_of(name)
        yield found
    finally:
        for layer in layers.values():
            layer.recorder = None
