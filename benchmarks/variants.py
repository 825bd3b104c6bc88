"""Variants of the settings under equal minutes, over several corpora and seeds.

    python benchmarks/variants.py rates CORPORA WORK
    python benchmarks/variants.py run CORPORA WORK --on multi30k --on yor --minutes 3 --seed 1
    python benchmarks/variants.py score CORPORA WORK --variant default
    python benchmarks/variants.py table WORK

CORPORA holds the corpora of `texts.py`, each as `train`, a validation set and a test set. The
variants are those of `variants.toml`, or of another file by --variants. `rates` measures on a quiet
machine, in turns, how many updates each makes in a second; `run` gives each as many as its rate
makes in --minutes. So a budget of minutes is the same for all, whatever else the machine does
meanwhile, and --jobs run side by side, each on one thread. A run that was interrupted goes on where
it was, one that is done is not made again. Variants are compared on validation sets; `score` is for
the end.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import click
import torch
from texts import TEXTS, cut_text
from time_to_quality import last_event, mt
from updates import Setup, train_until

from mt.corpus.store import TokenStore
from mt.events import BatchDone
from mt.model.device import choose_training_dtype, set_threads
from mt.model_folder.folder import TRAINING, build_model, read_config
from mt.preparation.pipeline import TOKENS
from mt.text.tokenizer_pair import TokenizerPair

RATES, RUNS, SCORES = "rates.jsonl", "runs.jsonl", "scores.jsonl"
_LONGEST_WARMUP = 0.2  # of the updates of a run, as of a budget in minutes
_STARTING = 6.0  # seconds of a round before it is timed: worker processes start meanwhile

Settings = dict[str, list[str]]
"""The settings of variants by their names: arguments of `--set`, or flags as `--preset=tiny`."""
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is trained."""

    text: str
    variant: str
    seed: int
    updates: int

    @property
    def name(self) -> str:
        """That of its folder."""
        words = "".join(c if c.isalnum() else "-" for c in self.variant)
        return f"{self.text}-{words}-{self.updates}-{self.seed}"


def _common(command: _F) -> _F:
    """Add the arguments of commands that train."""
    for option in (
        click.option("--on", "names", type=click.Choice(list(TEXTS)), multiple=True),
        click.option("--variant", "chosen", multiple=True, help="Without it, all."),
        click.option(
            "--variants",
            "file",
            type=click.Path(path_type=Path, exists=True),
            default=Path(__file__).with_suffix(".toml"),
        ),
        click.argument("work", type=click.Path(path_type=Path)),
        click.argument("corpora", type=click.Path(path_type=Path, exists=True)),
    ):
        command = option(command)
    return command


def read_variants(file: Path, chosen: Sequence[str]) -> Settings:
    """The settings of the variants of a file, its `base` before their own."""
    found: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    base = found.get("base", [])
    variants = {
        name: (value["only"] if isinstance(value, dict) else [*base, *value])
        for name, value in found.items()
        if name != "base"
    }
    missing = [name for name in chosen if name not in variants]
    if missing:
        raise click.ClickException(f"{file} has no {missing[0]}, only {', '.join(variants)}")
    return {name: variants[name] for name in chosen or variants}


