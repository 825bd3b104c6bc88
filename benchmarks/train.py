"""Training speed and peak memory of `mt train` and of peers on the same work, in turns.

The work is one small Transformer (4 + 4 layers, width 128, inner width 256, 4 heads, pre-norm,
dropout 0.3, label smoothing 0.1, embeddings tied) on one corpus in 10,000 pieces of a joint
byte-pair encoding, in batches of about 4,096 padded tokens. Usage:

    python benchmarks/train.py WORK --prepare FOLDER
    python benchmarks/train.py WORK --programs VENVS --repeats 3 --updates 200
    python benchmarks/train.py WORK --compare-losses

FOLDER holds `train` and `val` as aligned text. VENVS holds the virtual environments that the
files in WORK/peers name. A rate is real target tokens (end symbols counted, padding not) over
seconds between the first line of the log after the warm-up and the last: starting, reading the
corpus, validating and saving are not in it. Memory is that of the whole run.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from peer_data import prepare, read_counts
from systems import INTERVAL, Own, Peer, Plan, Point, System, epoch_tokens, metrics
from watched import Line, Watched, run_watched

_MANY = 1_000_000  # updates that a run with a budget in seconds never makes
_TOLERANCE = 0.02  # of the target tokens of an epoch between systems


@dataclass(frozen=True, kw_only=True)
class Result:
    """One run of one system."""

    system: str
    repeat: int
    tokens_per_second: float
    tokens_per_update: float
    seconds: float
    """The time that was measured."""
    peak_mb: float
    others_cpu: float


def folder_of(system: System, plan: Plan, repeat: int) -> Path:
    """Where a run goes. Runs of `mt` stand side by side, so that they share a prepared corpus."""
    return plan.work / "runs" / f"{system.name.replace(' ', '-')}-{repeat}"


def log_of(run: Path) -> Path:
    """The output of a run, beside its folder."""
    return run.with_name(f"{run.name}.log")


def measured(points: Sequence[Point], warmup: int) -> list[Point]:
    """The points from the end of the warm-up on."""
    return [point for point in points if point.update >= warmup]


def seconds_of(points: Sequence[Point]) -> float:
    """Time from the first of some points to the last."""
    return points[-1].seconds - points[0].seconds if points else 0.0


def watch(system: System, plan: Plan, run: Path, variables: Mapping[str, str]) -> Watched:
    """Run a system in the fresh folder `run`."""
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if isinstance(system, Own):
        given = dict(os.environ)
    threads = {} if plan.threads is None else {"OMP_NUM_THREADS": str(plan.threads)}
    own = system.environment(plan, run)

    def enough(lines: list[Line]) -> bool:
        if plan.seconds is None:
            return False
        return seconds_of(measured(system.points(run, lines), plan.warmup)) >= plan.seconds

    return run_watched(
        system.command(plan, run),
        environment={**given, "PYTHONUNBUFFERED": "1", **threads, **own, **variables},
        log=log_of(run),
        is_enough=enough,
    )


def result_of(
    system: System, repeat: int, watched: Watched, points: Sequence[Point], log: Path
) -> Result:
    """The rate between the first and the last of some points."""
    if len(points) < 2:
        raise click.ClickException(f"{system.name} gave no two points after the warm-up: see {log}")
    tokens = sum(point.tokens for point in points[1:])
    updates = points[-1].update - points[0].update
    return Result(
        system=system.name,
        repeat=repeat,
        tokens_per_second=tokens / seconds_of(points),
        tokens_per_update=tokens / updates,
        seconds=seconds_of(points),
        peak_mb=watched.peak_mb,
        others_cpu=watched.others_cpu,
    )


def summary_of(name: str, results: Sequence[Result], peers: set[str]) -> dict[str, object]:
    """Medians and spread of a system, and its rate over that of the fastest peer of its turn."""
    own = [result for result in results if result.system == name]
    fastest = {
        each.repeat: max(
            (r.tokens_per_second for r in results if r.repeat == each.repeat and r.system in peers),
            default=None,
        )
        for each in own
    }
    rates = [result.tokens_per_second for result in own]
    ratios = [r.tokens_per_second / best for r in own if (best := fastest[r.repeat]) is not None]
    return {
        "system": name,
        "tokens_per_second": round(statistics.median(rates)),
        "least": round(min(rates)),
        "most": round(max(rates)),
        "tokens_per_update": round(statistics.median(r.tokens_per_update for r in own)),
        "peak_mb": round(statistics.median(r.peak_mb for r in own)),
        "ratio_to_fastest_peer": round(statistics.median(ratios), 2) if ratios else None,
        "others_cpu": round(max(r.others_cpu for r in own), 3),
    }


def show(summaries: Sequence[Mapping[str, object]]) -> None:
    click.echo(
        "| system | target tokens/s | least – most | tokens an update | peak MB "
        "| to the fastest peer | CPU taken by others |"
    )
    click.echo("|---|---|---|---|---|---|---|")
    for row in summaries:
        click.echo(
            f"| {row['system']} | {row['tokens_per_second']} | {row['least']} – {row['most']} "
            f"| {row['tokens_per_update']} | {row['peak_mb']} "
            f"| {row['ratio_to_fastest_peer'] or '–'} | {row['others_cpu']:.1%} |"
        )


def compare_epochs(work: Path, own_run: Path) -> dict[str, int]:
    """Say whether an epoch has as many target tokens for `mt` as for the peers."""
    counts = {"peers": read_counts(work)["target_tokens"], "mt": epoch_tokens(own_run)}
    difference = counts["mt"] / counts["peers"] - 1
    text = f"target tokens of an epoch: mt {counts['mt']}, peers {counts['peers']}"
    click.echo(f"{text} ({difference:+.2%})")
    if abs(difference) > _TOLERANCE:
        click.echo("more than 2 % apart: tokens/s are not of the same work", err=True)
    return counts


def compare_losses(plan: Plan, variables: Mapping[str, str]) -> None:
    """Validation loss after equal updates in float32 and bfloat16: same seed, same batches."""
    losses = {}
    for precision in ("float32", "bfloat16"):
        run = plan.work / "runs" / f"mt-loss-{precision}"
        watch(Own(precision=precision), plan, run, variables)
        (last,) = (each for each in metrics(run) if each["event"] == "Validated")
        losses[precision] = last["scores"]["loss"]
    difference = losses["bfloat16"] - losses["float32"]
    click.echo("| products in | validation loss, nats a token |\n|---|---|")
    for precision, loss in losses.items():
        click.echo(f"| {precision} | {loss:.4f} |")
    click.echo(f"| difference | {difference:+.4f} |")
    click.echo(json.dumps({"updates": plan.updates, "loss": losses, "difference": difference}))


@click.command()
@click.argument("work", type=click.Path(path_type=Path))
@click.option("--prepare", "corpus", type=click.Path(path_type=Path, exists=True))
@click.option("--programs", type=click.Path(path_type=Path), help="Else the parent of WORK.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--updates", type=click.IntRange(min=40), help="Of a run; else 200.")
@click.option("--seconds", type=click.FloatRange(min=1), help="Measured seconds of a run instead.")
@click.option("--warmup", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--peer", "only", multiple=True, help="Stem of a file in WORK/peers; else all.")
@click.option("--no-peers", is_flag=True)
@click.option(
    "--precision",
    multiple=True,
    type=click.Choice(["auto", "float32", "bfloat16"]),
    default=("float32", "bfloat16"),
    show_default=True,
    help="Of mt's products; peers compute as their files say.",
)
@click.option("--threads", type=click.IntRange(min=1), help="Of each system; else their choice.")
@click.option("--environment", multiple=True, metavar="NAME=VALUE", help="For all systems alike.")
@click.option("--compare-losses", "losses", is_flag=True, help="float32 and bfloat16 of mt only.")
@click.option("--source", default="en", show_default=True)
@click.option("--target", default="de", show_default=True)
def main(
    work: Path,
    corpus: Path | None,
    programs: Path | None,
    repeats: int,
    updates: int | None,
    seconds: float | None,
    warmup: int,
    only: tuple[str, ...],
    no_peers: bool,
    precision: tuple[str, ...],
    threads: int | None,
    environment: tuple[str, ...],
    losses: bool,
    source: str,
    target: str,
) -> None:
    """Measure training in WORK; with --prepare, fill WORK from a corpus and end."""
    work = work.absolute()
    if corpus is not None:
        click.echo(json.dumps(prepare(corpus, work, source=source, target=target)))
        return
    read_counts(work)
    variables = dict(text.partition("=")[::2] for text in environment)
    plan = Plan(
        work=work,
        programs=(programs or work.parent).absolute(),
        source=source,
        target=target,
        updates=updates or (_MANY if seconds else 1000 if losses else 200),
        seconds=seconds,
        warmup=warmup,
        threads=threads,
    )
    if losses:
        compare_losses(plan, variables)
        return
    found = sorted((work / "peers").glob("*.toml"))
    if missing := set(only) - {path.stem for path in found}:
        raise click.UsageError(f"{work / 'peers'} has no {', '.join(sorted(missing))}")
    peers = [Peer.load(path) for path in found if not no_peers and (not only or path.stem in only)]
    systems: list[System] = [*(Own(precision=name) for name in precision), *peers]
    results = []
    for repeat in range(1, repeats + 1):
        for system in systems:
            run = folder_of(system, plan, repeat)
            watched = watch(system, plan, run, variables)
            points = measured(system.points(run, watched.lines), warmup)
            results.append(result_of(system, repeat, watched, points, log_of(run)))
            click.echo(str(results[-1]), err=True)
    counts = compare_epochs(work, folder_of(systems[0], plan, 1))
    names = {peer.name for peer in peers}
    summaries = [summary_of(system.name, results, names) for system in systems]
    show(summaries)
    record = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "threads": threads,
        "environment": variables,
        "updates": updates,
        "seconds": seconds,
        "warmup": max(warmup, INTERVAL),
        "epoch_tokens": counts,
        "summary": summaries,
        "runs": [dataclasses.asdict(result) for result in results],
    }
    click.echo(json.dumps(record))


if __name__ == "__main__":
    main()
