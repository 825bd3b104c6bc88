"""BLEU and chrF on a test set after so many minutes of `mt train` with its defaults.

One run is trained in legs: to the first number of minutes, scored, resumed to the next, and so on
(a resumed run is the run itself). Usage:

    python benchmarks/time_to_quality.py FOLDER -o checkpoints/bench --minutes 15 --minutes 30
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import click


def mt(*arguments: str) -> str:
    """Run `mt` and give its standard output; its talk goes to the terminal."""
    command = [sys.executable, "-m", "mt", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def find(folder: Path, stem: str, language: str) -> str:
    """The file of a language, compressed or not."""
    for suffix in ("", ".gz", ".xz", ".zst"):
        path = folder / f"{stem}.{language}{suffix}"
        if path.exists():
            return str(path)
    raise click.ClickException(f"{folder} has no {stem}.{language}")


def last_event(model: Path, kind: str) -> dict[str, float]:
    """The last record of a kind in the metrics of a model."""
    lines = (model / "metrics.jsonl").read_text("utf-8").split("\n")
    records = [json.loads(line) for line in lines if line]
    found: dict[str, float] = [record for record in records if record["event"] == kind][-1]
    return found


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--minutes", type=float, multiple=True, default=(15.0, 30.0, 45.0))
@click.option("--source", default="en", show_default=True)
@click.option("--target", default="de", show_default=True)
@click.option("--test", "test_set", default="test_2016_flickr", show_default=True)
@click.option("--train-flag", multiple=True, help="One more argument of mt train.")
def main(
    folder: Path,
    output: Path,
    minutes: tuple[float, ...],
    source: str,
    target: str,
    test_set: str,
    train_flag: tuple[str, ...],
) -> None:
    """Train on FOLDER with the defaults of mt and score the best weights after each leg."""
    dev = [find(folder, "val", language) for language in (source, target)]
    corpus = [find(folder, "train", language) for language in (source, target)]
    test = [find(folder, test_set, language) for language in (source, target)]
    rows = []
    for leg, budget in enumerate(minutes):
        arguments = (
            [*corpus, "--dev", dev[0], "--dev", dev[1], "-o", str(output), *train_flag]
            if leg == 0
            else ["--resume", str(output)]
        )
        mt("train", *arguments, "--minutes", f"{budget:g}")
        scores = json.loads(mt("eval", "-m", str(output), *test, "--json"))["scores"]
        ended = last_event(output, "TrainingEnded")
        rows.append(
            {
                "minutes": budget,
                "updates": ended["update"],
                "tokens_per_second": round(ended["tokens_per_second"]),
                **{score["name"]: round(score["score"], 2) for score in scores},
                "signature": scores[0]["signature"],
            }
        )
        click.echo(f"{budget:g} minutes: {rows[-1]}", err=True)
    click.echo("| minutes | updates | target tokens/s | BLEU | chrF2 |\n|---|---|---|---|---|")
    for row in rows:
        cells = ("minutes", "updates", "tokens_per_second", "BLEU", "chrF2")
        click.echo("| " + " | ".join(str(row[cell]) for cell in cells) + " |")
    parameters = last_event(output, "TrainingStarted")["num_parameters"]
    click.echo(
        json.dumps(
            {
                "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
                "parameters": parameters,
                "rows": rows,
            }
        )
    )


if __name__ == "__main__":
    main()
