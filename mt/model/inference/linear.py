"""Products of search: x W^T + b in float32, bfloat16 or 8-bit integers, arranged once.

Weights of 8 bits have a scale for each output (symmetric, the largest weight at 127); inputs are
quantised as they come, with one scale for all rows, so that there a translation can depend on the
rest of the batch.

Shapes: N rows, I inputs, O outputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from mt.errors import ConfigError

Products = Literal["as trained", "bfloat16", "int8"]
"""What the factors of products are; "as trained" is the type of the weights."""

Product = Callable[[Tensor], Tensor]
"""(N, I) -> (N, O)."""

_FEW = 1 << 20  # multiplications, below which oneDNN takes longer to begin than it saves
_FEW_ROWS = 16  # up to which bringing weights in order takes longer than the product
_LARGE = 1 << 18  # weights, from which a second copy in order is worth it for few rows


def make_product(weight: Tensor, bias: Tensor | None, kind: Products) -> Product:
    """The product with weight (O, I) and bias (O).

    On CPUs it gives the type of the weights, on GPUs that of its factors. What is not of another
    type than `weight` is shared with it.

    Raises ConfigError where this torch has no 8-bit products.
    """
    weight = weight.detach()
    bias = None if bias is None else bias.detach()
    if kind == "int8":
        return Int8Product(weight, bias)
    if kind == "bfloat16":
        return Bfloat16Product(weight, bias)
    if weight.device.type == "cpu" and weight.dtype == torch.float32 and has_faster_onednn():
        return OnednnProduct(weight, bias)
    return lambda x: functional.linear(x, weight, bias)


@cache
def has_faster_onednn() -> bool:
    """Whether oneDNN makes float32 products faster than MKL, which torch takes by default.

    Outside of Intel's processors MKL makes no use of vectors of 512 bits (docs/log.md).
    """
    capabilities = torch.cpu.get_capabilities()
    return (
        torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and bool(capabilities.get("avx512_f"))
        and "Intel" not in str(capabilities.get("cpu_name", "Intel"))
    )


class OnednnProduct:
    """x W^T + b in float32 by oneDNN, small ones by torch's default."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._weight = weight
        self._bias = bias
        self._fewest_rows = _FEW // weight.numel()
        self._in_order: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """(N, I) -> (N, O), float32."""
        if x.size(0) <= self._fewest_rows:
            return functional.linear(x, self._weight, self._bias)
        weight = self._weight
        if x.size(0) <= _FEW_ROWS and weight.numel() >= _LARGE:
            if self._in_order is None:
                self._in_order = torch.ops.mkldnn._reorder_linear_weight(weight, _FEW_ROWS)
            weight = self._in_order
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, self._bias, "none", [], "")
        return out


class Bfloat16Product:
    """x W^T + b with both factors rounded to bfloat16, and sums in float32."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._weight = weight.bfloat16()
        self._bias = None if bias is None else bias.bfloat16()
        self._out = torch.float32 if weight.device.type == "cpu" else torch.bfloat16

    def __call__(self, x: Tensor) -> Tensor:
        """(N, I) -> (N, O), float32 on CPUs."""
        return functional.linear(x.bfloat16(), self._weight, self._bias).to(self._out)


class Int8Product:
    """x W^T + b with both factors quantised to 8 bits, and sums in 32 bits."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        _use_quantised_engine()
        weight = weight.float()
        scales = weight.abs().amax(dim=1).clamp(min=1e-12).double() / 127
        zeros = torch.zeros(weight.size(0), dtype=torch.long)
        with warnings.catch_warnings():  # torch is to replace these operators some day
            warnings.simplefilter("ignore", UserWarning)
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        kept = None if bias is None else bias.float()
        self._packed: Any = torch.ops.quantized.linear_prepack(rounded, kept)
        capabilities = torch.cpu.get_capabilities()
        # Without these instructions sums of 16 bits could overflow with the full range.
        self._reduce_range = not any(capabilities.get(name) for name in ("avx512_vnni", "avx_vnni"))

    def __call__(self, x: Tensor) -> Tensor:
        """(N, I) -> (N, O), float32."""
        out: Tensor = torch.ops.quantized.linear_dynamic(x, self._packed, self._reduce_range)
        return out


def _use_quantised_engine() -> None:
    engines = torch.backends.quantized.supported_engines
    engine = next((name for name in ("onednn", "x86", "fbgemm", "qnnpack") if name in engines), "")
    if not engine:
        raise ConfigError(
            "--precision int8: this build of torch has no 8-bit products",
            hint="Use --precision float32 or bfloat16",
        )
    torch.backends.quantized.engine = engine
