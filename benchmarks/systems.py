"""The systems that benchmarks/train.py compares: how each is run, and how far it was when.

A peer is a TOML file in WORK/peers with

    name          what tables call it
    command       program and arguments
    log_line      a regular expression with the groups `update` (the number of the update) and
                  either `tokens` (real target tokens since the start) or `tokens_per_update` (a
                  mean since the line before); with a group `seconds` (since any moment) that is the
                  time of the line, otherwise the moment at which it came
    environment   variables to set (a table)
    files         texts to write into the folder of the run (a table of name and text)

In `command`, `environment` and `files` these stand for: @work@ the working folder, @programs@ the
folder of the virtual environments, @run@ a fresh folder for this run, @source@ and @target@ the
languages, @updates@ the budget, @interval@ the updates between lines of the log.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import click
from peer_data import PIECES
from watched import Line

from mt.config import CorpusConfig
from mt.corpus.sampler import BatchSampler
from mt.corpus.store import TokenStore
from mt.model_folder.folder import METRICS, TRAINING, read_config

INTERVAL = 20  # updates between lines of a log, as between the records of metrics.jsonl
BATCH_TOKENS = 4096  # padded tokens of a batch


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What all systems are asked for."""

    work: Path
    programs: Path
    """Where the virtual environments of the peers are."""
    source: str
    target: str
    updates: int
    seconds: float | None
    """End a run when so many seconds are measured; None: after its updates."""
    warmup: int
    """Measuring begins with the first point at this update or later."""
    threads: int | None


@dataclass(frozen=True, kw_only=True)
class Point:
    """A moment at which a system said how far it was."""

    update: int
    tokens: float
    """Real target tokens since the point before, end symbols counted."""
    seconds: float
    """Since a moment of the system's own choice."""


class System(Protocol):
    """Something that trains."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def command(self, plan: Plan, run: Path) -> list[str]:
        """The command that trains in the empty folder `run`; may write files there."""
        ...

    def environment(self, plan: Plan, run: Path) -> dict[str, str]:
        """Variables that this system needs."""
        ...

    def points(self, run: Path, lines: list[Line]) -> list[Point]:
        """How far it was when, from its output or from what it left in `run`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another system, as its file describes it."""

    name: str
    arguments: list[str]
    log_line: re.Pattern[str]
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Peer:
        """Read a description."""
        try:
            values = tomllib.loads(path.read_text("utf-8"))
            return cls(
                name=values["name"],
                arguments=values["command"],
                log_line=re.compile(values["log_line"]),
                variables=values.get("environment", {}),
                files=values.get("files", {}),
            )
        except (KeyError, ValueError, re.error) as error:
            raise click.ClickException(f"{path} describes no peer: {error}") from error

    def command(self, plan: Plan, run: Path) -> list[str]:
        """Write the files of the description, and give its command."""
        for name, text in self.files.items():
            (run / name).write_text(_filled(text, plan, run), "utf-8")
        return [_filled(argument, plan, run) for argument in self.arguments]

    def environment(self, plan: Plan, run: Path) -> dict[str, str]:
        """The variables of the description."""
        return {name: _filled(value, plan, run) for name, value in self.variables.items()}

    def points(self, run: Path, lines: list[Line]) -> list[Point]:
        """One for each line of the log that matches."""
        points: list[Point] = []
        update, total = 0, 0.0
        for line in lines:
            found = self.log_line.search(line.text)
            if not found:
                continue
            values = found.groupdict()
            before, update = update, int(values["update"])
            if values.get("tokens") is not None:
                tokens, total = float(values["tokens"]) - total, float(values["tokens"])
            else:
                tokens = float(values["tokens_per_update"]) * (update - before)
            seconds = float(values.get("seconds") or line.seconds)
            points.append(Point(update=update, tokens=tokens, seconds=seconds))
        return points


@dataclass(frozen=True, kw_only=True)
class Own:
    """`mt train` on the same text with its own tokenizer, of as many pieces."""

    precision: str

    @property
    def name(self) -> str:
        """With the type of its products."""
        return f"mt {self.precision}"

    def command(self, plan: Plan, run: Path) -> list[str]:
        """Train the preset `tiny` on all pairs, without a validation before the end."""
        data = plan.work / "data"
        corpus, dev = (
            [str(data / f"{name}.{side}") for side in (plan.source, plan.target)]
            for name in ("train", "val")
        )
        settings = (
            "tokenizer.kind=bpe",
            f"training.validate_every={plan.updates + 1}",
            "search.beam=1",
            "search.max_length=1",
        )
        return [
            *(sys.executable, "-m", "mt", "train", *corpus, "--dev", dev[0], "--dev", dev[1]),
            *("-o", str(run), "--langs", f"{plan.source}:{plan.target}", "--preset", "tiny"),
            *("--vocab-size", str(PIECES), "--batch-tokens", str(BATCH_TOKENS)),
            *("--updates", str(plan.updates), "--patience", "0"),
            *("--device", "cpu", "--precision", self.precision),
            *(part for name in CorpusConfig().drop for part in ("--keep", name)),
            *(part for setting in settings for part in ("--set", setting)),
            *(() if plan.threads is None else ("--threads", str(plan.threads))),
        ]

    def environment(self, plan: Plan, run: Path) -> dict[str, str]:
        """None."""
        return {}

    def points(self, run: Path, lines: list[Line]) -> list[Point]:
        """From metrics.jsonl, which has every 20th update; the batches between are made again."""
        records = [each for each in metrics(run) if each["event"] == "BatchDone"]
        if not records:
            return []
        counts = _tokens_of_updates(run, records[-1]["update"])
        points: list[Point] = []
        update = 0
        for record in records:
            before, update = update, record["update"]
            if counts[update - 1] != record["num_target_tokens"]:
                raise click.ClickException(
                    f"{run}: update {update} had {record['num_target_tokens']} target tokens, "
                    f"but the batch made again has {counts[update - 1]}"
                )
            tokens = sum(counts[before:update])
            points.append(Point(update=update, tokens=tokens, seconds=record["seconds"]))
        return points


def metrics(run: Path) -> list[dict[str, Any]]:
    """The whole records of a run of `mt train`; none where there is no file yet."""
    path = run / METRICS
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def epoch_tokens(run: Path) -> int:
    """Target tokens of an epoch of `mt train`, end symbols counted."""
    store = _store(run)
    return int(store.target_lengths.sum()) + len(store)


def _store(run: Path) -> TokenStore:
    return TokenStore(run / TRAINING / "tokens.arrow")


def _tokens_of_updates(run: Path, num_updates: int) -> list[int]:
    """Target tokens of each of the first updates, from the sampler and the seed of the run."""
    config, store = read_config(run).training, _store(run)
    targets = store.target_lengths + 1
    sampler = BatchSampler(
        store.source_lengths + 1, targets, max_tokens=config.batch_tokens, seed=config.seed
    )
    counts: list[int] = []
    epoch = 0
    while len(counts) < num_updates:
        counts += [int(targets[indices].sum()) for indices in sampler.epoch(epoch)]
        epoch += 1
    return counts[:num_updates]


def _filled(text: str, plan: Plan, run: Path) -> str:
    values = {
        "work": plan.work,
        "programs": plan.programs,
        "run": run,
        "source": plan.source,
        "target": plan.target,
        "updates": plan.updates,
        "interval": INTERVAL,
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text
