"""Weights sharded over the ranks by PyTorch's FSDP2, for models that do not fit on one device.

Of each weight a rank holds a shard, the rows that fall to it; so it is with gradients, with the
optimizer's moments and with the average. A layer is whole only while it is computed (Rajbhandari
et al. 2020, ZeRO stage 3; Zhao et al. 2023). On disk there are only whole tensors, under their
usual names, so that neither a checkpoint nor a model shows how it was trained.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from mt.model.translation_model import TranslationModel
from mt.training.loss import Objective


def sharded(objective: Objective, device: torch.device) -> Objective:
    """A copy of `objective` on `device` whose weights are sharded over all ranks.

    What is gathered at a time is a layer, or what lies in no layer: embeddings, output matrix and
    last norms are whole from the beginning of the forward pass to the end of the backward pass.
    Each rank keeps its rows of weights that all have drawn alike; nothing is sent.

    In bfloat16 a layer is gathered in that type, and its gradient is summed in float32. Left to
    autocast, each weight would be cast after it was gathered, and autograd would keep the copies
    of all layers until the backward pass. Norms compute in float32 by weights of that type; those
    of all layers are gathered at once, and whole as long as embeddings are.

    The weights of `objective` itself give their memory back: `holding` fills them.
    """
    copied = copy.deepcopy(objective)
    objective.to(device)
    _release(objective)
    mesh = init_device_mesh(device.type, (distributed.get_world_size(),))
    policy = MixedPrecisionPolicy()
    if copied.dtype == torch.bfloat16:
        policy = MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32, cast_forward_inputs=False
        )
        fully_shard(_norms(copied.model), mesh=mesh, reshard_after_forward=False)
    for layer in copied.model.layers():
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(copied, mesh=mesh)
    return copied


def _norms(model: TranslationModel) -> list[nn.Module]:
    """The normalisations within the layers of a model."""
    kinds = (nn.LayerNorm, nn.RMSNorm)
    modules = (module for layer in model.layers() for module in layer.modules())
    return [module for module in modules if isinstance(module, kinds)]


@torch.no_grad()
def whole(tensor: Tensor) -> Tensor:
    """A tensor with the rows of all ranks, which must all ask for it; a plain one as it is."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def shard_like(tensor: Tensor, like: Tensor) -> Tensor:
    """The shard of a whole tensor that this rank holds of `like`; all of it if `like` is plain."""
    if not isinstance(like, DTensor):
        return tensor
    return distribute_tensor(tensor, like.device_mesh, like.placements, src_data_rank=None)


def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Whether there is neither NaN nor infinity in what this rank holds of `tensors`."""
    mine = (each.to_local() if isinstance(each, DTensor) else each for each in tensors)
    return all(bool(tensor.detach().isfinite().all()) for tensor in mine)


@contextmanager
def holding(model: nn.Module, tensors: Iterable[Tensor]) -> Iterator[None]:
    """Within, the released `model` holds `tensors`, whole, one a parameter; for all ranks at once.

    It is a plain model that can do what any other can: search by it, save it.
    """
    try:
        with torch.no_grad():
            for parameter, tensor in zip(model.parameters(), tensors, strict=True):
                parameter.untyped_storage().resize_(parameter.nbytes)
                parameter.copy_(whole(tensor))
        yield
    finally:
        _release(model)


def _release(model: nn.Module) -> None:
    """Give back the memory of the weights; shapes and names stay."""
    for parameter in model.parameters():
        parameter.untyped_storage().resize_(0)
