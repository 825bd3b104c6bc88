"""The machine's own limit for matrix products, in the shapes of a training step.

Each product is x W^T, (rows, inner) times (inner, columns), as in a linear layer, best and median
of five series. Usage:

    python benchmarks/gemm.py
    python benchmarks/gemm.py --preset base --tokens 8192 --vocabulary 32000 --device cuda
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import click
import torch
from torch.nn import functional

from mt.config import ModelConfig
from mt.config.presets import PRESETS, preset
from mt.model.device import choose_device, set_threads

Shape = tuple[int, int, int]
"""Rows, inner dimension, columns: 2 * rows * inner * columns floating-point operations."""

DTYPES = (torch.float32, torch.bfloat16)
_SERIES = 5
_SECONDS_A_SERIES = 0.13


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How fast a product is, in GFLOP/s."""

    best: float
    median: float


def square(device: torch.device) -> Shape:
    """A product large enough for the limit of a device."""
    size = 8192 if device.type == "cuda" else 2048
    return size, size, size


def step_shapes(model: ModelConfig, *, tokens: int, vocabulary: int) -> list[Shape]:
    """The products of a training step: forward (and for inputs, backward), then for weights."""
    d, inner = model.d_model, model.d_inner
    return [
        (tokens, d, d),
        (tokens, d, 2 * d),
        (tokens, d, inner),
        (tokens, inner, d),
        (tokens, d, vocabulary),
        (d, tokens, d),
        (inner, tokens, d),
        (vocabulary, tokens, d),
    ]


def product_rate(shape: Shape, dtype: torch.dtype, device: torch.device) -> Rate:
    """Measure one product."""
    rows, inner, columns = shape
    x = torch.randn(rows, inner, device=device).to(dtype)
    weight = torch.randn(columns, inner, device=device).to(dtype)
    with torch.inference_mode():
        times = _series(lambda: functional.linear(x, weight), device)
    operations = 2 * rows * inner * columns
    return Rate(
        best=operations / min(times) / 1e9, median=operations / statistics.median(times) / 1e9
    )


def _series(product: Callable[[], object], device: torch.device) -> list[float]:
    """Seconds a call, of several series of calls."""
    for _ in range(5):
        product()
    calls = 1
    while (taken := _seconds(product, calls, device)) < _SECONDS_A_SERIES / 4:
        calls *= 2
    calls = max(1, round(calls * _SECONDS_A_SERIES / taken))
    return [_seconds(product, calls, device) / calls for _ in range(_SERIES)]


def _seconds(product: Callable[[], object], calls: int, device: torch.device) -> float:
    _wait(device)
    begun = time.perf_counter()
    for _ in range(calls):
        product()
    _wait(device)
    return time.perf_counter() - begun


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


@click.command()
@click.option("--preset", "size", type=click.Choice(list(PRESETS)), default="tiny")
@click.option("--tokens", default=4096, show_default=True, help="Padded tokens of a batch.")
@click.option("--vocabulary", default=10_000, show_default=True)
@click.option("--device", "name", default="cpu", show_default=True)
@click.option("--threads", type=click.IntRange(min=1))
def main(size: str, tokens: int, vocabulary: int, name: str, threads: int | None) -> None:
    """Measure the products of a training step."""
    device = choose_device(name)
    set_threads(threads)
    shapes = step_shapes(preset(size).model, tokens=tokens, vocabulary=vocabulary)
    rows = []
    click.echo("| rows, inner, columns | float32 | bfloat16 |\n|---|---|---|")
    for shape in [square(device), *dict.fromkeys(shapes)]:
        rates = [product_rate(shape, dtype, device) for dtype in DTYPES]
        cells = [f"{rate.best:.0f} ({rate.median:.0f})" for rate in rates]
        click.echo(f"| {', '.join(map(str, shape))} | {' | '.join(cells)} |")
        kinds = [str(dtype).removeprefix("torch.") for dtype in DTYPES]
        rows.append(
            {
                "shape": shape,
                **{kind: round(r.best, 1) for kind, r in zip(kinds, rates, strict=True)},
                **{f"{k}_median": round(r.median, 1) for k, r in zip(kinds, rates, strict=True)},
            }
        )
    click.echo("GFLOP/s, best (median) of five series")
    record = {
        "device": device.type,
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "rows": rows,
    }
    click.echo(json.dumps(record))


if __name__ == "__main__":
    main()
