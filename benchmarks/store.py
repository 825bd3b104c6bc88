"""How long `mt train` takes to begin training, and how much memory, by the size of the corpus.

Synthetic pairs are written to a temporary folder; each size is trained for one update twice. The
second run takes over what the first prepared. Times are from the start of the process to that of
training (before its first update). Memory is the peak of resident memory of the process and its
helpers, which counts the touched pages of memory-mapped files too. Usage:

    python benchmarks/store.py --pairs 200000 --pairs 2000000
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

_MODEL = ("--preset", "tiny", "--vocab-size", "8000", "--updates", "1")
_WORDS = 30_000
_SECONDS_BETWEEN_LOOKS = 0.02


def write_corpus(folder: Path, num_pairs: int) -> int:
    """Write pairs of 5 to 20 words whose frequencies follow Zipf's law; returns their bytes."""
    draw = random.Random(1)
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(_WORDS)]
    weights = [1 / (rank + 10) for rank in range(_WORDS)]
    with (folder / "c.de").open("w") as source, (folder / "c.en").open("w") as target:
        left = num_pairs
        while left:
            pool = draw.choices(words, weights, k=1_000_000)
            place = 0
            while left and place < len(pool) - 40:
                size = draw.randint(5, 20)
                text = pool[place : place + size]
                source.write(" ".join(text) + "\n")
                target.write(" ".join(word[::-1] for word in text) + "\n")
                place += size
                left -= 1
    return sum((folder / f"c.{language}").stat().st_size for language in ("de", "en"))


def resident(pid: int) -> int:
    """Bytes of resident memory of a process and its children."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize() + sum(resident(int(child)) for child in children)


def time_to_training(folder: Path, output: Path) -> tuple[float, float]:
    """Seconds until training begins, and peak MB of the whole run."""
    corpus = [str(folder / "c.de"), str(folder / "c.en")]
    command = [sys.executable, "-m", "mt", "train", *corpus, "-o", str(output), *_MODEL]
    begun = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    metrics = output / "metrics.jsonl"
    peak, started = 0, 0.0
    while process.poll() is None:
        peak = max(peak, resident(process.pid))
        if not started and metrics.exists():
            started = time.monotonic() - begun
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    if process.returncode:
        raise click.ClickException(f"{' '.join(command)} ended with {process.returncode}")
    return started, peak / 1e6


@click.command()
@click.option("--pairs", type=int, multiple=True, default=(200_000, 2_000_000))
def main(pairs: tuple[int, ...]) -> None:
    """Train for one update on so many synthetic pairs, twice each."""
    rows = []
    for num_pairs in pairs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            size = write_corpus(folder, num_pairs)
            for run in ("first", "second"):
                prepared, peak = time_to_training(folder, folder / "models" / run)
                store = folder / "models" / run / "training" / "tokens.arrow"
                rows.append(
                    {
                        "pairs": num_pairs,
                        "text_mb": round(size / 1e6),
                        "run": run,
                        "seconds_to_training": round(prepared, 1),
                        "peak_mb": round(peak),
                        "store_mb": round(store.stat().st_size / 1e6),
                    }
                )
                click.echo(str(rows[-1]), err=True)
    click.echo("| pairs | text MB | run | seconds to training | peak MB | store MB |")
    click.echo("|---|---|---|---|---|---|")
    for row in rows:
        click.echo("| " + " | ".join(map(str, row.values())) + " |")
    click.echo(json.dumps({"cores": os.cpu_count(), "rows": rows}))


if __name__ == "__main__":
    main()
