"""How long `--minutes` really are, on an idle machine and beside busy processes.

Trains on 5,000 pairs of the starter corpus with 1,500 long validation lines, each of several
sentences, as often as there are `--busy`, and tells the minutes from the first update to the end of
the program, the updates, and the score of the model that is left.

    python benchmarks/minutes.py --minutes 3 --busy 0 --busy 4
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from busy import busy

STARTER = Path(__file__).parents[1] / "data" / "starter"
NUM_PAIRS, NUM_DEV = 5000, 1500
SENTENCES = 6  # in a validation line: about 50 words


def write_corpus(folder: Path) -> list[str]:
    """Write the corpus; gives the arguments of `mt train` that name it."""
    arguments = []
    dev = []
    for side in ("de", "en"):
        lines = (STARTER / f"train.{side}").read_text("utf-8").split("\n")
        train = folder / f"train.{side}"
        train.write_text("".join(f"{line}\n" for line in lines[:NUM_PAIRS]), "utf-8")
        arguments.append(str(train))
        rest = lines[NUM_PAIRS : NUM_PAIRS + NUM_DEV + SENTENCES]
        long = [" ".join(rest[i : i + SENTENCES]) for i in range(NUM_DEV)]
        path = folder / f"dev.{side}"
        path.write_text("".join(f"{line}\n" for line in long), "utf-8")
        dev += ["--dev", str(path)]
    return [*arguments, *dev]


def measure(corpus: list[str], folder: Path, minutes: float) -> dict[str, Any]:
    """Train, and measure by the clock of this process."""
    command = [sys.executable, "-m", "mt", "train", *corpus, "-o", str(folder)]
    with folder.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen([*command, "--minutes", f"{minutes:g}"], stderr=log)
    try:
        while not list(folder.glob("training/checkpoint-*")) and process.poll() is None:
            time.sleep(0.02)
        begun = time.monotonic()  # the first state is saved, the first update begins
        status = process.wait(timeout=60 * (10 * minutes + 10))
        taken = (time.monotonic() - begun) / 60
    finally:
        process.kill()
        process.wait()
    if status:
        raise click.ClickException(folder.with_suffix(".log").read_text("utf-8")[-2000:])
    lines = (folder / "metrics.jsonl").read_text("utf-8").split("\n")
    records = [json.loads(line) for line in lines if line]
    (ended,) = [record for record in records if record["event"] == "TrainingEnded"]
    validated = [record for record in records if record["event"] == "Validated"]
    files = [str(STARTER / "test.de"), str(STARTER / "test.en")]
    scored = subprocess.run(
        [sys.executable, "-m", "mt", "eval", "-m", str(folder), *files, "--json"],
        capture_output=True,
        check=True,
    )
    (bleu,) = [each["score"] for each in json.loads(scored.stdout)["scores"][:1]]
    return {
        "minutes": round(taken, 3),
        "counted_minutes": round(ended["seconds"] / 60, 3),
        "updates": ended["update"],
        "validations": [
            [each["update"], each["num_pairs"] or NUM_DEV, round(each["validation_seconds"], 1)]
            for each in validated
        ],
        "dev": ended["best"],
        "test_bleu": round(bleu, 2),
    }


@click.command()
@click.option("--minutes", type=float, default=3.0, show_default=True)
@click.option("--busy", "counts", type=int, multiple=True, default=(0, 4), show_default=True)
def main(minutes: float, counts: tuple[int, ...]) -> None:
    """Train by the clock beside so many busy processes each time."""
    results = {}
    with tempfile.TemporaryDirectory(prefix="mt-minutes-") as work:
        corpus = write_corpus(Path(work))
        click.echo(f"{'busy':>4} {'minutes':>8} {'updates':>8} {'test BLEU':>10}  validations")
        for count in counts:
            with busy(count):
                found = measure(corpus, Path(work) / f"busy-{count}", minutes)
            told = ", ".join(f"{n} pairs of {u:,} in {s} s" for u, n, s in found["validations"])
            click.echo(
                f"{count:4} {found['minutes']:8.2f} {found['updates']:8,} "
                f"{found['test_bleu']:10.2f}  {told}"
            )
            results[str(count)] = found
    click.echo(json.dumps({"asked": minutes, "busy": results}))


if __name__ == "__main__":
    main()
