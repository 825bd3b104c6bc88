"""One process at a time in a model folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mt.errors import ModelFolderError
from mt.folder_lock import NAME, folder_lock
from tests.cases.runs import variables

_HOLD = """
import sys
from pathlib import Path
from mt.errors import MtError
from mt.folder_lock import folder_lock
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


def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    with holders(tmp_path) as (process,):
        tell(process)
        assert heard(process) == "locked"
        with (
            pytest.raises(ModelFolderError, match=f"{tmp_path} is in use by process {process.pid}"),
            folder_lock(tmp_path),
        ):
            pass
        tell(process)
        assert process.wait(timeout=_WAIT) == 0
        with folder_lock(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    with holders(tmp_path) as (process,):
        tell(process)
        assert heard(process) == "locked"
        process.kill()
        process.wait(timeout=_WAIT)
        assert (tmp_path / NAME).exists()
        with folder_lock(tmp_path):
            pass
    assert not (tmp_path / NAME).exists()


def test_of_many_that_make_a_folder_at_once_one_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with holders(folder, 4) as processes:
        for process in processes:
            tell(process)
        told = [heard(process) for process in processes]
        assert sum(text == "locked" for text in told) == 1
        assert sum("is in use by" in text for text in told) == 3
        holder = processes[told.index("locked")]
        tell(holder)
        assert holder.wait(timeout=_WAIT) == 0
    assert not folder.exists()