def _records(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _add(path: Path, record: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(record)}\n")
    click.echo(json.dumps(record))


def _rate(work: Path, text: str, variant: str) -> float:
    """Updates a second: the median over the rounds of `rates` on this text.

    Where the variant was timed on another text alone, the rates of the first one bridge the two.
    """
    by_key: dict[tuple[str, str], list[float]] = {}
    for each in _records(work / RATES):
        key = (each["text"], each["variant"])
        by_key.setdefault(key, []).append(each["updates_per_second"])
    medians = {key: statistics.median(values) for key, values in by_key.items()}
    if (text, variant) in medians:
        return medians[text, variant]
    for other, known in medians:
        for bridge in {name for _, name in medians}:
            pair = ((text, bridge), (other, bridge))
            if known == variant and all(key in medians for key in pair):
                return medians[other, variant] * medians[pair[0]] / medians[pair[1]]
    raise click.ClickException(f"{work / RATES} has no {variant} on {text}: measure its rate first")


def _text_flags(work: Path, name: str) -> list[str]:
    """The corpus, the validation set and the test set of a text as arguments of `mt train`."""
    text = TEXTS[name]
    folder = work / "texts" / name
    files = {
        part: [str(folder / f"{part}.{side}") for side in (text.source, text.target)]
        for part in ("train", "dev", "test")
    }
    against = [word for path in files["test"] for word in ("--against", path)]
    return [*files["train"], *(w for path in files["dev"] for w in ("--dev", path)), *against]


def _as_flags(settings: Iterable[str]) -> list[str]:
    """Settings as arguments of `mt train`."""
    return [
        word for each in settings for word in ([each] if each.startswith("--") else ["--set", each])
    ]


@click.group()
def main() -> None:
    """Compare settings."""


@main.command()
@_common
@click.option("--rounds", default=5, show_default=True, help="Of all variants in random order.")
@click.option("--seconds", default=8.0, show_default=True, help="Timed, of a round.")
@click.option("--threads", default=2, show_default=True)
def rates(
    corpora: Path,
    work: Path,
    file: Path,
    chosen: tuple[str, ...],
    names: tuple[str, ...],
    rounds: int,
    seconds: float,
    threads: int,
) -> None:
    """Measure updates and target tokens a second, all variants in turns."""
    variants = read_variants(file, chosen)
    set_threads(threads)
    for name in names or ("multi30k",):
        cut_text(corpora, name, work / "texts", dev_lines=400)
        for turn in range(1, rounds + 1):
            order = list(variants)
            random.Random(turn).shuffle(order)
            for variant in order:
                updates, tokens = _timed(work, name, variants[variant], seconds)
                record = {"text": name, "variant": variant, "round": turn, "threads": threads}
                rate = {"updates_per_second": updates, "tokens_per_second": tokens}
                _add(work / RATES, {**record, **rate})


def _timed(work: Path, name: str, settings: Sequence[str], seconds: float) -> tuple[float, float]:
    """Updates and target tokens a second, after what it takes to start."""
    key = "-".join("".join(c if c.isalnum() else "-" for c in each) for each in sorted(settings))
    prepared = work / "prepared" / f"{name}-{key}"[:200]
    if not prepared.exists():
        prepared.parent.mkdir(parents=True, exist_ok=True)
        quick = ["search.beam=1", "search.max_length=1", *settings]
        flags = ("-o", str(prepared), "--updates", "1", *_as_flags(quick))
        mt("train", *_text_flags(work, name), *flags)
    config = read_config(prepared)
    tokenizers = TokenizerPair.load(prepared, joint=config.tokenizer.joint)
    device = torch.device("cpu")
    setup = Setup(
        config=config,
        vocabulary=tokenizers.target.vocab_size,
        store=TokenStore(prepared / TRAINING / TOKENS),
        device=device,
        dtype=choose_training_dtype("auto", device),
    )
    began = time.perf_counter()
    moments: list[float] = []
    tokens: list[int] = []

    def is_enough(event: BatchDone) -> bool:
        now = time.perf_counter()
        if now - began >= _STARTING:
            moments.append(now)
            tokens.append(event.num_target_tokens)
        return bool(moments) and now - moments[0] >= seconds

    train_until(setup, is_enough, make_model=lambda: build_model(config, tokenizers))
    passed = moments[-1] - moments[0]
    return (len(moments) - 1) / passed, sum(tokens[1:]) / passed


@main.command()
@_common
@click.option("--minutes", type=float, help="Of training at the rate of each variant.")
@click.option("--updates", type=int, help="In place of minutes: the same for all.")
@click.option("--seed", "seeds", type=int, multiple=True, default=(1,), show_default=True)
@click.option("--jobs", default=2, show_default=True, help="Runs side by side, of a thread each.")
@click.option("--dev-lines", default=400, show_default=True, help="At most, every Nth.")
def run(
    corpora: Path,
    work: Path,
    file: Path,
    chosen: tuple[str, ...],
    names: tuple[str, ...],
    minutes: float | None,
    updates: int | None,
    seeds: tuple[int, ...],
    jobs: int,
    dev_lines: int,
) -> None:
    """Train each variant on each text with each seed, and validate it once, at the end."""
    if (minutes is None) == (updates is None):
        raise click.UsageError("give --minutes or --updates")
    variants = read_variants(file, chosen)
    wanted = []
    for seed in seeds:
        for variant in variants:
            for name in names or ("multi30k",):
                cut_text(corpora, name, work / "texts", dev_lines=dev_lines)
                num = updates or round(60 * (minutes or 0.0) * _rate(work, name, variant))
                wanted.append(Run(text=name, variant=variant, seed=seed, updates=num))
    done = {(each["name"]) for each in _records(work / RUNS)}
    lock = Lock()

    def make(each: Run) -> None:
        record = _train(work, each, variants[each.variant])
        with lock:
            _add(work / RUNS, record)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(make, (each for each in wanted if each.name not in done)))


