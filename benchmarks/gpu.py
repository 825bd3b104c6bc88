"""One GPU in one command: training, memory, decoding, and whether it computes what the CPU does.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --device cpu --quick     (tiny shapes, to try the program)

Trains the presets `base` and `big` on synthetic tokens by mt's own Trainer, without validation,
with layers as they are and compiled, each in batches of the size that is fastest of those that fit
(or of --batch-tokens). The operations of a model are 6 N a token and those of attention
(benchmarks/flops.py): for a pair of S source and T target tokens, with D the width, I the inner
width, V the vocabulary and the matrices of each layer counted for the tokens that go through them,

    3 * (encoder layers * (2 S (4 D^2 + 2 D I) + 4 S^2 D)
         + decoder layers * (2 T (6 D^2 + 2 D I) + 4 S D^2 + 4 T^2 D + 4 T S D)
         + 2 T D V)

over real tokens, padding left out. The model-FLOP utilisation is that over time, over the peak of
the card for dense bfloat16 products (a table, or --peak); beside it stands the share of the limit
that a large product of the same type reaches here.

The preset `base` trains once more with cuDNN's attention, which is off by default, and by four
batches an update, so that one run decides what each is worth.

Decoding is by beam 4 through mt's Translator, with first weights and a bound of 25 tokens. The
check makes one update of `base` without dropout on the CPU and on the device, in float32 without
TF32, in TF32 and in bfloat16; and in float32 by compiled layers. What --seconds leave no time for
is left out, and told.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence

import click
import torch
from on_device import (
    TOLERANCE,
    WAYS,
    Check,
    Record,
    Scale,
    best_batch,
    decode,
    train,
    train_otherwise,
    with_batch,
)
from synthetic import RandomStore
from updates import Setup

from mt.config.presets import preset
from mt.model.device import choose_device, has_fast_bfloat16, set_threads

_PEAKS = {  # TFLOP/s of dense bfloat16 products, as the maker states them; the first that fits
    "B200": 2250.0,
    "H200": 989.0,
    "H100 PCIe": 756.0,
    "H100 NVL": 835.0,
    "H100": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "L4": 121.0,
    "A10": 125.0,
    "RTX 4090": 165.0,
    "RTX 3090": 71.0,
}
_COMPILING = 30.0  # seconds that compiling may take, before it is begun at all

FULL = Scale(
    vocabulary=32_000,
    pairs=100_000,
    check_pairs=32,
    warmup_updates=8,
    timed_seconds=15.0,
    probe_seconds=1.5,
    batches=(8192, 16_384, 32_768, 65_536, 131_072),
    sentences=512,
    compiler="inductor",
    changes={},
)
QUICK = Scale(
    vocabulary=300,
    pairs=500,
    check_pairs=8,
    warmup_updates=1,
    timed_seconds=1.0,
    probe_seconds=0.1,
    batches=(512, 1024),
    sentences=8,
    compiler="aot_eager",
    changes={"model": {"d_model": 32, "d_inner": 64, "encoder_layers": 2, "decoder_layers": 2}},
)


class Plan:
    """Measurements one after the other, until the time is over."""

    def __init__(self, seconds: float) -> None:
        self._begun = time.perf_counter()
        self._seconds = seconds
        self.left_out: list[str] = []

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return time.perf_counter() - self._begun

    def measure(self, name: str, measure: Callable[[], Record], *, needs: float) -> list[Record]:
        """One record; none if less than `needs` seconds are left."""
        if self._seconds - self.seconds < needs:
            self.left_out.append(name)
            return []
        click.echo(f"{self.seconds:.0f} s: {name}", err=True)
        return [measure()]


def table(rows: Sequence[Record]) -> None:
    """Print records of the same fields."""
    if not rows:
        return
    click.echo("| " + " | ".join(key.replace("_", " ") for key in rows[0]) + " |")
    click.echo("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = ("–" if value is None else str(value) for value in row.values())
        click.echo("| " + " | ".join(cells) + " |")
    click.echo("")


@click.command()
@click.option("--device", "name", default="cuda", show_default=True)
@click.option("--quick", is_flag=True, help="Tiny shapes: to try the program.")
@click.option("--peak", type=float, help="TFLOP/s of the card for dense bfloat16 products.")
@click.option("--batch-tokens", type=click.IntRange(min=1), help="Else the fastest that fits.")
@click.option("--seconds", type=float, help="For everything; else 300, or 90 if --quick.")
@click.option("--threads", type=click.IntRange(min=1))
def main(
    name: str,
    quick: bool,
    peak: float | None,
    batch_tokens: int | None,
    seconds: float | None,
    threads: int | None,
) -> None:
    """Measure one GPU."""
    device = choose_device(name)
    set_threads(threads)
    scale = QUICK if quick else FULL
    seconds = seconds or (90.0 if quick else 300.0)
    timed, compiling = min(scale.timed_seconds, seconds / 20), 0.0 if quick else _COMPILING
    card = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    if peak is None:
        peak = next((value for part, value in _PEAKS.items() if part in card), None)
    dtype = torch.bfloat16 if has_fast_bfloat16(device) else torch.float32
    if dtype != torch.bfloat16:
        peak = None  # it is that of bfloat16 products
    configs = [preset(size).with_values(scale.changes) for size in ("base", "big")]
    plan = Plan(seconds)
    store = RandomStore(num_pairs=scale.pairs, vocabulary=scale.vocabulary)
    check = Check(configs[0], device, scale)
    checked = plan.measure("check", check.plain, needs=0.0)
    trained: list[Record] = []
    setups = []
    for config in configs:
        setup = Setup(
            config=config,
            vocabulary=scale.vocabulary,
            store=store,
            device=device,
            dtype=dtype,
        )
        size = batch_tokens or best_batch(setup, scale)
        setups.append(with_batch(setup, size))
        trained += plan.measure(
            f"training {config.preset}",
            lambda: train(setups[-1], scale, seconds=timed, peak=peak),
            needs=timed,
        )
    decoded: list[Record] = []
    for config in configs:
        for kind in dict.fromkeys((torch.float32, dtype)):
            decoded += plan.measure(
                f"decoding by {config.preset} in {str(kind).removeprefix('torch.')}",
                lambda c=config, k=kind: decode(c, k, device, scale),  # type: ignore[misc]
                needs=timed,
            )
    for setup in setups:
        compiled = dataclasses.replace(setup, compiler=scale.compiler)
        trained += plan.measure(
            f"training {setup.config.preset} compiled",
            lambda s=compiled: train(s, scale, seconds=timed, peak=peak),  # type: ignore[misc]
            needs=timed + compiling,
        )
    otherwise: list[Record] = []
    for way in WAYS:
        otherwise += plan.measure(
            f"training {setups[0].config.preset} by {way}",
            lambda w=way: train_otherwise(  # type: ignore[misc]
                setups[0], scale, way=w, seconds=timed, peak=peak
            ),
            needs=timed,
        )
    checked += plan.measure("check of compiled layers", check.compiled, needs=compiling)
    table(trained)
    table(otherwise)
    table(decoded)
    away: Record = {key: value for part in checked for key, value in part.items()}
    exact = {key: value for key, value in away.items() if "float32_" in key}
    agrees = all(isinstance(value, float) and value <= TOLERANCE for value in exact.values())
    click.echo(f"check: {away}, agrees: {agrees}")
    if plan.left_out:
        click.echo(f"left out, as the time was over: {', '.join(plan.left_out)}")
    record = {
        "card": card,
        "torch": torch.__version__,
        "peak_tflops": peak,
        "seconds": round(plan.seconds, 1),
        "check": {**away, "agrees": agrees},
        "training": trained,
        "otherwise": otherwise,
        "decoding": decoded,
        "left_out": plan.left_out,
    }
    click.echo(json.dumps(record))
    if not agrees:
        raise click.ClickException(f"{card} and CPU differ by more than {TOLERANCE:g}: {exact}")


if __name__ == "__main__":
    main()
