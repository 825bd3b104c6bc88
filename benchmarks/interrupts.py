"""Interrupt `mt` at random moments, go on, and see whether anything was lost.

Each run is ended by SIGINT, SIGTERM or SIGKILL while it prepares, trains, validates, saves or
translates. Then it is resumed, or given again where nothing was saved yet. What must hold: it ends
in time, with the right status; no saved state and no weights are gone; at most a minute of training
is lost; the second run succeeds, and leaves bit for bit what a run without interruption leaves,
with no record twice.

    python benchmarks/interrupts.py --runs 50 --seed 1
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

STARTER = Path(__file__).parents[1] / "data" / "starter"
STAGES = ("preparing", "training", "validating", "saving", "translating")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
UPDATES, INTERVAL = 120, 30
PLAN = (
    *("--vocab-size", "400", "--device", "cpu", "--precision", "float32", "--threads", "1"),
    *("--set", "model.d_model=32", "--set", "model.d_inner=32", "--set", "model.heads=2"),
    *("--set", "model.encoder_layers=1", "--set", "model.decoder_layers=1"),
    *("--set", "search.max_length=12", "--set", f"training.validate_every={INTERVAL}"),
    *("--updates", str(UPDATES)),
)
MOST_LOST = 60.0  # seconds of training
MOST_WAIT = 60.0  # seconds from a signal to the end of the process


@dataclass
class Outcome:
    """What became of one run."""

    stage: str
    signal: str
    status: int | None = None
    seconds: float = 0.0
    """From the signal to the end of the process."""
    lost: float = 0.0
    """Seconds of training that no saved state had."""
    faults: list[str] = field(default_factory=list)


def mt(*arguments: object) -> list[str]:
    """A command line of this very `mt`."""
    return [sys.executable, "-m", "mt", *map(str, arguments)]


def checkpoints(folder: Path) -> list[int]:
    """The updates of the saved states."""
    found = [path.name.rpartition("-")[2] for path in folder.glob("training/checkpoint-*")]
    return sorted(map(int, found))


def records(folder: Path) -> list[dict[str, Any]]:
    """The records of a run, as far as they are whole."""
    found = []
    metrics = folder / "metrics.jsonl"
    for line in metrics.read_text("utf-8").split("\n") if metrics.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


class Bench:
    """The corpus, the commands, and what they leave without interruption."""

    def __init__(self, work: Path, draw: random.Random) -> None:
        self.work = work
        self.draw = draw
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.corpus = [str(self._head(f"train.{side}", 2000)) for side in ("de", "en")]
        for side in ("de", "en"):
            self.corpus += ["--dev", str(self._head(f"dev.{side}", 60))]
        self.lines = self._head("train.de", 4000, name="lines.de")
        self.reference = work / "reference"
        subprocess.run(
            mt("train", *self.corpus, "-o", self.reference, *PLAN),
            env=self.environment,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        # Those that are prepared already are taken over: the runs are to read the corpus.
        self.reference = self.reference.rename(self._apart("reference") / "model")
        self.translated = self._translate(work / "reference.en")

    def _head(self, file: str, count: int, name: str = "") -> Path:
        lines = (STARTER / file).read_text("utf-8").split("\n")[:count]
        path = self.work / (name or file)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return path

    def _apart(self, name: str) -> Path:
        folder = self.work / f"{name}-apart"
        folder.mkdir()
        return folder

    def _translation(self, output: Path) -> list[str]:
        options = ("--device", "cpu", "--threads", "1", "-o", output)
        return mt("translate", "-m", self.reference, self.lines, *options)

    def _translate(self, output: Path) -> bytes:
        subprocess.run(
            self._translation(output),
            env=self.environment,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return output.read_bytes()

    def run(self, number: int, stage: str, number_of_signal: signal.Signals) -> Outcome:
        """Interrupt a run, go on with it, and look at what is there."""
        outcome = Outcome(stage=stage, signal=number_of_signal.name)
        place = self._apart(str(number))
        if stage == "translating":
            self._interrupt_translation(place / "out.en", number_of_signal, outcome)
        else:
            self._interrupt_training(place / "model", stage, number_of_signal, outcome)
        shutil.rmtree(place)
        return outcome

    def _interrupted(
        self, command: list[str], log: Path, is_time: Callable[[], bool], outcome: Outcome
    ) -> None:
        """Start a command, send the signal when it is time, and wait for the end."""
        with log.open("wb") as file:
            process = subprocess.Popen(command, env=self.environment, stderr=file)
        try:
            while not is_time() and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(getattr(signal, outcome.signal))
            begun = time.monotonic()
            try:
                outcome.status = process.wait(timeout=MOST_WAIT)
            except subprocess.TimeoutExpired:
                outcome.faults.append("hung")
            outcome.seconds = time.monotonic() - begun
        finally:
            process.kill()
            process.wait()
        number = int(getattr(signal, outcome.signal))
        # Done already, told by mt, or ended by the system before mt could say anything.
        if outcome.status not in (0, 128 + number, -number, None):
            outcome.faults.append(f"status {outcome.status}")
        if "Traceback" in log.read_text("utf-8", "replace"):
            outcome.faults.append("traceback")

    def _interrupt_training(
        self, folder: Path, stage: str, number: signal.Signals, outcome: Outcome
    ) -> None:
        command = mt("train", *self.corpus, "-o", folder, *PLAN)
        log = folder.with_name("log")
        self._interrupted(command, log, self._moment(folder, stage), outcome)
        saved = checkpoints(folder)
        if saved:
            outcome.lost = self._lost(folder, saved[-1])
            if outcome.lost > MOST_LOST:
                outcome.faults.append(f"{outcome.lost:.0f} s lost")
            command = mt("train", "--resume", folder, "--updates", UPDATES)
            command += ["--device", "cpu", "--precision", "float32", "--threads", "1"]
        elif self._seen:
            outcome.faults.append("saved state deleted")
        if outcome.status == 0 and saved != [UPDATES]:
            outcome.faults.append("status 0 of a run that is not done")
        self._go_on(command, outcome)
        self._compare(folder, outcome)

    def _moment(self, folder: Path, stage: str) -> Callable[[], bool]:
        """Says whether the stage is reached, and a random time in it is over."""
        draw = self.draw
        after = draw.uniform(0.0, {"preparing": 1.5, "training": 1.5}.get(stage, 0.1))
        wanted = draw.randrange(INTERVAL, UPDATES + 1, INTERVAL)
        since: list[float] = []
        self._seen = False

        def is_reached() -> bool:
            saved = checkpoints(folder)
            self._seen = self._seen or bool(saved)
            if stage == "preparing":
                return folder.exists()
            if stage == "training":
                return bool(saved)
            if stage == "saving":
                return bool(saved) and any(folder.glob("training/.checkpoint-*"))
            return bool(saved) and saved[-1] >= wanted

        def is_time() -> bool:
            if not since and is_reached():
                since.append(time.monotonic())
            return bool(since) and time.monotonic() - since[0] >= after

        return is_time

    def _lost(self, folder: Path, update: int) -> float:
        """Seconds of training between the last saved state and the last record."""
        path = folder / "training" / f"checkpoint-{update}" / "progress.json"
        saved = float(json.loads(path.read_text("utf-8"))["progress"]["seconds"])
        made = [record["seconds"] for record in records(folder) if "seconds" in record]
        return max(0.0, max(made, default=saved) - saved)

    def _go_on(self, command: list[str], outcome: Outcome) -> None:
        try:
            done = subprocess.run(
                command,
                env=self.environment,
                capture_output=True,
                timeout=10 * MOST_WAIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            outcome.faults.append("second run hung")
            return
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
            outcome.faults.append(f"second run: {said}")

    def _compare(self, folder: Path, outcome: Outcome) -> None:
        """Demand the weights and the records of the run without interruption."""
        weights = folder / "model.safetensors"
        if not weights.exists():
            outcome.faults.append("no weights")
        elif weights.read_bytes() != (self.reference / "model.safetensors").read_bytes():
            outcome.faults.append("other weights")
        for kind in ("Validated", "BatchDone"):
            mine, its = (
                [record["update"] for record in records(each) if record["event"] == kind]
                for each in (folder, self.reference)
            )
            if mine != its:
                outcome.faults.append(f"{kind} of {mine}")
        if hidden := [path.name for path in folder.rglob(".*")]:
            outcome.faults.append(f"left behind: {hidden}")

    def _interrupt_translation(
        self, output: Path, number: signal.Signals, outcome: Outcome
    ) -> None:
        after = self.draw.uniform(1.0, 8.0)
        begun = time.monotonic()
        command = self._translation(output)
        log = output.with_name("log")
        self._interrupted(command, log, lambda: time.monotonic() - begun > after, outcome)
        if output.exists() and not self.translated.startswith(output.read_bytes()):
            outcome.faults.append("other lines")
        left = [path.name for path in output.parent.glob(".*")]
        if left and number != signal.SIGKILL:
            outcome.faults.append(f"left behind: {left}")
        self._go_on(command, outcome)
        if not output.exists() or output.read_bytes() != self.translated:
            outcome.faults.append("other translations")


@click.command()
@click.option("--runs", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(runs: int, seed: int) -> None:
    """Interrupt RUNS runs of `mt`, go on with each, and report what was lost."""
    draw = random.Random(seed)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="mt-interrupts-") as work:
        bench = Bench(Path(work), draw)
        pairs = [(stage, number) for stage in STAGES for number in SIGNALS]
        for number in range(runs):
            if not number % len(pairs):
                draw.shuffle(pairs)
            outcome = bench.run(number, *pairs[number % len(pairs)])
            outcomes.append(outcome)
            told = "; ".join(outcome.faults) or "good"
            click.echo(
                f"{number + 1:3} {outcome.stage:11} {outcome.signal:7} status {outcome.status!s:4} "
                f"after {outcome.seconds:4.1f} s, lost {outcome.lost:4.1f} s: {told}"
            )
    bad = [outcome for outcome in outcomes if outcome.faults]
    report = {
        "runs": runs,
        "seed": seed,
        "faults": len(bad),
        "most_seconds_lost": round(max(outcome.lost for outcome in outcomes), 1),
        "most_seconds_to_end": round(max(outcome.seconds for outcome in outcomes), 1),
        "statuses": dict(Counter(f"{o.signal} {o.status}" for o in outcomes)),
    }
    click.echo(json.dumps(report))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
