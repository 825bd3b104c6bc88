"""Training, validating and translating beside other programs that compute.

For each number of busy processes: target tokens a second of training with the defaults and with
one thread, for batches of two sizes; seconds of a validation; sentences a second of translating.
What is compared runs in turns, each in a process of its own. Usage:

    python benchmarks/busy.py FOLDER -m MODEL
    python benchmarks/busy.py FOLDER -m MODEL --busy 0 --busy 4 --repeats 3 --what train

FOLDER holds `train` and `val` as aligned text, MODEL is a model trained on it, with its folder
`training/`. Only ratios within one run mean anything.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from time_to_quality import find

_SPIN = "while True: pass"
_WARMUP = 8  # updates
_WARMUP_SECONDS = 6.0  # until worker processes have started


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One thing to measure."""

    what: str
    """ "train", "validate" or "translate"."""
    batch_tokens: int = 0
    threads: int | None = None

    @property
    def name(self) -> str:
        """What the table calls it."""
        threads = "default" if self.threads is None else f"--threads {self.threads}"
        return f"{self.what} {self.batch_tokens or ''} {threads}".replace("  ", " ")

    @property
    def unit(self) -> str:
        """What its number counts."""
        units = {"train": "target tokens/s", "validate": "s", "translate": "sentences/s"}
        return units[self.what]


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that compute without end."""
    processes = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(count)]
    try:
        time.sleep(0.3 if count else 0.0)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def train_rate(model: Path, batch_tokens: int, seconds: float) -> float:
    """Target tokens a second of updates after a warm-up."""
    import dataclasses

    from updates import Setup, train_until

    from mt.corpus.store import TokenStore
    from mt.events import BatchDone
    from mt.model.device import choose_device, choose_training_dtype
    from mt.model_folder.folder import TRAINING, read_config
    from mt.preparation.pipeline import TOKENS
    from mt.text.tokenizer_pair import TokenizerPair

    config = read_config(model)
    training = dataclasses.replace(config.training, batch_tokens=batch_tokens)
    device = choose_device("cpu")
    begun = 0.0
    tokens = 0
    start = time.monotonic()

    def is_enough(event: BatchDone) -> bool:
        nonlocal begun, tokens
        if event.update <= _WARMUP or time.monotonic() - start < _WARMUP_SECONDS:
            begun = time.monotonic()
            return False
        tokens += event.num_target_tokens
        return time.monotonic() - begun >= seconds

    setup = Setup(
        config=dataclasses.replace(config, training=training),
        vocabulary=TokenizerPair.load(model, joint=config.tokenizer.joint).source.vocab_size,
        store=TokenStore(model / TRAINING / TOKENS),
        device=device,
        dtype=choose_training_dtype("auto", device),
    )
    train_until(setup, is_enough)
    return tokens / (time.monotonic() - begun)


def validation_seconds(model: Path) -> float:
    """Seconds of a validation as training does it, by the weights of `model`."""
    from mt.config import Config
    from mt.corpus.store import TokenStore
    from mt.events import ignore
    from mt.model.device import choose_device
    from mt.model_folder.folder import TRAINING, load_model
    from mt.preparation.dev_set import DEV_TOKENS
    from mt.tasks.validate import make_validator
    from mt.training.distributed import Ranks
    from mt.training.validation import ValidationTask, score_weights
    from mt.translation.options import TranslationOptions
    from mt.translation.translator import Translator

    loaded = load_model(model)

    def translator(settings: Config) -> Translator:
        options = TranslationOptions(forks=True)
        return Translator(loaded.model, loaded.tokenizers, settings, options=options)

    validator = make_validator(
        model, translator, [], Ranks(), config=loaded.config, listener=ignore
    )
    dev = TokenStore(model / TRAINING / DEV_TOKENS)
    begun = time.monotonic()
    device, task = choose_device("cpu"), ValidationTask()
    score_weights(loaded.model, dev, validator, task, device=device, ranks=Ranks())
    return time.monotonic() - begun


def measure_here(cell: Cell, model: Path, source: Path, seconds: float) -> float:
    """The number of a cell, measured in this process or one that it starts."""
    if cell.what == "translate":
        threads = [] if cell.threads is None else ["--threads", str(cell.threads)]
        with source.open("rb") as lines, tempfile.TemporaryFile() as out:
            begun = time.monotonic()
            command = [sys.executable, "-m", "mt", "translate", "-m", str(model), *threads]
            subprocess.run(command, stdin=lines, stdout=out, stderr=subprocess.DEVNULL, check=True)
            taken = time.monotonic() - begun
            out.seek(0)
            return out.read().count(b"\n") / taken
    from mt.model.device import set_threads

    set_threads(cell.threads)
    if cell.what == "train":
        return train_rate(model, cell.batch_tokens, seconds)
    return validation_seconds(model)


def measure(cell: Cell, model: Path, source: Path, seconds: float) -> float:
    """The number of a cell, in a fresh process."""
    given = {"what": cell.what, "batch_tokens": cell.batch_tokens, "threads": cell.threads}
    arguments = [json.dumps(given), str(model), str(source), str(seconds)]
    command = [sys.executable, __file__, "--cell", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    return float(done.stdout.strip().splitlines()[-1])


def show(
    cells: Sequence[Cell], counts: Sequence[int], found: dict[tuple[str, int], list[float]]
) -> None:
    """A table of medians, and all numbers as a line of JSON."""
    click.echo("| | " + " | ".join(f"{count} busy" for count in counts) + " |")
    click.echo("|---|" + "---|" * len(counts))
    for cell in cells:
        medians = [statistics.median(found[cell.name, count]) for count in counts]
        texts = [f"{value:,.0f}" if value >= 100 else f"{value:.1f}" for value in medians]
        click.echo(f"| {cell.name}, {cell.unit} | " + " | ".join(texts) + " |")
    rows = [
        {"cell": name, "busy": count, "values": [round(value, 2) for value in values]}
        for (name, count), values in found.items()
    ]
    click.echo(json.dumps({"cores": os.cpu_count(), "rows": rows}))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("-m", "--model", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--source", default="en", show_default=True)
@click.option("--busy", "counts", type=int, multiple=True, default=(0, 1, 2, 4, 8))
@click.option("--what", multiple=True, default=("train", "validate", "translate"))
@click.option("--batch-tokens", type=int, multiple=True, default=(512, 2048))
@click.option("--repeats", default=3, show_default=True)
@click.option("--seconds", default=8.0, show_default=True, help="Of training that are measured.")
def main(
    folder: Path,
    model: Path,
    source: str,
    counts: tuple[int, ...],
    what: tuple[str, ...],
    batch_tokens: tuple[int, ...],
    repeats: int,
    seconds: float,
) -> None:
    """Measure mt on FOLDER beside busy processes."""
    cells = [
        Cell(what=name, batch_tokens=size, threads=threads)
        for name in what
        for size in (batch_tokens if name == "train" else (0,))
        for threads in ((None, 1) if name == "train" else (None,))
    ]
    found: dict[tuple[str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / "lines"
        unpacked = subprocess.run(
            ["gzip", "-dcf", find(folder, "val", source)], check=True, stdout=subprocess.PIPE
        )
        lines.write_bytes(2 * unpacked.stdout)
        for _ in range(repeats):
            for count in counts:
                for cell in cells:
                    with busy(count):
                        value = measure(cell, model, lines, seconds)
                    found.setdefault((cell.name, count), []).append(value)
                    click.echo(f"{cell.name}, {count} busy: {value:.1f}", err=True)
    show(cells, counts, found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--cell"]:
        described, model_folder, text, length = sys.argv[2:]
        asked = Cell(**json.loads(described))
        print(measure_here(asked, Path(model_folder), Path(text), float(length)))
    else:
        main()
