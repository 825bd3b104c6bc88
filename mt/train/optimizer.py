"""AdamW over the parameters of a model (Kingma and Ba 2015; Loshchilov and Hutter 2019)."""

from __future__ import annotations

import torch
from torch import nn

from mt.config import TrainingConfig


def make_optimizer(model: nn.Module, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW with weight decay on matrices only: not on biases and norms.

    Frozen parameters are unknown to it, so that nothing moves them.
    """
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.dim() > 1]
    others = [p for p in trained if p.dim() <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": config.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=config.peak_rate,
        betas=(config.beta1, config.beta2),
        eps=1e-9,
        fused=True,
    )
