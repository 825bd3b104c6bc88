"""What training makes small: the cross-entropy of the target tokens of a batch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mt.model.translation_model import TranslationModel
from mt.train.batch import Batch
from mt.train.loss import projected_cross_entropy


class Objective(nn.Module):
    """A model and its loss in one module, so that every use of a weight lies inside it."""

    def __init__(self, model: TranslationModel, *, smoothing: float, dtype: torch.dtype) -> None:
        super().__init__()
        self.model = model
        self._smoothing = smoothing
        self.dtype = dtype

    def forward(self, batch: Batch) -> Tensor:
        """The label-smoothed loss in nats, summed over the target tokens of the batch."""
        with torch.autocast(
            batch.source.device.type,
            dtype=torch.bfloat16,
            enabled=self.dtype == torch.bfloat16,
        ):
            hidden = self.model(batch.source, batch.source_mask, batch.target)
        loss, _ = projected_cross_entropy(
            hidden.flatten(0, 1).index_select(0, batch.places),
            self.model.output_weight,
            batch.labels,
            smoothing=self._smoothing,
            dtype=self.dtype,
        )
        return loss
