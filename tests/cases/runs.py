"""Running `mt` as users do: inside this process where that is enough, as a process where not."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mt.cli.main import main
from tests.forked_python import ROOT, Process, start_python

_TIMEOUT = 120.0  # seconds

SMALL = (
    *("--preset", "tiny-2017"),
    *("--vocab-size", "300", "--device", "cpu", "--precision", "float32"),
    *("--set", "model.d_model=8", "--set", "model.d_inner=8", "--set", "model.heads=2"),
    *("--set", "model.encoder_layers=1", "--set", "model.decoder_layers=1"),
    *("--set", "search.beam=1", "--set", "search.max_length=3"),
)
"""Options for the smallest of models."""

UNTRAINED = ("--updates", "1", *SMALL)
"""Options by which `mt train` is over as soon as the corpus is ready."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a command did."""

    status: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of standard output, which must be whole."""
        assert self.out == b"" or self.out.endswith(b"\n")
        return self.out.decode("utf-8").split("\n")[:-1]

    def check(self, status: int = 0) -> Run:
        """Demand this exit status, and that no one sees a traceback."""
        assert self.status == status, self.err
        assert "Traceback" not in self.err
        return self

    def check_refusal(self, *, status: int = 1) -> str:
        """Demand a refusal in one line on standard error, without results; gives that line."""
        self.check(status)
        assert self.out == b""
        message = self.err.rstrip("\n").split("\n")[-1]
        assert message.startswith("mt: error: "), self.err
        assert self.err.count("mt: error: ") == 1
        return message


def run_here(*arguments: str | Path, stdin: bytes = b"") -> Run:
    """Run the command line inside this process; a bug's exception comes through."""
    out, err = io.BytesIO(), io.BytesIO()
    with tempfile.TemporaryFile() as file, _streams(file, out, err), _state_of_process():
        file.write(stdin)
        file.seek(0)
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    assert isinstance(status, int)
    return Run(status=status, out=out.getvalue(), err=err.getvalue().decode("utf-8"))


def run_process(
    *arguments: str | Path,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Run:
    """Run `python -m mt` with some variables of the environment set."""
    return run_python("-m", "mt", *arguments, stdin=stdin, environment=environment, cwd=cwd)


def run_python(
    *arguments: str | Path,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Run:
    """Run `python ARGUMENTS` in a process of its own."""
    with start_python(
        [str(each) for each in arguments],
        environment=variables(environment),
        folder=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            out, err = process.communicate(stdin, timeout=_TIMEOUT)
        finally:
            process.kill()
    return Run(status=process.wait(), out=out, err=err.decode("utf-8"))


def start_mt(
    *arguments: str | Path,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> Process:
    """Start `python -m mt`."""
    return start_python(
        ["-m", "mt", *map(str, arguments)],
        environment=variables(),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )


def command_line(*arguments: str | Path) -> list[str]:
    """The command of a user, for a Python that starts from nothing."""
    return [sys.executable, "-m", "mt", *map(str, arguments)]


def variables(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment with some variables set, in which mt is found from every folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}


@contextmanager
def _streams(stdin: IO[bytes], out: io.BytesIO, err: io.BytesIO) -> Iterator[None]:
    """Put files in the place of the standard streams."""
    held = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(stdin, encoding="ascii")
    sys.stdout = io.TextIOWrapper(out, encoding="ascii")
    sys.stderr = io.TextIOWrapper(err, encoding="ascii")
    try:
        yield
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr = held


@contextmanager
def _state_of_process() -> Iterator[None]:
    """Put back what a command may change in the process: signal handlers and threads."""
    import torch

    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    threads = torch.get_num_threads()
    random_state = torch.get_rng_state()
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        torch.set_num_threads(threads)
        torch.set_rng_state(random_state)
