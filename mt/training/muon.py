"""Muon: steps along orthogonalised momentum, for the matrices of layers (Jordan et al. 2024).

The gradient of a matrix is made of a few directions. Muon steps along the semi-orthogonal matrix
that is nearest to its momentum, U V^T of its singular value decomposition, so that rare directions
are learnt as fast as common ones. Queries, keys and values of each head are a matrix of their own:
that learns as much as taking them together, for less arithmetic (docs/log.md).

Shapes: K matrices, O outputs, I inputs; M <= N are the sides of a matrix that lies wide.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim.optimizer import StateDict

from mt.model.attention import MultiHeadAttention
from mt.model.feed_forward import GatedFeedForward
from mt.training.sharding import shard_like, whole

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_STEPS = 5


@dataclass(frozen=True, kw_only=True)
class HiddenMatrix:
    """The weight of a linear map within a layer."""

    weight: Tensor
    """(O, I)."""
    num_blocks: int
    """Matrices that it holds, one above the other."""


def hidden_matrices(layers: Iterable[nn.Module]) -> list[HiddenMatrix]:
    """The matrices of layers that are trained, in order; embeddings are part of none."""
    found = []
    for layer in layers:
        blocks: dict[nn.Module, int] = {}
        for module in layer.modules():
            if isinstance(module, MultiHeadAttention):
                blocks[module.query] = module.heads
                blocks[module.key_value] = 2 * module.key_value_heads
            elif isinstance(module, GatedFeedForward):
                blocks[module.inner] = 2
        for module in layer.modules():
            if isinstance(module, nn.Linear) and module.weight.requires_grad:
                num_blocks = blocks.get(module, 1)
                found.append(HiddenMatrix(weight=module.weight, num_blocks=num_blocks))
    return found


class Muon(torch.optim.Optimizer):
    """Muon for the matrices of layers and AdamW for all other parameters, as one optimizer.

    With momentum m and gradient G: B <- m B + (1 - m) G, and W <- W - rate sqrt(max(1, O / I)) X,
    where X is m B + (1 - m) G orthogonalised (the form of Nesterov). So the step of a matrix is as
    large for vectors that it is given, however wide the model is.
    """

    def __init__(
        self,
        hidden: Sequence[HiddenMatrix],
        adamw: torch.optim.AdamW,
        *,
        momentum: float,
        weight_decay: float,
        dtype: torch.dtype,
    ) -> None:
        """`adamw` has all other parameters; matrices are orthogonalised by products in `dtype`."""
        super().__init__(
            [{"params": [each.weight for each in hidden]}],
            {
                "lr": adamw.defaults["lr"],
                "momentum": momentum,
                "weight_decay": weight_decay,
            },
        )
        self._num_blocks = [each.num_blocks for each in hidden]
        self._dtype = dtype
        self._adamw = adamw
        self.param_groups += adamw.param_groups
        self._share()

    def _share(self) -> None:
        """Let AdamW see the groups and the state that this optimizer has for it."""
        self._adamw.param_groups = self.param_groups[1:]
        self._adamw.state = self.state

    def load_state_dict(self, state_dict: StateDict) -> None:
        """As any optimizer."""
        super().load_state_dict(state_dict)
        self._share()

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move all parameters along their gradients."""
        self._adamw.step()
        group = self.param_groups[0]
        weights: list[Tensor] = group["params"]
        pull = 1.0 - group["momentum"]
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        buffers = [self._buffer(weight) for weight in weights]
        torch._foreach_lerp_(buffers, gradients, pull)
        wanted = torch._foreach_lerp(buffers, gradients, pull)
        if group["weight_decay"]:
            torch._foreach_mul_(weights, 1.0 - group["lr"] * group["weight_decay"])
        for weight, direction in zip(weights, self._directions(wanted), strict=True):
            weight.add_(shard_like(direction, weight), alpha=-group["lr"])

    def _buffer(self, weight: Tensor) -> Tensor:
        state = self.state[weight]
        if not state:
            state["momentum"] = torch.zeros_like(weight)
        buffer: Tensor = state["momentum"]
        return buffer

    def _directions(self, matrices: Sequence[Tensor]) -> list[Tensor]:
        """Matrices (O, I), orthogonalised block by block and scaled; those of a shape at once."""
        blocks = [
            list(whole(matrix).chunk(count))
            for matrix, count in zip(matrices, self._num_blocks, strict=True)
        ]
        alike: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for number, parts in enumerate(blocks):
            for part, block in enumerate(parts):
                alike[(min(block.shape), max(block.shape))].append((number, part))
        for indices in alike.values():
            stacked = torch.stack([_wide(blocks[number][part]) for number, part in indices])
            done = orthogonalised(stacked.to(self._dtype)).to(stacked.dtype)
            for (number, part), matrix in zip(indices, done, strict=True):
                rows, columns = blocks[number][part].shape
                is_wide = rows <= columns
                blocks[number][part] = matrix if is_wide else matrix.T * math.sqrt(rows / columns)
        return [parts[0] if len(parts) == 1 else torch.cat(parts) for parts in blocks]


def _wide(matrix: Tensor) -> Tensor:
    return matrix if matrix.size(0) <= matrix.size(1) else matrix.T


def orthogonalised(x: Tensor) -> Tensor:
    """About U V^T of each matrix U S V^T of x (K, M, N), M <= N, by five Newton-Schulz steps.

    X <- a X + (b A + c A A) X with A = X X^T brings singular values near 1 fast, to between 0.7 and
    1.2, and no nearer (Jordan et al. 2024). A matrix of zeros stays one.
    """
    a, b, c = _COEFFICIENTS
    x = x / x.flatten(1).norm(dim=1).clamp(min=1e-7).view(-1, 1, 1)
    for _ in range(_STEPS):
        gram = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x
