"""What share of a training step goes into sampling, reading and padding batches.

Trains for some updates with the defaults of `mt` on a folder with `train` and `val` as aligned
text, and measures, inside the same run, the time in the sampler and in making batches beside that
of whole updates, validation left out. Usage: python benchmarks/reading.py FOLDER
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from time_to_quality import find

from mt.cli.main import main as mt
from mt.corpus.sampler import BatchSampler
from mt.training import data_loader, trainer


class Stopwatch:
    """Adds up the seconds spent in functions."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def watch(self, owner: type | ModuleType, name: str) -> None:
        """Put a timed function in the place of one of a class or module."""
        method: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                taken = time.perf_counter() - begun
                self.seconds[name] = self.seconds.get(name, 0.0) + taken

        setattr(owner, name, timed)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--updates", default=1000, show_default=True)
@click.option("--source", default="en", show_default=True)
@click.option("--target", default="de", show_default=True)
def main(folder: Path, updates: int, source: str, target: str) -> None:
    """Measure the cost of batches while training on FOLDER."""
    watch = Stopwatch()
    watch.watch(BatchSampler, "epoch")
    watch.watch(data_loader, "make_batch")
    watch.watch(trainer.Trainer, "_update")
    corpus = [find(folder, "train", language) for language in (source, target)]
    dev = [find(folder, "val", language) for language in (source, target)]
    with tempfile.TemporaryDirectory() as output:
        arguments = ["train", *corpus, "--dev", dev[0], "--dev", dev[1], "-o", f"{output}/model"]
        limits = ["--updates", str(updates), "--set", f"training.validate_every={updates + 1}"]
        try:
            mt([*arguments, *limits, "--set", "search.beam=1", "--set", "search.max_length=1"])
        except SystemExit as end:
            if end.code:
                raise
    # Batches are made between updates, so that a step is both; validation makes a few more.
    batches = watch.seconds["epoch"] + watch.seconds["make_batch"]
    share = batches / (batches + watch.seconds["_update"])
    click.echo("| | ms an update |\n|---|---|")
    for name, title in (("epoch", "sampling"), ("make_batch", "reading and padding")):
        click.echo(f"| {title} | {1000 * watch.seconds[name] / updates:.3f} |")
    click.echo(f"| the update itself | {1000 * watch.seconds['_update'] / updates:.3f} |")
    click.echo(f"| share of batches | {100 * share:.2f} % |")
    click.echo(json.dumps({"cores": os.cpu_count(), "updates": updates, "share": share}))


if __name__ == "__main__":
    main()
