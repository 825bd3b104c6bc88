"""The systems that benchmarks/decode.py compares: what each offers, and how each is run."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import click
from decode_worker import Job
from watched import run_watched

from mt.cli.commands.translate import command as translate_command

PRECISIONS = ("float32", "bfloat16", "int8")
OWN, COMMAND, PEER = "mt", "mt translate", "CTranslate2"
ENGINE, ENGINE_COMMAND = "mt by CTranslate2", "mt translate --engine ctranslate2"
SYSTEMS = (OWN, COMMAND, ENGINE, ENGINE_COMMAND, PEER)
COMMANDS = {COMMAND: "mt", ENGINE_COMMAND: "ctranslate2"}
"""Whole commands, and their engine."""
_WORKERS = {OWN: "mt", ENGINE: "engine", PEER: "ctranslate2"}


@dataclass(frozen=True, kw_only=True)
class System:
    """A program and the type it computes in."""

    name: str
    precision: str

    def __str__(self) -> str:
        return f"{self.name} {self.precision}"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One piece of work, the same for all systems."""

    name: str
    model: Path
    """mt's model folder; CTranslate2's stand beside WORK's texts under `exported`."""
    work: Path
    source: Path
    """File of lines."""
    num_lines: int
    beam: int
    max_length: int
    is_forced: bool = False
    """Each hypothesis runs to `max_length`."""
    batch_sizes: dict[str, int]
    """Sentences of a batch by system."""
    threads: int
    single: int = 0
    """Lines translated one by one, for the time that each takes; 0: all together."""

    def exported(self, precision: str) -> Path:
        """Folder of the model for CTranslate2."""
        return self.work / f"{self.model.resolve().name}-ctranslate2-{precision}"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one run gave."""

    case: str
    system: str
    precision: str
    turn: int
    seconds: float | None
    """From text to text, by a model that is loaded; None where the whole command alone is seen."""
    tokens: int | None
    """Of all translations, end symbols not counted."""
    load_seconds: float | None
    whole_seconds: float
    """Of the whole process: start, loading, translating."""
    milliseconds: list[float]
    """Of each line, where they are translated one by one."""
    peak_mb: float
    others_cpu: float
    output: str


def offered(name: str) -> tuple[tuple[str, ...], str]:
    """The precisions that a system has here, and why it has no others."""
    if name in (PEER, ENGINE, ENGINE_COMMAND):
        try:
            import ctranslate2
        except ImportError as error:
            raise click.ClickException(
                f"ctranslate2 cannot be loaded ({error}): pip install ctranslate2, or choose "
                "--system mt"
            ) from error
        types = ctranslate2.get_supported_compute_types("cpu")
        if name != PEER:
            types &= {"float32", "int8"}
        return tuple(each for each in PRECISIONS if each in types), "not on this processor"
    (option,) = (each for each in translate_command.params if each.name == "precision")
    assert isinstance(option.type, click.Choice)
    choices = [str(each) for each in option.type.choices]
    return tuple(each for each in PRECISIONS if each in choices), "mt does not offer it"


def keep(case: Case, precision: str) -> None:
    """Let the model folder keep a checked conversion, where it does not."""
    command = [sys.executable, "-m", "mt", "translate", "-m", str(case.model), "/dev/null"]
    options = ["--engine", "ctranslate2", "--precision", precision, "-o", "/dev/null"]
    _run(case.work, [*command, *options], f"keep-{precision}")


def export(case: Case, precision: str) -> None:
    """Make the model for CTranslate2 by `mt export`, anew where the weights are newer."""
    folder = case.exported(precision)
    weights, made = case.model / "model.safetensors", folder / "model.bin"
    if made.exists() and made.stat().st_mtime >= weights.stat().st_mtime:
        return
    if folder.exists():
        raise click.ClickException(f"{folder} is older than {weights}: remove it")
    command = [sys.executable, "-m", "mt", "export", "-m", str(case.model), "-o", str(folder)]
    _run(case.work, [*command, "--precision", precision], "export")


def run(system: System, case: Case, turn: int) -> Result:
    """Run a system once, in a process of its own."""
    stem = f"{case.name}-{system}-{turn}".replace(" ", "-").replace(",", "")
    output = case.work / f"{stem}.txt"
    if system.name in COMMANDS:
        text = [
            *(sys.executable, "-m", "mt", "translate", "-m", str(case.model), str(case.source)),
            *("-o", str(output), "--beam", str(case.beam), "--max-length", str(case.max_length)),
            *("--batch-size", str(case.batch_sizes[system.name]), "--device", "cpu"),
            *("--precision", system.precision, "--threads", str(case.threads)),
            *("--engine", COMMANDS[system.name]),
        ]
    else:
        is_peer = system.name == PEER
        job = Job(
            system=_WORKERS[system.name],
            folder=str(case.exported(system.precision) if is_peer else case.model),
            precision=system.precision,
            beam=case.beam,
            max_length=case.max_length,
            forced_length=case.max_length if case.is_forced else None,
            batch_size=case.batch_sizes[system.name],
            threads=case.threads,
            source=str(case.source),
            output=str(output),
            single=case.single,
        )
        text = [sys.executable, str(Path(__file__).with_name("decode_worker.py")), job.to_json()]
    lines, whole_seconds, peak_mb, others_cpu = _run(case.work, text, stem)
    told: dict[str, object] = {} if system.name in COMMANDS else json.loads(lines[-1])
    return Result(
        case=case.name,
        system=system.name,
        precision=system.precision,
        turn=turn,
        seconds=told.get("seconds"),  # type: ignore[arg-type]
        tokens=told.get("tokens"),  # type: ignore[arg-type]
        load_seconds=told.get("load_seconds"),  # type: ignore[arg-type]
        whole_seconds=whole_seconds,
        milliseconds=told.get("milliseconds", []),  # type: ignore[arg-type]
        peak_mb=peak_mb,
        others_cpu=others_cpu,
        output=str(output),
    )


def _run(work: Path, command: list[str], stem: str) -> tuple[list[str], float, float, float]:
    """Lines of output, seconds, peak memory, and the share of the cores that others took."""
    log = work / f"{stem}.log"
    begun = time.perf_counter()
    watched = run_watched(command, environment=os.environ, log=log, is_enough=lambda _: False)
    seconds = time.perf_counter() - begun
    return (
        [line.text for line in watched.lines],
        round(seconds, 3),
        round(watched.peak_mb, 1),
        round(watched.others_cpu, 4),
    )
