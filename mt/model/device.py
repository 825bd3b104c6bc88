"""Which device, which precision, how many threads: what was asked for, or what is there."""

from __future__ import annotations

import copy
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from mt.config import Precision, SearchPrecision
from mt.errors import ConfigError, DeviceMemoryError

_M = TypeVar("_M", bound=nn.Module)
_NO_MEMORY = ("out of memory", "allocate memory", "not enough memory")
"""What plain errors of torch and of safetensors say where memory is wanting."""


def choose_device(name: str, number: int = 0) -> torch.device:
    """The device of that name; "auto" takes CUDA, else the CPU.

    Nobody has run mt on MPS yet, so that it is taken only where it is asked for.

    Of several GPUs it is the one of that `number`, which is made the current one; a process that
    sees one GPU of its own takes that.

    Raises ConfigError when the device asked for is not there.
    """
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        name = "cuda" if there["cuda"] else "cpu"
    if not there[name]:
        raise ConfigError(
            f"--device {name}: this machine or this build of torch has no {name} device",
            hint="Use --device cpu, or install a torch build for your device",
        )
    if name != "cuda":
        return torch.device(name)
    if number and _has_one_of_its_own():
        number = 0
    if number >= torch.cuda.device_count():
        raise ConfigError(
            f"this process is to use GPU {number}, but there are {torch.cuda.device_count()}",
            hint="Start no more processes than there are GPUs: torchrun --nproc-per-node",
        )
    torch.cuda.set_device(number)
    # cuDNN's attention plans a kernel for every shape that it meets, and shapes here are many.
    torch.backends.cuda.enable_cudnn_sdp(False)
    return torch.device("cuda", number)


def _has_one_of_its_own() -> bool:
    """Whether this process was given one GPU that the other ranks of its machine do not see.

    So SLURM does it. Those that torchrun starts on a machine see all the same ones.
    """
    names = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return len(names) == torch.cuda.device_count() == 1 and "TORCHELASTIC_RUN_ID" not in os.environ


def choose_devices(name: str, count: int | None) -> list[torch.device]:
    """The first `count` devices of that name, None for all of them; the first is current.

    Raises ConfigError when there are not so many, and for several of another kind than CUDA.
    """
    first = choose_device(name)
    if count == 1:
        return [first]
    asked = "all" if count is None else str(count)
    if first.type != "cuda":
        raise ConfigError(
            f"--devices {asked}: several devices are for CUDA, and the device here is {first.type}",
            hint="Leave out --devices, or use --device cuda",
        )
    there = torch.cuda.device_count()
    if count is not None and count > there:
        raise ConfigError(
            f"--devices {asked}: there are {there} CUDA devices",
            hint=f"Use --devices {there} or fewer",
        )
    return [torch.device("cuda", number) for number in range(count or there)]


def copied_to(module: _M, device: torch.device) -> _M:
    """A copy of a module with weights of its own on `device`; what was tied stays tied."""
    # Handed to deepcopy as copied already: no second set of weights on the device they are on.
    copied: dict[int, Tensor] = {
        id(parameter): nn.Parameter(
            parameter.detach().to(device, copy=True), requires_grad=parameter.requires_grad
        )
        for parameter in module.parameters()
    }
    copied |= {id(buffer): buffer.to(device, copy=True) for buffer in module.buffers()}
    return copy.deepcopy(module, copied)


def sent_to(x: Tensor, device: torch.device) -> Tensor:
    """`x` of the CPU on `device`, without waiting for the copy to a CUDA device.

    Only a copy from pinned memory to CUDA may go on by itself: elsewhere, as on MPS, the memory
    that it reads may be given to others before it is done. It is the one copy that does not wait.
    """
    if device.type != "cuda":
        return x.to(device)
    return x.pin_memory().to(device, non_blocking=True)


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether bfloat16 products are faster than float32 ones on `device`."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        capabilities = torch.cpu.get_capabilities()
        return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16"))
    return False


def choose_training_dtype(precision: Precision, device: torch.device) -> torch.dtype:
    """The type of products while training; weights and sums stay float32."""
    if precision == "auto":
        return torch.bfloat16 if has_fast_bfloat16(device) else torch.float32
    return torch.float32 if precision == "float32" else torch.bfloat16


def choose_search_precision(precision: SearchPrecision, device: torch.device) -> SearchPrecision:
    """The type of products while translating: float32 unless asked otherwise.

    Only float32 keeps the promise that the company of a sentence does not change its translation.
    Raises ConfigError for 8 bits on another device than a CPU.
    """
    if precision == "int8" and device.type != "cpu":
        raise ConfigError(
            f"--precision int8 is for CPUs, not for {device.type}",
            hint="Use --precision bfloat16, or --device cpu",
        )
    return "float32" if precision == "auto" else precision


@contextmanager
def products_in_tf32(device: torch.device, *, is_on: bool = True) -> Iterator[None]:
    """Within, float32 products on a CUDA device may round their factors to TF32.

    TF32 has the range of float32 and 10 bits after the point, and tensor cores compute it several
    times faster. Good enough for gradients, it is not for search, scores and comparisons between
    devices: there products stay as they are, and so they do on other devices.
    """
    if device.type != "cuda" or not is_on:
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextmanager
def fitting_in_memory(what: str, *, hint: str) -> Iterator[None]:
    """Within, `what` is to fit in the memory of the device; else DeviceMemoryError says so."""
    try:
        yield
    except (MemoryError, OSError, RuntimeError, SafetensorError) as error:
        if not is_out_of_memory(error):
            raise
        raise memory_error(what, error, hint=hint) from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory was wanting, of a GPU or of the machine."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno == errno.ENOMEM
    kinds = (RuntimeError, OSError, SafetensorError)
    return isinstance(error, kinds) and any(words in str(error) for words in _NO_MEMORY)


def memory_error(what: str, error: Exception, *, hint: str) -> DeviceMemoryError:
    """The error for users that `what` does not fit."""
    parts = str(error).split(". ")  # what stands around the words is for programmers
    said = [part for part in parts if any(words in part for words in _NO_MEMORY)]
    reason = (*said, type(error).__name__)[0]
    return DeviceMemoryError(
        f"{what} does not fit in the memory of the device ({reason})", hint=hint
    )


def set_threads(threads: int | None) -> None:
    """Let torch use so many CPU threads; None leaves its own choice."""
    if threads is not None:
        torch.set_num_threads(threads)


@contextmanager
def using_threads(count: int) -> Iterator[None]:
    """Within, torch computes with so many CPU threads; some libraries know one number for all."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
