"""Processes of Python that start at once: forks of an interpreter that has imported torch.

To import torch and mt takes seconds, of which a suite with many processes would wait minutes. What
only a new interpreter shows (its start, closed streams, the file that is run) has one:
`subprocess`.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO, Self

import mt
from mt.processes import may_fork

ROOT = Path(mt.__file__).parent.parent
CAN_FORK = may_fork() and hasattr(os, "pidfd_open")
_READ_AT_START = ("PYTHON", "LC_", "LANG", "OMP_", "MKL_", "OPENBLAS_", "LD_")
"""How the variables begin that an interpreter or a library reads as it starts."""
_IMPORTED = {
    "eval": ("mt.tasks.evaluate", "sacrebleu"),
    "translate": ("torch", "mt.tasks.translate", "mt.translation.translator"),
    "train": ("torch._dynamo", "datasets", "mt.tasks.train", "mt.tasks.new_folder", "sacrebleu"),
}


def start_python(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path | None = None,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> Process:
    """Start `python ARGUMENTS`; a stream is a descriptor, PIPE or DEVNULL."""
    if CAN_FORK:
        return ForkedPython(
            arguments,
            environment=environment,
            folder=folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        cwd=folder,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        bufsize=0,
    )


class ForkedPython:
    """A running program of Python, with the methods of `subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path | None,
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> None:
        at_start = {k: v for k, v in environment.items() if k.startswith(_READ_AT_START)}
        control = _server(tuple(sorted(at_start.items())))
        self.args = arguments
        self.returncode: int | None = None
        pairs = [_stream(0, stdin), _stream(1, stdout), _stream(2, stderr)]
        self.stdin, self.stdout, self.stderr = (
            None if own is None else os.fdopen(own, mode, 0)
            for (own, _), mode in zip(pairs, ("wb", "rb", "rb"), strict=True)
        )
        self._answer, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(control, [b"\n"], [theirs.fileno(), *(other for _, other in pairs)])
        for (_, other), given in zip(pairs, (stdin, stdout, stderr), strict=True):
            if other != given:
                os.close(other)
        asked = {
            "arguments": [_as_latin_1(each) for each in arguments],
            "environment": {_as_latin_1(k): _as_latin_1(v) for k, v in environment.items()},
            "folder": _as_latin_1(str(folder or Path.cwd())),
            "modules": _modules(arguments),
        }
        self._answer.sendall(json.dumps(asked).encode() + b"\n")
        self._lines = self._answer.makefile("rb")
        self.pid = int(self._lines.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *trouble: object) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, or -number of the signal that ended it."""
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._answer, selectors.EVENT_READ)
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._answer.close()
        return self.returncode

    def poll(self) -> int | None:
        """The exit code if it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def send_signal(self, number: int) -> None:
        """Send it a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send it SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send it SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(
        self, given: bytes = b"", *, timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        """Write standard input, read the other streams until their ends, and wait."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with ThreadPoolExecutor(3) as pool:
            writing = pool.submit(self._write, given)
            out, err = (pool.submit(_read, each) for each in (self.stdout, self.stderr))
            try:
                found = [
                    each.result(None if deadline is None else deadline - time.monotonic())
                    for each in (out, err)
                ]
            except TimeoutError:
                self.kill()  # which ends the threads, too
                raise
            writing.result()
        self.wait(timeout)
        return found[0], found[1]

    def _write(self, given: bytes) -> None:
        if self.stdin is not None:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                rest = memoryview(given)
                while rest:
                    rest = rest[self.stdin.write(rest) :]


Process = ForkedPython | subprocess.Popen[bytes]


def _read(stream: IO[bytes] | None) -> bytes:
    if stream is None:
        return b""
    with stream:
        return stream.read()


def _stream(number: int, given: int) -> tuple[int | None, int]:
    """Our end of a standard stream, if there is one, and that of the process."""
    if given == subprocess.PIPE:
        reads, writes = os.pipe()
        return (writes, reads) if number == 0 else (reads, writes)
    if given == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    return None, given


def _modules(arguments: Sequence[str]) -> Sequence[str]:
    """What a program is going to import, by the first command of mt among its arguments."""
    if arguments[1].startswith("tests."):
        return _IMPORTED["train"]
    return next((_IMPORTED[word] for word in arguments if word in _IMPORTED), ())


def _as_latin_1(text: str) -> str:
    """The bytes that a new process would get, for JSON."""
    return os.fsencode(text).decode("latin-1")


@cache
def _server(variables: tuple[tuple[str, str], ...]) -> socket.socket:
    """The control socket of a server that started with these variables; it ends with its close."""
    ours, theirs = socket.socketpair()
    others = {k: v for k, v in os.environ.items() if not k.startswith(_READ_AT_START)}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.python_server", str(theirs.fileno())],
            env={**others, **dict(variables)},
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours
