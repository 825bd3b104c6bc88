"""Layers compiled by `torch.compile`, for the updates of a run and for nothing else.

Each layer is compiled by itself, and all of a kind share one program, so that twelve layers cost
the time of two. Sizes are symbols in it: pairs, source and target positions. Lengths are rounded up
to a multiple of 8 (`WIDTH_MULTIPLE`), as kernels distinguish aligned sizes from others; what is
left to compile anew is the case that two sizes happen to be equal, or that one is 1.

It knows layers and not what is around them: embeddings, positions, which may grow, and the loss,
which takes only the target tokens, stay outside.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from contextlib import AbstractContextManager, nullcontext

import torch

from mt.errors import ConfigError
from mt.model.translation_model import TranslationModel

WIDTH_MULTIPLE = 8
"""Lengths of batches are rounded up to a multiple of it where layers are compiled."""


def compile_layers(model: TranslationModel, *, backend: str = "inductor") -> None:
    """From now on the layers of `model` compile themselves when they are first called.

    Names of weights stay as they are. Search goes by layers of its own.
    Raises ConfigError where the compiler lacks what it needs.
    """
    if backend == "inductor":
        _require_tools(next(model.parameters()).device)
    # Within DistributedDataParallel each program would be cut where a bucket of gradients ends.
    # Layers are programs by themselves, which is as fine as buckets are.
    torch._dynamo.config.optimize_ddp = False
    for layer in model.layers():
        # `Module.compile` would let all kinds of layers share the few programs that a function may
        # have, and would take hooks, such as those of sharded layers, into them.
        layer.forward = torch.compile(layer.forward, dynamic=True, backend=backend)


def uncompiled(*, is_compiled: bool) -> AbstractContextManager[object]:
    """Within, compiled layers compute as others do, for scores that are those of `mt eval`."""
    return torch.compiler.set_stance("force_eager") if is_compiled else nullcontext()


def _require_tools(device: torch.device) -> None:
    """Raise ConfigError where the compiler would find no tools for a device."""
    if device.type == "cuda" and importlib.util.find_spec("triton") is None:
        raise ConfigError(
            "--compile needs Triton, which is not installed",
            hint="pip install triton, or leave --compile out",
        )
    compilers = [os.environ.get("CXX", ""), "g++", "clang++", "c++", "gcc", "cc", "cl"]
    if not any(shutil.which(compiler) for compiler in compilers if compiler):
        raise ConfigError(
            "--compile needs a C++ compiler, and none is on the PATH",
            hint="Install g++ or name one in the variable CXX, or leave --compile out",
        )
