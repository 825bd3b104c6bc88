"""Where the time of an update goes, and which share of the machine's limit it reaches.

Trains by mt's own Trainer on real batches: some updates to warm up, some that are timed, and as
many under torch's profiler, which slows them; of those only the shares are taken. The limit is
measured in the same run, and the formula for the operations is held against torch's own counter
for one update. Usage:

    python benchmarks/step.py FOLDER
    python benchmarks/step.py FOLDER --precision float32 --train-flag=--batch-tokens=4096

FOLDER holds `train` and `val` as aligned text.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import torch
from flops import Operations, training_operations
from gemm import product_rate, square
from profiled import GROUPS, profiled, seconds_by_group
from time_to_quality import find, mt
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode
from updates import Setup, pairs_of_updates, train_until

from mt.config import Precision
from mt.corpus.store import TokenStore
from mt.events import BatchDone
from mt.model.device import choose_device, choose_training_dtype, set_threads
from mt.model_folder.folder import TRAINING, read_config
from mt.preparation.pipeline import TOKENS
from mt.text.tokenizer_pair import TokenizerPair
from mt.training.batch import make_batch
from mt.training.trainer import Trainer

_TOLERANCE = (
    0.05  # between the formula and torch's counter, which counts a fused kernel its own way
)


def prepare(folder: Path, output: Path, languages: Sequence[str], flags: Sequence[str]) -> None:
    """Let `mt train` prepare a corpus as it does for a run."""
    corpus, dev = ([find(folder, name, side) for side in languages] for name in ("train", "val"))
    quick = ("--updates", "1", "--set", "search.beam=1", "--set", "search.max_length=1")
    mt("train", *corpus, "--dev", dev[0], "--dev", dev[1], "-o", str(output), *quick, *flags)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a run gave."""

    trainer: Trainer
    timed: float
    """Seconds of the timed updates."""
    recorded: profile
    under: float
    """Seconds of as many updates under the profiler."""


def timed_and_profiled(setup: Setup, *, warmup: int, updates: int) -> Measured:
    """Train for `warmup` updates, `updates` timed ones, and `updates` profiled ones."""
    activities = [ProfilerActivity.CPU]
    if setup.device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    moments: dict[int, float] = {}
    recorded: list[profile] = []
    end = warmup + 2 * updates
    with ExitStack() as stack:

        def is_enough(event: BatchDone) -> bool:
            moments[event.update] = time.perf_counter()
            if event.update == warmup + updates:
                recorded.append(stack.enter_context(profiled(activities)))
                moments[0] = time.perf_counter()  # starting the profiler is left out
            return event.update == end

        trainer = train_until(setup, is_enough)
    timed = moments[warmup + updates] - moments[warmup]
    return Measured(
        trainer=trainer,
        timed=timed,
        recorded=recorded[0],
        under=moments[end] - moments[0],
    )


def operations_of(setup: Setup, trainer: Trainer, first: int, last: int) -> tuple[Operations, int]:
    """Operations computed in some updates, padding included, and their real target tokens."""
    sources, targets, num_labels = [], [], 0
    for pairs in pairs_of_updates(trainer, first, last):
        source = setup.store.source_lengths[np.array(pairs)] + 1
        target = setup.store.target_lengths[np.array(pairs)] + 1
        sources += [int(source.max())] * len(pairs)
        targets += [int(target.max())] * len(pairs)
        num_labels += int(target.sum())
    counted = training_operations(
        setup.config.model,
        vocabulary=setup.vocabulary,
        source=sources,
        target=targets,
        num_labels=num_labels,
    )
    return counted, num_labels


def counted_by_torch(setup: Setup, trainer: Trainer, update: int) -> int:
    """Operations of the batches of an update, computed once more, by torch's own counter."""
    counter = FlopCounterMode(display=False)
    with counter:  # it sees this thread alone
        for pairs in pairs_of_updates(trainer, update, update):
            trainer.gradients.loss(make_batch(setup.store, pairs).to(setup.device)).backward()  # type: ignore[no-untyped-call]
    return counter.get_total_flops()


