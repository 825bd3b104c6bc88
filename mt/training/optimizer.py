"""AdamW over the parameters of a model (Kingma and Ba 2015; Loshchilov and Hutter 2019)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mt.config import TrainingConfig
from mt.training.sharding import whole


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


def clip_gradient(model: nn.Module, limit: float) -> Tensor:
    """Scale the gradient down to the norm `limit` (0 sets none); returns its norm before, ().

    It is the norm of the whole gradient, of all parameters and all ranks (Pascanu et al. 2013).
    """
    return whole(nn.utils.clip_grad_norm_(model.parameters(), limit or math.inf))
