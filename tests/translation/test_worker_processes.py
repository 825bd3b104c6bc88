"""Worker processes find what threads find, and say so when one of them ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence

import pytest
import torch

from mt.errors import DataError
from mt.processes import START_METHOD, may_fork
from mt.search.hypothesis import Hypothesis
from mt.translation import searching
from mt.translation.worker_processes import ForkedWorkers
from tests.translation.random_models import lines, make

needs_forks = pytest.mark.skipif(not may_fork(), reason="processes may not fork here")


def halves(numbers: Sequence[int]) -> tuple[int, int]:
    """The process that did it, and a sum of halves."""
    if any(number % 2 for number in numbers):
        raise DataError("an odd number", hint="Take an even one")
    return os.getpid(), sum(number // 2 for number in numbers)


@needs_forks
def test_jobs_are_done_side_by_side_and_in_order() -> None:
    workers = ForkedWorkers(3, halves, threads=1)
    first = workers.do([[2, 4], [6]])
    second = workers.do([[8], [10], [12]])
    assert [found for _, found in first + second] == [3, 3, 4, 5, 6]
    pids = [pid for pid, _ in second]
    assert len(set(pids)) == 3 and os.getpid() not in pids
    assert [pid for pid, _ in first] == pids[:2], "processes stay"


def slow_if_zero(number: int) -> int:
    if number == 0:
        time.sleep(1.0)
    return os.getpid()


@needs_forks
def test_the_process_that_is_free_takes_the_next_job() -> None:
    workers = ForkedWorkers(2, slow_if_zero, threads=1)
    pids = workers.do([0, 1, 2, 3, 4])
    assert pids[0] not in pids[1:] and len(set(pids[1:])) == 1


def product(size: int) -> float:
    return float((torch.ones(size, size) @ torch.ones(size, size)).sum())


@needs_forks
def test_forked_workers_of_several_threads_compute() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        expected = product(300)  # the threads of this process are there at the fork
        workers = ForkedWorkers(2, product, threads=2)
        found: list[float] = []
        doing = threading.Thread(target=lambda: found.extend(workers.do([300, 300])), daemon=True)
        doing.start()
        doing.join(timeout=30)
    finally:
        torch.set_num_threads(before)
    for process in workers._processes:
        process.kill()
    assert found == [expected, expected], "they wait for threads that did not come along"


@needs_forks
def test_an_error_of_a_job_is_raised_whole_and_harms_no_later_job() -> None:
    workers = ForkedWorkers(2, halves, threads=1)
    with pytest.raises(DataError, match="an odd number") as raised:
        workers.do([[1], [2]])
    assert raised.value.hint == "Take an even one"
    assert [found for _, found in workers.do([[4], [6]])] == [2, 3]


@needs_forks
def test_a_killed_process_is_named() -> None:
    workers = ForkedWorkers(2, halves, threads=1)
    ((pid, _),) = workers.do([[2]])
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(DataError, match=r"exit code -9.*--workers 1"):
        workers.do([[2], [4]])


@needs_forks
def test_processes_end_with_what_they_work_for() -> None:
    workers = ForkedWorkers(2, halves, threads=1)
    processes = list(workers._processes)
    del workers
    for process in processes:
        process.join(timeout=10)
        assert process.exitcode == 0


@needs_forks
@pytest.mark.parametrize("beam", [1, 4])
def test_translations_are_those_of_threads(beam: int) -> None:
    def found(*, forks: bool) -> list[list[Hypothesis]]:
        translator, _ = make(beam=beam, batch_size=3, workers=2, forks=forks)
        return [list(each.hypotheses) for each in translator.translate(lines())]  # type: ignore[arg-type]

    threads, processes = found(forks=False), found(forks=True)
    assert [[h.tokens for h in each] for each in processes] == [
        [h.tokens for h in each] for each in threads
    ]
    for ours, theirs in zip(processes, threads, strict=True):
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-5)


def test_threads_search_where_forks_are_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(method: str) -> list[list[tuple[int, ...]]]:
        monkeypatch.setenv(START_METHOD, method)
        translator, _ = make(beam=2, batch_size=3, workers=2, forks=True)
        translations = translator.translate(lines())
        return [[tuple(h.tokens) for h in each.hypotheses] for each in translations]

    expected = found("fork")
    monkeypatch.setattr(searching, "ForkedWorkers", None)
    assert found("spawn") == expected