def show(seconds: Counter[str], *, rest: float, step: float) -> dict[str, float]:
    """Print the table; gives the share of each group in a step."""
    total = sum(seconds.values()) + rest
    shares = {group: seconds[group] / total for group in GROUPS}
    shares["outside operators"] = rest / total
    click.echo("| where the time goes | share | ms an update |\n|---|---|---|")
    for group, share in shares.items():
        click.echo(f"| {group} | {share:.1%} | {1000 * step * share:.2f} |")
    click.echo(f"| an update | | {1000 * step:.2f} |")
    return {group: round(share, 4) for group, share in shares.items()}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--updates", type=click.IntRange(min=2), default=40, show_default=True)
@click.option("--warmup", type=click.IntRange(min=2), default=20, show_default=True)
@click.option("--source", default="en", show_default=True)
@click.option("--target", default="de", show_default=True)
@click.option("--device", "name", default="auto", show_default=True)
@click.option("--precision", type=click.Choice(["auto", "float32", "bfloat16"]), default="auto")
@click.option("--threads", type=click.IntRange(min=1))
@click.option("--train-flag", multiple=True, help="One more argument of mt train.")
def main(
    folder: Path,
    updates: int,
    warmup: int,
    source: str,
    target: str,
    name: str,
    precision: Precision,
    threads: int | None,
    train_flag: tuple[str, ...],
) -> None:
    """Profile training on FOLDER."""
    device = choose_device(name)
    set_threads(threads)
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / "model"
        prepare(folder, output, (source, target), train_flag)
        config = read_config(output)
        tokenizers = TokenizerPair.load(output, joint=config.tokenizer.joint)
        setup = Setup(
            config=config,
            vocabulary=tokenizers.target.vocab_size,
            store=TokenStore(output / TRAINING / TOKENS),
            device=device,
            dtype=choose_training_dtype(precision, device),
        )
        measured = timed_and_profiled(setup, warmup=warmup, updates=updates)
    report(setup, measured, warmup=warmup, updates=updates)


def report(setup: Setup, measured: Measured, *, warmup: int, updates: int) -> None:
    """Print the tables and the JSON line."""
    trainer, timed, under = measured.trainer, measured.timed, measured.under
    checked, _ = operations_of(setup, trainer, warmup, warmup)
    by_torch = counted_by_torch(setup, trainer, warmup)
    if abs(checked.total / by_torch - 1) > _TOLERANCE:
        text = f"the formula gives {checked.total:.4g} operations, torch's counter"
        click.echo(f"{text} {by_torch:.4g}: benchmarks/flops.py is out of date", err=True)
    counted, num_tokens = operations_of(setup, trainer, warmup + 1, warmup + updates)
    step = timed / updates
    seconds = seconds_by_group(measured.recorded, on_gpu=setup.device.type == "cuda")
    workers = max(len(trainer.parts.generators), 1)  # threads whose operators add up
    rest = max(workers * under - sum(seconds.values()), 0.0)
    shares = show(seconds, rest=rest, step=step)
    limit = product_rate(square(setup.device), setup.dtype, setup.device).best
    reached = counted.total / timed / 1e9
    kind = str(setup.dtype).removeprefix("torch.")
    click.echo(
        f"products of an update: {counted.total / updates / 1e9:.1f} GFLOP; reached "
        f"{reached:.1f} GFLOP/s of {limit:.1f} in {kind}: {reached / limit:.1%}"
    )
    record = {
        "device": setup.device.type,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "workers": workers,
        "precision": kind,
        "updates": updates,
        "ms_an_update": round(1000 * step, 2),
        "ms_under_the_profiler": round(1000 * under / updates, 2),
        "tokens_per_second": round(num_tokens / timed),
        "gflop_an_update": {
            "linear": round(counted.linear / updates / 1e9, 2),
            "attention": round(counted.attention / updates / 1e9, 2),
            "logits": round(counted.logits / updates / 1e9, 2),
        },
        "gflop_per_second": round(reached, 1),
        "limit_gflop_per_second": round(limit, 1),
        "share_of_limit": round(reached / limit, 4),
        "shares": shares,
    }
    click.echo(json.dumps(record))


if __name__ == "__main__":
    main()
