"""How fast mt translates beside CTranslate2 with the same weights, in how much memory, how well.

In each turn every system runs once, in a process of its own, one after the other, so that what
others do to the machine falls on all; ratios are taken within a turn. Usage:

    python benchmarks/decode.py WORK --tiny MODEL --test multi30k
    python benchmarks/decode.py WORK --base

MODEL is a model folder of mt, the folder of --test holds a test set as aligned text, WORK takes
what is made on the way. CTranslate2 gets its models from `mt export`; mt by CTranslate2,
in a program and as a command, keeps its own in MODEL. A precision that a system does not offer is
shown as missing.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import click
import torch
from base_model import make_base
from decode_systems import (
    COMMAND,
    COMMANDS,
    ENGINE,
    ENGINE_COMMAND,
    OWN,
    PEER,
    PRECISIONS,
    SYSTEMS,
    Case,
    Result,
    System,
    export,
    keep,
    offered,
    run,
)
from decode_tables import show_latency, show_speed, summary_of
from time_to_quality import find

from mt.evaluation import metrics
from mt.evaluation.scores import Score
from mt.formats.text import read_text_lines

_BASE_SENTENCES, _BASE_TOKENS = 128, 25
_FORCED_BEAM, _BASE_BATCH = 4, 64
_TINY_BATCH = 128  # sentences of a batch of CTranslate2, its fastest here


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """What is measured."""

    work: Path
    systems: tuple[str, ...]
    precisions: tuple[str, ...]
    beams: tuple[int, ...]
    repeats: int
    times: int
    """How often the test set stands in the text."""
    cap: int
    single: int
    batch_size: int
    """Sentences of a batch of mt, for the tiny model."""
    threads: int


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def tiny_cases(plan: Plan, model: Path, sources: Sequence[str]) -> list[Case]:
    """The test set several times over, all together and one by one."""
    name = model.resolve().name
    bulk, once = plan.work / "test.source", plan.work / "test-once.source"
    write_lines(bulk, [*sources] * plan.times)
    write_lines(once, sources)
    common = {"model": model, "work": plan.work, "max_length": plan.cap}
    sizes = dict.fromkeys((OWN, COMMAND), plan.batch_size)
    sizes |= dict.fromkeys((ENGINE, ENGINE_COMMAND, PEER), _TINY_BATCH)
    cases = [
        Case(
            name=f"{name} beam {beam}",
            source=bulk,
            num_lines=len(sources) * plan.times,
            beam=beam,
            batch_sizes=sizes,
            threads=plan.threads,
            **common,  # type: ignore[arg-type]
        )
        for beam in plan.beams
    ]
    return cases + [
        Case(
            name=f"{name} beam {beam} one by one",
            source=once,
            num_lines=min(plan.single, len(sources)),
            beam=beam,
            batch_sizes=dict.fromkeys(SYSTEMS, 1),
            threads=1,
            single=plan.single,
            **common,  # type: ignore[arg-type]
        )
        for beam in plan.beams
        if plan.single
    ]


def base_case(plan: Plan) -> Case:
    """Random weights in the shape of base; every hypothesis runs to the bound."""
    model, text = plan.work / "base", plan.work / "base.source"
    if not model.exists():
        make_base(model, text, sentences=_BASE_SENTENCES)
    return Case(
        name=f"base beam {_FORCED_BEAM}",
        model=model,
        work=plan.work,
        source=text,
        num_lines=_BASE_SENTENCES,
        beam=_FORCED_BEAM,
        max_length=_BASE_TOKENS,
        is_forced=True,
        batch_sizes=dict.fromkeys(SYSTEMS, _BASE_BATCH),
        threads=plan.threads,
    )


def measure(case: Case, plan: Plan) -> tuple[list[Result], list[tuple[System, str]]]:
    """All turns of a case, and the systems that are missing with the reason."""
    chosen: list[System] = []
    missing: list[tuple[System, str]] = []
    for name in plan.systems:
        if name in COMMANDS and case.single:
            continue
        there, reason = offered(name)
        for precision in plan.precisions:
            system = System(name=name, precision=precision)
            if precision in there:
                chosen.append(system)
            else:
                missing.append((system, reason))
    for system in chosen:
        if system.name == PEER:
            export(case, system.precision)
        elif system.name in (ENGINE, ENGINE_COMMAND):
            keep(case, system.precision)
    results = []
    for turn in range(1, plan.repeats + 1):
        # Neighbours change their order from turn to turn.
        for system in chosen if turn % 2 else reversed(chosen):
            results.append(run(system, case, turn))
            click.echo(
                f"{case.name}, turn {turn}: {system} {results[-1].whole_seconds:.2f} s", err=True
            )
    return results, missing


def scores_of(output: str, reference: Sequence[str]) -> list[Score]:
    """BLEU and chrF of the first translation of each line."""
    hypotheses = read_text_lines(Path(output))[: len(reference)]
    recipe = metrics.Recipe(metrics=("bleu", "chrf"))
    measured = metrics.measure(hypotheses, metrics.metrics_for([reference], recipe))
    return [each.score() for each in measured]


def versions(systems: Sequence[str]) -> dict[str, str]:
    """Of the machine and the programs."""
    found = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "torch": torch.__version__,
    }
    if PEER in systems:
        import ctranslate2

        found["ctranslate2"] = ctranslate2.__version__
    return found


@click.command()
@click.argument("work", type=click.Path(path_type=Path))
@click.option("--tiny", "model", type=click.Path(path_type=Path, exists=True), help="Model folder.")
@click.option("--test", "folder", type=click.Path(path_type=Path, exists=True), help="Test sets.")
@click.option("--base", "with_base", is_flag=True, help="A random model of the shape of base.")
@click.option("--system", "systems", multiple=True, type=click.Choice(SYSTEMS), default=SYSTEMS)
@click.option("--precision", multiple=True, type=click.Choice(PRECISIONS), default=PRECISIONS)
@click.option("--beam", "beams", multiple=True, type=click.IntRange(min=1), default=(5, 1))
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--times", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--cap", type=click.IntRange(min=1), default=60, help="Most tokens of a hypothesis.")
@click.option("--single", type=click.IntRange(min=0), default=200, help="Lines one by one.")
@click.option("--batch-size", type=click.IntRange(min=1), default=64, help="Of mt, tiny model.")
@click.option("--threads", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--test-set", default="test_2016_flickr", show_default=True)
@click.option("--source", default="en", show_default=True)
@click.option("--target", default="de", show_default=True)
def main(
    work: Path,
    model: Path | None,
    folder: Path | None,
    with_base: bool,
    systems: tuple[str, ...],
    precision: tuple[str, ...],
    beams: tuple[int, ...],
    repeats: int,
    times: int,
    cap: int,
    single: int,
    batch_size: int,
    threads: int,
    test_set: str,
    source: str,
    target: str,
) -> None:
    """Measure translation in WORK."""
    if (model is None) != (folder is None):
        raise click.UsageError("--tiny and --test belong together")
    if model is None and not with_base:
        raise click.UsageError("give --tiny MODEL --test FOLDER, or --base, or both")
    work.mkdir(parents=True, exist_ok=True)
    plan = Plan(
        work=work.absolute(),
        systems=systems,
        precisions=precision,
        beams=beams,
        repeats=repeats,
        times=times,
        cap=cap,
        single=single,
        batch_size=batch_size,
        threads=threads,
    )
    cases: list[Case] = []
    reference: list[str] = []
    if model is not None and folder is not None:
        sources = read_text_lines(Path(find(folder, test_set, source)))
        reference = read_text_lines(Path(find(folder, test_set, target)))
        cases += tiny_cases(plan, model.absolute(), sources)
    if with_base:
        cases.append(base_case(plan))
    summaries = []
    everything: list[Result] = []
    for case in cases:
        results, missing = measure(case, plan)
        everything += results
        scored = reference and not case.single and not case.is_forced
        scores = {
            (each.system, each.precision): scores_of(each.output, reference)
            for each in results
            if scored and each.turn == 1
        }
        summaries.append(summary_of(case, results, missing, scores))
    for summary in summaries:
        (show_latency if summary["one_by_one"] else show_speed)(summary)
    record: dict[str, object] = {
        **versions(systems),
        "plan": {**dataclasses.asdict(plan), "work": str(work)},
        "summary": summaries,
        "runs": [dataclasses.asdict(each) for each in everything],
    }
    click.echo(json.dumps(record))


if __name__ == "__main__":
    main()
