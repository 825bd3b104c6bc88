"""What `mt translate` promises: a quick start, flat memory, and translations that keep no company.

    python benchmarks/promises.py MODEL --source test.en --source other.en

MODEL is a model folder, the files of --source hold one sentence a line. It measures

- the first translation from a cold start, against a Python that imports torch and sentencepiece, in
  turns;
- the resident memory of a greedy run over 200,000 short lines, processes of workers included, at
  most, against that when the first lines come (`--lines` makes it shorter);
- whether lines change with the batch size, the order, the workers, their kind and refilling, in
  float32 on the CPU: not one should.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click
from store import resident

# What `mt` sets for itself as it starts (mt/cli/main.py).
for cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(cache, "64")

from mt.formats.text import read_text_lines  # noqa: E402
from mt.model_folder.folder import load_model  # noqa: E402
from mt.translation.options import TranslationOptions  # noqa: E402
from mt.translation.translator import Translator  # noqa: E402

_MT = (sys.executable, "-m", "mt", "translate", "--device", "cpu")
_IMPORTS = (sys.executable, "-c", "import torch, sentencepiece")
_SHORT = 6  # words of the lines of the long run


def cold_start(model: Path, line: str, repeats: int) -> dict[str, float]:
    """Median seconds of `mt translate` of one line, and of the imports it cannot do without."""
    taken: dict[str, list[float]] = {"first translation": [], "imports": []}
    for _ in range(repeats):
        for name, command in (("first translation", (*_MT, "-m", model)), ("imports", _IMPORTS)):
            begun = time.perf_counter()
            subprocess.run(command, input=f"{line}\n".encode(), check=True, capture_output=True)
            taken[name].append(time.perf_counter() - begun)
    return {name: round(statistics.median(seconds), 2) for name, seconds in taken.items()}


def memory(model: Path, lines: Sequence[str], count: int, work: Path) -> dict[str, float]:
    """MB after the first 1,000 lines, the most after that, and lines a second."""
    source, output = work / "source", work / "output"
    short = [" ".join(line.split()[:_SHORT]) for line in lines]
    source.write_text("".join(f"{short[i % len(short)]}\n" for i in range(count)), "utf-8")
    begun = time.perf_counter()
    early = most = 0
    with source.open("rb") as given, output.open("wb") as out:
        process = subprocess.Popen((*_MT, "-m", model, "--beam", "1"), stdin=given, stdout=out)
        while process.poll() is None:
            now = resident(process.pid)
            most = max(most, now)
            if output.stat().st_size and not early:
                early = now
            time.sleep(0.2)
    seconds = time.perf_counter() - begun
    if process.returncode or output.read_bytes().count(b"\n") != count:
        raise click.ClickException(f"mt translate ended with {process.returncode}, or lost lines")
    return {
        "MB with the first output": round(early / 1e6, 1),
        "MB at most": round(most / 1e6, 1),
        "lines a second": round(count / seconds, 1),
    }


def differing(model: Path, lines: Sequence[str]) -> dict[str, int]:
    """Of how many lines the translation is another one than in batches of 64 by two threads."""
    loaded = load_model(model)

    def texts(given: Sequence[str], *, refill: bool = False, **how: int) -> list[str]:
        options = TranslationOptions(split=False, **how)  # type: ignore[arg-type]
        translator = Translator(loaded.model, loaded.tokenizers, loaded.config, options=options)
        translator._searcher.refill = refill
        return [each.text for each in translator.translate(given)]

    usual = texts(lines, batch_size=64, workers=2)
    order = list(range(len(lines)))
    random.Random(1).shuffle(order)
    shuffled = texts([lines[i] for i in order], batch_size=64, workers=2)
    back = [text for _, text in sorted(zip(order, shuffled, strict=True))]
    others = {
        "one worker": texts(lines, batch_size=64, workers=1),
        "processes": texts(lines, batch_size=64, workers=2, forks=True),
        "refilled": texts(lines, batch_size=64, workers=2, refill=True),
        "batches of 3": texts(lines, batch_size=3, workers=2),
        "batches of 1": texts(lines, batch_size=1, workers=2),
        "shuffled": back,
    }
    return {
        name: sum(a != b for a, b in zip(usual, found, strict=True))
        for name, found in others.items()
    }


@click.command()
@click.argument("model", type=click.Path(exists=True, path_type=Path))
@click.option("--source", "sources", multiple=True, required=True, type=click.Path(path_type=Path))
@click.option("--lines", "count", default=200_000, show_default=True)
@click.option("--per-file", default=1000, show_default=True, help="Lines taken from each file.")
@click.option("--repeats", default=5, show_default=True)
def main(model: Path, sources: Sequence[Path], count: int, per_file: int, repeats: int) -> None:
    """Measure, and print a line a finding."""
    lines = [line for path in sources for line in read_text_lines(path)[:per_file]]
    click.echo(f"cold start: {json.dumps(cold_start(model, lines[0], repeats))}")
    with tempfile.TemporaryDirectory() as work:
        click.echo(f"memory, {count} lines: {json.dumps(memory(model, lines, count, Path(work)))}")
    click.echo(f"differing of {len(lines)}: {json.dumps(differing(model, lines))}")


if __name__ == "__main__":
    main()
