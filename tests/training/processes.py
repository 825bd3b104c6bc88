"""Training runs of several processes that meet as torchrun makes them."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file

from tests.cases.runs import SMALL, variables
from tests.forked_python import start_python

_WAIT = 120.0  # seconds
MACHINE = ("--threads", "1", "--precision", "float32")
PLAN = (
    *SMALL,
    *MACHINE,
    *("--batch-tokens", "256", "--set", "model.dropout=0.0"),
    *("--set", "training.average_decay=0", "--set", "training.clip_norm=0"),
)


class Started:
    """The ranks of a run as torchrun starts them, on a port that is free."""

    def __init__(
        self,
        size: int,
        log: Path,
        *arguments: str | Path,
        program: Sequence[str] = ("mt", "train"),
        environment: Mapping[str, str] | None = None,
        absent: Collection[int] = (),
    ) -> None:
        """Those of `absent` are awaited by the others, and never start."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        present = [rank for rank in range(size) if rank not in absent]
        self.logs = [log.with_suffix(f".{rank}") for rank in present]
        self.processes = []
        for rank, path in zip(present, self.logs, strict=True):
            place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}
            meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            with path.open("w") as stderr:
                self.processes.append(
                    start_python(
                        ["-m", *program, *map(str, arguments)],
                        environment=variables({**place, **meeting, **(environment or {})}),
                        stderr=stderr.fileno(),
                    )
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *trouble: object) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def wait_for_checkpoint(self, folder: Path) -> None:
        begun = time.monotonic()
        while not list(folder.glob("training/checkpoint-*")):
            assert all(process.poll() is None for process in self.processes), self.said()
            assert time.monotonic() - begun < _WAIT
            time.sleep(0.05)

    def said(self) -> list[str]:
        return [path.read_text("utf-8") for path in self.logs]

    def finish(self, status: int = 0) -> list[str]:
        """Wait for all ranks; gives what each said."""
        for process in self.processes:
            process.wait(timeout=_WAIT)
        statuses = [process.returncode for process in self.processes]
        assert statuses == [status] * len(statuses), self.said()
        return self.said()


def run(size: int, log: Path, *arguments: str | Path, status: int = 0) -> list[str]:
    with Started(size, log, *arguments) as started:
        return started.finish(status)


def records(folder: Path, event: str) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text("utf-8").split("\n")
    return [r for line in lines if line and (r := json.loads(line))["event"] == event]


def state(folder: Path) -> dict[str, torch.Tensor]:
    (checkpoint,) = (folder / "training").glob("checkpoint-*")
    return load_file(checkpoint / "state.safetensors")


def progress(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "training").glob("checkpoint-*/progress.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))["progress"]
    return found
