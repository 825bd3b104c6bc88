"""A running `mt translate` that is given one line after the other."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cases.runs import command_line, variables
from tests.cases.toy import as_bytes


@contextmanager
def interactive(model: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """`mt translate` with a pipe at each of its three streams."""
    process = subprocess.Popen(
        command_line("translate", "-m", model, *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=variables(),
        bufsize=0,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[bytes], line: str, *, seconds: float) -> bytes:
    """Write a line and give what comes back within some seconds."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(as_bytes([line]))
    found = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not found.endswith(b"\n") and selector.select(timeout=seconds):
            found += os.read(process.stdout.fileno(), 4096)
    return found
