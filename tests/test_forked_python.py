"""A forked Python is a new one: its streams, variables, folder, arguments, threads and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.runs import run_python, variables
from tests.forked_python import CAN_FORK, ForkedPython

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="processes may not fork here")


def compare(code: str, own: dict[str, str], tmp_path: Path) -> None:
    new = subprocess.run(
        [sys.executable, "-c", code, "café"],
        input=b"text",
        capture_output=True,
        env=variables(own),
        cwd=tmp_path,
        check=False,
    )
    fork = run_python("-c", code, "café", stdin=b"text", environment=own, cwd=tmp_path)
    assert (fork.status, fork.out, fork.err) == (new.returncode, new.stdout, new.stderr.decode())


@pytest.mark.parametrize(
    "code",
    [
        "import os, sys; print(sys.argv, sys.stdin.read(), os.getcwd(), os.environ['X'])",
        "import sys; sys.exit('a fault')",
        "import sys; sys.exit(3)",
        "import sys; sys.stderr.write(sys.stdout.encoding)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import atexit; atexit.register(print, 'last'); print('first')",
        "import threading, time; threading.Timer(0.1, print, ['late']).start()",
        "import signal; print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE))",
        "import torch; print(torch.get_num_threads())",
        "import os; print(sorted(os.listdir('/dev/fd'))[:3])",
    ],
)
def test_a_fork_does_what_a_new_interpreter_does(code: str, tmp_path: Path) -> None:
    compare(code, {"X": "ü"}, tmp_path)


def test_a_fork_has_the_streams_of_its_environment(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdout.encoding, sys.stdin.encoding, sys.flags)"
    for own in ({"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}):
        compare(code, own, tmp_path)


def test_two_forks_draw_other_numbers() -> None:
    code = "import random, torch; print(random.random(), torch.initial_seed())"
    first, second = (run_python("-c", code, "translate").out for _ in range(2))
    assert not set(first.split()) & set(second.split())


def test_an_exception_is_shown_and_ends_it_with_1() -> None:
    run = run_python("-c", "raise ValueError('odd')")
    assert run.status == 1
    assert run.err.startswith("Traceback")
    assert run.err.endswith("ValueError: odd\n")


def test_a_fork_is_awaited_and_signalled() -> None:
    code = "import time; print('ready', flush=True); time.sleep(60)"
    process = ForkedPython(
        ["-c", code],
        environment=variables(),
        folder=None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.terminate()
        assert process.wait(60) == process.poll() == -signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
