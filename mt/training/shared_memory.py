"""What a run and its gradient workers share: one block of anonymous memory, laid out by a plan.

The block holds the weights, a gradient and a slot for a job for each part of a batch. It belongs
to no file system, so that neither a small `/dev/shm` (as in containers) nor a kill leaves anything
behind, and it ends with the last process that maps it. Linux only (`memfd_create`).
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

CAN_SHARE = sys.platform == "linux" and hasattr(os, "memfd_create")
_ALIGNMENT = 64
"""Bytes: as torch aligns tensors of its own, since kernels may round by alignment."""


@dataclass(frozen=True, kw_only=True)
class TensorPlan:
    """The shape and type of a tensor in the block."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def of(cls, tensor: Tensor) -> TensorPlan:
        """The plan of a tensor like `tensor`."""
        return cls(shape=tuple(tensor.shape), dtype=tensor.dtype)

    @property
    def num_bytes(self) -> int:
        """Bytes that it takes, rounded up to the alignment."""
        count = torch.Size(self.shape).numel() * self.dtype.itemsize
        return -(-max(count, 1) // _ALIGNMENT) * _ALIGNMENT


@dataclass(frozen=True, kw_only=True)
class BlockPlan:
    """The layout of the block: weights, then for each part a gradient, a result and a job."""

    weights: tuple[TensorPlan, ...]
    """One for each parameter of the objective."""
    trained: tuple[int, ...]
    """Indices of the parameters that have gradients."""
    num_parts: int
    job_bytes: int
    """The most bytes of a job; a larger one is computed by the run itself."""
    result_bytes: int
    """Bytes of what a worker says of a part beside its gradient."""

    @property
    def num_bytes(self) -> int:
        """The size of the block."""
        gradients = sum(self.weights[i].num_bytes for i in self.trained)
        each = gradients + _rounded(self.result_bytes) + _rounded(self.job_bytes)
        return sum(plan.num_bytes for plan in self.weights) + self.num_parts * each


class Block:
    """A mapping of the block, as tensors and bytes."""

    def __init__(self, descriptor: int, plan: BlockPlan) -> None:
        """Map the memory behind a file descriptor; it may be closed afterwards."""
        self._mapping = mmap.mmap(descriptor, plan.num_bytes)
        self._offset = 0
        self.weights = [self._tensor(each) for each in plan.weights]
        """One for each parameter."""
        self.gradients: list[list[Tensor]] = []
        """For each part one for each trained parameter."""
        self.results: list[memoryview] = []
        """For each part."""
        self.jobs: list[memoryview] = []
        """For each part."""
        for _ in range(plan.num_parts):
            self.gradients.append([self._tensor(plan.weights[i]) for i in plan.trained])
            self.results.append(self._bytes(plan.result_bytes))
            self.jobs.append(self._bytes(plan.job_bytes))

    def _tensor(self, plan: TensorPlan) -> Tensor:
        count = torch.Size(plan.shape).numel()
        flat = (
            torch.frombuffer(self._mapping, dtype=plan.dtype, count=count, offset=self._offset)
            if count
            else torch.empty(0, dtype=plan.dtype)
        )
        self._offset += plan.num_bytes
        return flat.view(plan.shape)

    def _bytes(self, count: int) -> memoryview:
        start = self._offset
        self._offset += _rounded(count)
        return memoryview(self._mapping)[start : start + count]


def new_block(plan: BlockPlan) -> tuple[int, Block]:
    """A file descriptor of new memory, and its mapping here. Raises OSError where there is none."""
    descriptor = os.memfd_create("mt-train")
    try:
        os.ftruncate(descriptor, plan.num_bytes)
        return descriptor, Block(descriptor, plan)
    except BaseException:
        os.close(descriptor)
        raise


def share(parameters: Sequence[Tensor], block: Block) -> None:
    """Move the values of `parameters` into the block: what changes them is seen by all."""
    for parameter, shared in zip(parameters, block.weights, strict=True):
        shared.copy_(parameter.detach())
        parameter.data = shared


def _rounded(count: int) -> int:
    return -(-count // _ALIGNMENT) * _ALIGNMENT
