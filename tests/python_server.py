"""A Python that imports torch and mt once, and forks a process for each program it is asked for.

Its standard input, output and error are those of a Python that was started by the test, with the
variables of the environment that an interpreter reads as it starts (tests/forked_python.py); a
fork gets streams, a folder and variables of its own, and ends as an interpreter ends.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import socket
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import NoReturn


@dataclass(frozen=True, kw_only=True)
class Program:
    """What a fork runs: the arguments of Python (`-m module ...` or `-c code ...`)."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    modules: tuple[str, ...]  # what is imported before the fork

    @classmethod
    def read(cls, line: bytes) -> Program:
        """From JSON in which each character stands for a byte, as `execve` is given bytes."""

        def decoded(text: str) -> str:
            return os.fsdecode(text.encode("latin-1"))

        asked = json.loads(line)
        return cls(
            arguments=[decoded(each) for each in asked["arguments"]],
            environment={decoded(k): decoded(v) for k, v in asked["environment"].items()},
            folder=decoded(asked["folder"]),
            modules=tuple(asked["modules"]),
        )


def serve(control: socket.socket) -> Program:
    """Fork for each request and report how the forks ended; returns in a fork only."""
    answers: dict[int, socket.socket] = {}  # by the pidfd of the fork
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not control:
                    descriptor = key.fd
                    selector.unregister(descriptor)
                    _report(descriptor, answers.pop(descriptor))
                    continue
                _, descriptors, _, _ = socket.recv_fds(control, 1, 4)
                if not descriptors:
                    sys.exit()  # the tests are over
                answer = socket.socket(fileno=descriptors[0])
                with answer.makefile("rb") as file:
                    program = Program.read(file.readline())
                for name in program.modules:
                    importlib.import_module(name)
                gc.freeze()
                pid = os.fork()
                if not pid:
                    for each in (control, answer, *answers.values()):
                        each.close()
                    for descriptor in answers:
                        os.close(descriptor)
                    for stream, descriptor in enumerate(descriptors[1:]):
                        os.dup2(descriptor, stream)
                        os.close(descriptor)
                    return program
                for descriptor in descriptors[1:]:
                    os.close(descriptor)
                answer.sendall(f"{pid}\n".encode())
                watched = os.pidfd_open(pid)
                answers[watched] = answer
                selector.register(watched, selectors.EVENT_READ)


def _report(descriptor: int, answer: socket.socket) -> None:
    """Send the exit code of a fork that has ended."""
    ended = os.waitid(os.P_PIDFD, descriptor, os.WEXITED)
    os.close(descriptor)
    assert ended is not None
    code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    with answer:
        answer.sendall(f"{code}\n".encode())


def run(program: Program) -> int:
    """Run a program in this process as if Python had been started with it; gives the exit code."""
    os.environ.clear()
    os.environ.update(program.environment)
    os.chdir(program.folder)
    if "torch" in sys.modules:
        sys.modules["torch"].seed()  # as each process draws its own
    kind, what, *arguments = program.arguments
    sys.argv = [kind, *arguments]
    try:
        if kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def end(code: int) -> NoReturn:
    """End as Python ends, but for its modules: to take down torch takes half a second."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for the threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            code = code or 120
    os._exit(code)


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # forks and threads
        program = serve(socket.socket(fileno=int(sys.argv[1])))
    end(run(program))