def _train(work: Path, run: Run, settings: Iterable[str]) -> dict[str, Any]:
    """Train by `mt train`, or go on where it was interrupted; gives what is kept of the run."""
    model = work / "models" / run.name
    model.parent.mkdir(parents=True, exist_ok=True)
    warmup = max(round(_LONGEST_WARMUP * run.updates), 1)
    sets = [*settings, f"training.validate_every={run.updates}"]
    if not any(each.startswith("training.warmup_updates") for each in sets):
        sets.append(f"training.warmup_updates={min(600, warmup)}")
    command = [sys.executable, "-m", "mt", "train", "--threads", "1"]
    if any((model / TRAINING).glob("checkpoint-*")):
        command += ["--resume", str(model)]
    else:
        command += [*_text_flags(work, run.text), "-o", str(model), "--seed", str(run.seed)]
        command += ["--updates", str(run.updates), *_as_flags(sets)]
    with Path(f"{model}.log").open("a", encoding="utf-8") as log:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, check=True, stdout=log, stderr=log, env=environment)
    validated, started = last_event(model, "Validated"), last_event(model, "TrainingStarted")
    return {
        "name": run.name,
        "text": run.text,
        "variant": run.variant,
        "seed": run.seed,
        "updates": run.updates,
        "parameters": started["num_parameters"],
        "dev": validated["scores"],
    }


@main.command()
@_common
def score(
    corpora: Path, work: Path, file: Path, chosen: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """Score the test sets by the models of the variants: once, when all is chosen."""
    del corpora
    variants = read_variants(file, chosen)
    done = {each["name"] for each in _records(work / SCORES)}
    for run in _records(work / RUNS):
        is_meant = run["variant"] in variants and run["text"] in (names or TEXTS)
        if run["name"] in done or not is_meant:
            continue
        text, folder = TEXTS[run["text"]], work / "texts" / run["text"]
        test = [str(folder / f"test.{side}") for side in (text.source, text.target)]
        found = json.loads(mt("eval", "-m", str(work / "models" / run["name"]), *test, "--json"))
        scores = {each["name"]: each["score"] for each in found["scores"]}
        signature = found["scores"][0]["signature"]
        _add(work / SCORES, {**run, "test": scores, "signature": signature})


@main.command()
@click.argument("work", type=click.Path(path_type=Path, exists=True))
def table(work: Path) -> None:
    """Print all runs in Markdown: for each text and budget the mean over seeds, and the spread."""
    tested = {each["name"]: each["test"] for each in _records(work / SCORES)}
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for run in _records(work / RUNS):
        scores = {**run["dev"], **{f"test {k}": v for k, v in tested.get(run["name"], {}).items()}}
        groups.setdefault((run["text"], run["variant"], run["updates"]), []).append(scores)
    columns = ("loss", "BLEU", "chrF2", "test BLEU", "test chrF2")
    click.echo(f"| text | variant | updates | seeds | {' | '.join(columns)} |")
    click.echo(f"|---|---|---:|---:|{'---:|' * len(columns)}")
    order = sorted(groups, key=lambda key: (key[0], _mean(groups[key], "loss")))
    for key in order:
        runs = groups[key]
        cells = [_cell(runs, column) for column in columns]
        click.echo(f"| {key[0]} | {key[1]} | {key[2]} | {len(runs)} | {' | '.join(cells)} |")


def _mean(runs: Sequence[dict[str, Any]], column: str) -> float:
    mean: float = statistics.mean(run[column] for run in runs)
    return mean


def _cell(runs: Sequence[dict[str, Any]], column: str) -> str:
    """The mean and half the range, where all runs have it."""
    if not all(column in run for run in runs):
        return ""
    digits = 3 if column == "loss" else 1
    values = [run[column] for run in runs]
    mean = f"{statistics.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ± {(max(values) - min(values)) / 2:.{digits}f}"


if __name__ == "__main__":
    main()
