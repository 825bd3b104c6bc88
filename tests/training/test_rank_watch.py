"""No rank outlives another one for long, whatever it waits for; torchrun is not needed for that."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from mt.errors import ConfigError
from mt.training.distributed import TIMEOUT, Ranks, joined_ranks
from tests.training.processes import Started
from tests.training.ranks import write_pairs

_BOUND = 150.0  # seconds, start of the processes on a busy machine included


def watch(
    folder: Path, *words: str, timeout: int | None = None, absent: Collection[int] = ()
) -> dict[int, tuple[int, list[str]]]:
    """Exit status and lines of each rank that ended by itself, within the bound."""
    environment = {} if timeout is None else {TIMEOUT: str(timeout)}
    started = Started(
        len(words),
        folder / "log",
        folder,
        *words,
        program=("tests.training.watched",),
        environment=environment,
        absent=absent,
    )
    present = [rank for rank in range(len(words)) if rank not in absent]
    with started:
        begun = time.monotonic()
        for rank, process in zip(present, started.processes, strict=True):
            if words[rank] not in ("dies", "stops"):
                process.wait(timeout=_BOUND - (time.monotonic() - begun))
        logs = started.said()
        found = {
            rank: (process.wait(), log.splitlines())
            for rank, process, log in zip(present, started.processes, logs, strict=True)
            if words[rank] not in ("dies", "stops")
        }
    child = folder / "child"
    if child.exists():
        os.kill(int(child.read_text()), signal.SIGKILL)
    return found


def test_a_rank_that_is_killed_ends_all_others_whatever_they_wait_for(tmp_path: Path) -> None:
    """One waits in a collective whose connections a child of the dead rank holds open, as the
    workers of a preparation do; one computes and asks nobody."""
    found = watch(tmp_path, "computes", "gathers", "dies")
    for rank in (0, 1):
        status, lines = found[rank]
        assert status == 1
        assert len(lines) == 1, lines
        assert lines[0].startswith(
            f"mt: error: rank {rank} of 3 lost another one: rank 2 has ended"
        )


def test_the_end_of_the_first_rank_ends_the_others(tmp_path: Path) -> None:
    status, lines = watch(tmp_path, "dies", "gathers")[1]
    assert status == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith("mt: error: rank 1 of 2 lost another one: rank 0 has ended")


def test_a_rank_that_lives_but_is_stuck_counts_as_lost_after_the_timeout(tmp_path: Path) -> None:
    status, lines = watch(tmp_path, "gathers", "stops", timeout=6)[0]
    assert status == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith("mt: error: rank 0 of 2 lost another one")


def test_a_rank_that_never_starts_is_not_awaited_for_long(tmp_path: Path) -> None:
    status, lines = watch(tmp_path, "ends", "ends", timeout=3, absent=[1])[0]
    assert status == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith("mt: error: rank 0 of 2 did not meet the others within 3 s")


def test_ranks_that_end_by_themselves_miss_nobody(tmp_path: Path) -> None:
    assert watch(tmp_path, "ends", "ends", "ends") == dict.fromkeys(range(3), (0, []))


def test_a_gradient_of_one_rank_that_is_not_finite_ends_all(tmp_path: Path) -> None:
    """They skip the same updates, and give up at the same one."""
    write_pairs(tmp_path / "pairs.arrow", [5] * 20, seed=1)
    for status, lines in watch(tmp_path, "trains", "trains badly").values():
        assert status == 1
        assert len(lines) == 1, lines
        assert lines[0].startswith("mt: error: update 3: the gradient was non-finite 3 times")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "an hour"])
def test_a_timeout_that_is_no_number_of_seconds_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TIMEOUT, text)
    with (
        pytest.raises(ConfigError, match="must be a number of seconds"),
        joined_ranks(Ranks(size=2)),
    ):
        pass
