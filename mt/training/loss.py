"""What training minimises: cross-entropy with label smoothing, without holding all logits at once.

Shapes: M target tokens, D model width, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from mt.model.dropout import set_dropout_share
from mt.model.translation_model import TranslationModel
from mt.training.batch import Batch

_CHUNK = {"cpu": 256, "cuda": 2048}  # rows whose logits exist at a time


class _ProjectedCrossEntropy(torch.autograd.Function):
    """The loss and its gradients in one pass over chunks of rows."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        labels: Tensor,
        smoothing: float,
        dtype: torch.dtype,
        bias: Tensor | None,
    ) -> Tensor:
        wide = torch.promote_types(hidden.dtype, torch.float32)
        needs_gradient = any(ctx.needs_input_grad)
        hidden_gradient = torch.empty_like(hidden) if needs_gradient else None
        weight_gradient = torch.zeros_like(weight, dtype=wide) if needs_gradient else None
        bias_gradient = None if bias is None else torch.zeros_like(bias, dtype=wide)
        total = torch.zeros((), dtype=wide, device=hidden.device)
        vocabulary = weight.size(0)
        factor = weight.to(dtype)
        chunk = _CHUNK.get(hidden.device.type, 2048)
        for start in range(0, hidden.size(0), chunk):
            rows = hidden[start : start + chunk].to(dtype)
            label = labels[start : start + chunk, None]
            logits = (rows @ factor.T).to(wide)  # (chunk, V)
            if bias is not None:
                logits += bias
            largest = logits.amax(dim=1, keepdim=True)
            picked = logits.gather(1, label)
            mean = logits.mean(dim=1, keepdim=True)
            odds = logits.sub_(largest).exp_()  # in place: the logits are needed no more
            norm = odds.sum(dim=1, keepdim=True)
            log_sum = largest + norm.log()
            total += (log_sum - (1.0 - smoothing) * picked - smoothing * mean).sum()
            if hidden_gradient is None or weight_gradient is None:
                continue
            # d loss / d logits = softmax - smoothing / V - (1 - smoothing) * one-hot
            gradient = odds.div_(norm).sub_(smoothing / vocabulary)
            gradient.scatter_add_(1, label, torch.full_like(picked, smoothing - 1.0))
            narrow = gradient.to(dtype)
            hidden_gradient[start : start + chunk] = narrow @ factor
            weight_gradient += narrow.T @ rows
            if bias_gradient is not None:
                bias_gradient += gradient.sum(dim=0)
        if hidden_gradient is not None and weight_gradient is not None:
            ctx.save_for_backward(
                hidden_gradient,
                weight_gradient.to(weight.dtype),
                None if bias is None or bias_gradient is None else bias_gradient.to(bias.dtype),
            )
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Any) -> tuple[Tensor, Tensor, None, None, None, Tensor | None]:
        (scale,) = outputs
        hidden_gradient, weight_gradient, bias_gradient = ctx.saved_tensors
        return (
            hidden_gradient * scale.to(hidden_gradient.dtype),
            weight_gradient * scale.to(weight_gradient.dtype),
            None,
            None,
            None,
            None if bias_gradient is None else bias_gradient * scale.to(bias_gradient.dtype),
        )


def projected_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    labels: Tensor,
    *,
    bias: Tensor | None = None,
    smoothing: float = 0.0,
    dtype: torch.dtype | None = None,
) -> tuple[Tensor, int]:
    """Sum over M tokens of the label-smoothed cross-entropy in nats, and M.

    With p = softmax(weight @ hidden + bias): -(1 - s) log p[label] - s / V * sum_v log p[v], as
    `torch.nn.functional.cross_entropy(label_smoothing=s, reduction="sum")` (Szegedy et al. 2016,
    section 7).

    hidden (M, D), weight (V, D), labels (M), bias (V). Products are computed in `dtype` (that of
    `hidden` unless given), the softmax in float32 at least. It can be differentiated once.
    """
    total = _ProjectedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden, weight, labels, smoothing, dtype or hidden.dtype, bias
    )
    return total, labels.numel()


class Objective(nn.Module):
    """A model and its loss in one module, so that every use of a weight lies inside it."""

    def __init__(self, model: TranslationModel, *, smoothing: float, dtype: torch.dtype) -> None:
        super().__init__()
        self.model = model
        self._smoothing = smoothing
        self.dtype = dtype
        self._dropout = 1.0

    def set_dropout(self, share: float) -> None:
        """Let dropout have a share, from 0 to 1, of its rates."""
        if share != self._dropout:
            set_dropout_share(self.model, share)
            self._dropout = share

    def forward(self, batch: Batch) -> Tensor:
        """The label-smoothed loss in nats, summed over the target tokens of the batch."""
        with torch.autocast(
            batch.source.device.type,
            dtype=torch.bfloat16,
            enabled=self.dtype == torch.bfloat16,
        ):
            hidden = self.model(batch.source, batch.source_mask, batch.target)
        loss, _ = projected_cross_entropy(
            hidden.flatten(0, 1).index_select(0, batch.label_indices),
            self.model.output_weight,
            batch.labels,
            bias=self.model.output_bias,
            smoothing=self._smoothing,
            dtype=self.dtype,
        )
        return loss
