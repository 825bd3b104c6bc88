"""A running `mt translate` that is given one line after the other."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cases.runs import start_mt
from tests.cases.toy import as_bytes
from tests.forked_python import Process


@contextmanager
def interactive(model: Path, *options: str) -> Iterator[Process]:
    """`mt translate` with a pipe at each of its three streams."""
    process = start_mt(
        "translate",
        "-m",
        model,
        *options,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: Process, line: str, *, seconds: float) -> bytes:
    """Write a line and give what comes back within some seconds."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(as_bytes([line]))
    found = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not found.endswith(b"\n") and selector.select(timeout=seconds):
            found += os.read(process.stdout.fileno(), 4096)
    return found
