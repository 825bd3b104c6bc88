"""Processes that hold the lock of a folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cases.runs import variables

_HOLD = """
import sys
from pathlib import Path
from mt.errors import MtError
from mt.files.folder_lock import folder_lock
sys.stdin.readline()
try:
    with folder_lock(Path(sys.argv[1]), make=True):
        print("locked", flush=True)
        sys.stdin.readline()
except MtError as error:
    print(error, flush=True)
"""
_WAIT = 60.0  # seconds


@contextmanager
def holders(folder: Path, count: int = 1) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that lock a folder once they are given a line, and hold it until a second one."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=variables(),
        )
        for _ in range(count)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate(timeout=_WAIT)


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
