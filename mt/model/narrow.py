"""Products in bfloat16 or 8-bit integers, for search: a view of a model with narrow products.

All else stays float32: embeddings, sums, norms, attention. Weights of 8 bits have a scale for each
output (symmetric, the largest weight at 127); inputs are quantised as they come, with one scale for
all rows, so that the company of a sentence can change its translation there.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from mt.errors import ConfigError
from mt.model.device import has_fast_bfloat16
from mt.model.encoder_decoder import EncoderDecoder, Projection

Narrow = Literal["bfloat16", "int8"]


class Bfloat16Linear(nn.Module):
    """x W^T + b with both factors rounded to bfloat16, and sums in float32."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.register_buffer("weight", weight.detach().bfloat16())
        self.register_buffer("bias", None if bias is None else bias.detach().bfloat16())

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O), float32."""
        return functional.linear(x.bfloat16(), self.weight, self.bias).float()  # type: ignore[arg-type]


class Int8Linear(nn.Module):
    """x W^T + b with both factors quantised to 8 bits, and sums in 32 bits."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        weight = weight.detach().float()
        scales = weight.abs().amax(dim=1).clamp(min=1e-12).double() / 127
        zeros = torch.zeros(weight.size(0), dtype=torch.long)
        with warnings.catch_warnings():  # torch is to replace these operators some day
            warnings.simplefilter("ignore", UserWarning)
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        kept = None if bias is None else bias.detach().float()
        self._packed: Any = torch.ops.quantized.linear_prepack(rounded, kept)
        capabilities = torch.cpu.get_capabilities()
        # Without these instructions sums of 16 bits could overflow with the full range.
        self._reduce_range = not any(capabilities.get(name) for name in ("avx512_vnni", "avx_vnni"))

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O), float32."""
        out: Tensor = torch.ops.quantized.linear_dynamic(x, self._packed, self._reduce_range)
        return out


def narrowed(model: EncoderDecoder, kind: Narrow) -> EncoderDecoder:
    """A model for search on the CPU with narrow copies of the matrices of `model`.

    All other weights are shared with it. It cannot be trained.

    Raises ConfigError where this torch has no 8-bit products.
    """
    engines = torch.backends.quantized.supported_engines
    engine = next((name for name in ("onednn", "x86", "fbgemm", "qnnpack") if name in engines), "")
    if kind == "int8" and not engine:
        raise ConfigError(
            "--precision int8: this build of torch has no 8-bit products",
            hint="Use --precision float32 or bfloat16",
        )
    if kind == "int8":
        torch.backends.quantized.engine = engine
    make = Bfloat16Linear if kind == "bfloat16" else Int8Linear
    shared = {id(parameter): parameter for parameter in model.parameters()}
    copied = copy.deepcopy(model, shared).eval()  # embeddings and norms are those of the model
    for module in list(copied.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, make(child.weight, child.bias))
    product = make(copied.output_weight, None)
    copied.project = product.forward  # type: ignore[method-assign, assignment]
    # Packing rows for 8 bits takes longer than it gains over bfloat16 (docs/log.md).
    has_bfloat16 = has_fast_bfloat16(copied.output_weight.device)
    make_part = Bfloat16Linear if has_bfloat16 else make

    def projection_to(symbols: Tensor) -> Projection:
        return make_part(copied.output_weight.index_select(0, symbols), None).forward

    copied.projection_to = projection_to  # type: ignore[method-assign]
    return copied
