"""The optimizer of a run: AdamW, or Muon with AdamW for what is no matrix of a layer.

AdamW is Kingma and Ba 2015 with the decay of Loshchilov and Hutter 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from mt.config import TrainingConfig
from mt.training.muon import Muon, hidden_matrices
from mt.training.sharding import whole


def make_optimizer(
    model: nn.Module,
    layers: Iterable[nn.Module],
    config: TrainingConfig,
    *,
    dtype: torch.dtype = torch.float32,
) -> torch.optim.Optimizer:
    """The optimizer that `config` names, with weight decay on matrices: not on biases and norms.

    `layers` are those of `model`, whose matrices Muon takes. Frozen parameters are unknown to it,
    so that nothing moves them. Muon computes in `dtype`.
    """
    hidden = hidden_matrices(layers) if config.optimizer == "muon" else []
    taken = {id(each.weight) for each in hidden}
    trained = [p for p in model.parameters() if p.requires_grad and id(p) not in taken]
    matrices = [p for p in trained if p.dim() > 1]
    others = [p for p in trained if p.dim() <= 1]
    adamw = torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": config.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=config.peak_rate,
        betas=(config.beta1, config.beta2),
        eps=1e-9,
        fused=True,
    )
    if not hidden:
        return adamw
    return Muon(
        hidden, adamw, momentum=config.momentum, weight_decay=config.weight_decay, dtype=dtype
    )


def clip_gradient(model: nn.Module, limit: float) -> Tensor:
    """Scale the gradient down to the norm `limit` (0 sets none); returns its norm before, ().

    It is the norm of the whole gradient, of all parameters and all ranks (Pascanu et al. 2013).
    """
    return whole(nn.utils.clip_grad_norm_(model.parameters(), limit or math.inf))
