"""Worker processes, forked from this one, so that all search with one set of weights.

Threads share one interpreter: while one of them runs Python, the others wait, which on two cores
costs a fifth of the speed (docs/log.md). Forked processes do not meet at all.

A fork copies what other threads of the process hold at that moment, locks too. So processes are for
programs that know their threads, such as the commands of `mt`; where they may not fork
(`mt.processes`) threads take their place.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Never, TypeVar, cast

import torch

from mt.errors import DataError

Job = TypeVar("Job")
Found = TypeVar("Found")


class ForkedWorkers(Generic[Job, Found]):
    """Processes that do jobs; they end when this is forgotten or this process ends."""

    def __init__(self, count: int, work: Callable[[Job], Found], *, threads: int) -> None:
        """Fork `count` processes that `work`, each with so many `threads` of torch."""
        context = multiprocessing.get_context("fork")
        self._lock = threading.Lock()
        self._ends: list[Connection[Any, Any]] = []
        self._processes = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            self._ends.append(ours)
            # An end that is open in a second process would hide that the first has ended.
            process = context.Process(
                target=_serve, args=(theirs, list(self._ends), work, threads), daemon=True
            )
            process.start()
            theirs.close()
            self._processes.append(process)

    def do(self, jobs: Sequence[Job]) -> list[Found]:
        """Do jobs, each by the process that is free first; gives what they found, in order.

        Raises what a job raises, and DataError when a process was killed.
        """
        waiting = iter(enumerate(jobs))
        answers: dict[int, tuple[BaseException | None, Any]] = {}
        with self._lock:
            running: dict[Connection[Any, Any], int] = {}
            for end, (index, job) in zip(self._ends, waiting, strict=False):
                _send(end, job)
                running[end] = index
            # All answers are fetched before one is looked at: none stays behind for the next job.
            while running:
                for ready in wait(list(running)):
                    end = cast("Connection[Any, Any]", ready)
                    error, found = self._answer(end)
                    answers[running.pop(end)] = (error, found)
                    following = next(waiting, None) if error is None else None
                    if following is not None:
                        index, job = following
                        _send(end, job)
                        running[end] = index
        for error, _ in answers.values():
            if error is not None:
                raise error
        return [answers[index][1] for index in range(len(jobs))]

    def _answer(self, end: Connection[Any, Any]) -> tuple[BaseException | None, Any]:
        try:
            answer: tuple[BaseException | None, Any] = end.recv()
        except (EOFError, ConnectionError):
            process = self._processes[self._ends.index(end)]
            process.join()
            error = DataError(
                f"a worker process ended while it was searching (exit code {process.exitcode})",
                hint="Perhaps the memory is too small: take a smaller --batch-size, or --workers 1",
            )
            return error, None
        return answer


def _send(end: Connection[Any, Any], job: object) -> None:
    with suppress(ConnectionError):  # a process that has ended: what it does not answer says so
        end.send(job)


def _serve(
    end: Connection[Any, Any],
    not_ours: Sequence[Connection[Any, Any]],
    work: Callable[[Any], Any],
    threads: int,
) -> Never:
    """Do one job after the other until the other end is closed.

    Then the process ends at once: what it would flush or free belongs to the one it came from.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for each in not_ours:
        each.close()
    # Threads that computed before the fork are not there after it, but the OpenMP library would
    # wait for them in the thread that started them: work in a thread that never started any.
    worker = threading.Thread(target=_work_in_turn, args=(end, work, threads))
    worker.start()
    worker.join()
    os._exit(1)  # never reached, unless the thread fell to a fault of this module


def _work_in_turn(end: Connection[Any, Any], work: Callable[[Any], Any], threads: int) -> Never:
    torch.set_num_threads(threads)
    while True:
        try:
            job = end.recv()
        except (EOFError, ConnectionError):
            os._exit(0)
        answer: tuple[Exception | None, Any]
        try:
            answer = (None, work(job))
        except Exception as error:
            answer = (error, None)
        try:
            end.send(answer)
        except ConnectionError:
            os._exit(0)
