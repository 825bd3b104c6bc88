"""Which device, which precision, how many threads: what was asked for, or what is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch

from mt.config import Precision
from mt.errors import ConfigError, DeviceMemoryError

DeviceName = Literal["auto", "cpu", "cuda", "mps"]


def choose_device(name: str, number: int = 0) -> torch.device:
    """The device of that name; "auto" takes CUDA, then MPS, then the CPU.

    Of several GPUs it is the one of that `number`, which is made the current one.

    Raises ConfigError when the device asked for is not there.
    """
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        name = next(kind for kind, is_there in there.items() if is_there)
    if not there[name]:
        raise ConfigError(
            f"--device {name}: this machine or this build of torch has no {name} device",
            hint="Use --device cpu, or install a torch build for your device",
        )
    if name != "cuda":
        return torch.device(name)
    if number >= torch.cuda.device_count():
        raise ConfigError(
            f"this process is to use GPU {number}, but there are {torch.cuda.device_count()}",
            hint="Start no more processes than there are GPUs: torchrun --nproc-per-node",
        )
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


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


def choose_search_dtype(precision: Precision, device: torch.device) -> torch.dtype:
    """The type of products while translating; on the CPU float32 unless asked otherwise.

    Only float32 keeps the promise that the company of a sentence does not change its translation.
    """
    if precision == "bfloat16":
        return torch.bfloat16
    return torch.float32


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
    except torch.OutOfMemoryError as error:
        reason = str(error).split(". ")[0]  # what follows is advice for programmers
        raise DeviceMemoryError(
            f"{what} does not fit in the memory of the device ({reason})", hint=hint
        ) from error


def set_threads(threads: int | None) -> None:
    """Let torch use so many CPU threads; None leaves its own choice."""
    if threads is not None:
        torch.set_num_threads(threads)
