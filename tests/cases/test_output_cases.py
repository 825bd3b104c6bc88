"""Where translations go, and what stays of them when the work ends before its end.

Faults A1, A2, A5 and A6 that were found by using `mt translate`.
"""

from __future__ import annotations

import gzip
import io
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from mt.cli.line_progress import LineProgress, shown_progress
from mt.cli.source_lines import SourceLines
from mt.events import ignore
from mt.processes import may_fork
from tests.cases.runs import command_line, run_here, start_mt, variables
from tests.cases.toy import as_bytes, as_lines, toy_sources
from tests.forked_python import Process

_TIMEOUT = 60.0  # seconds
_MANY = 20_000  # lines, more than a test can wait for


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of very many lines."""
    path = tmp_path_factory.mktemp("many") / "many.src"
    path.write_bytes(as_bytes(toy_sources(1000, seed="output")) * (_MANY // 1000))
    return path


@contextmanager
def started(*arguments: str | Path, stdout: int) -> Iterator[Process]:
    """`mt translate` as a process of its own."""
    process = start_mt(
        *("translate", *arguments, "--device", "cpu", "--threads", "1"),
        stdout=stdout,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def until(is_so: object, process: Process) -> None:
    """Wait until something is so, while a process runs."""
    assert callable(is_so)
    deadline = time.monotonic() + _TIMEOUT
    while not is_so():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_keeps_the_lines_done_and_says_how_many(
    number: signal.Signals, model: Path, many: Path, tmp_path: Path
) -> None:
    """A5: those are the first lines, each whole; the old file is as it was."""
    out, partial = tmp_path / "out", tmp_path / "out.partial"
    out.write_text("old\n")

    def has_lines() -> bool:
        return any(each.stat().st_size for each in tmp_path.glob(".*.tmp/out"))

    with started("-m", model, many, "-o", out, stdout=subprocess.DEVNULL) as process:
        until(has_lines, process)
        process.send_signal(number)
        _, err = process.communicate(timeout=_TIMEOUT)
    assert process.returncode == 128 + number
    done = as_lines(partial.read_bytes())
    assert len(done) >= 128
    first = as_lines(many.read_bytes())[: len(done)]
    assert run_here("translate", "-m", model, stdin=as_bytes(first)).check().lines == done
    assert out.read_text() == "old\n"
    (message,) = err.decode().splitlines()
    assert message.startswith(f"mt: interrupted after {len(done):,} lines, ")
    assert f"{partial} holds their translations" in message
    assert {each.name for each in tmp_path.iterdir()} == {"out", "out.partial"}


def test_lines_come_as_they_are_done(model: Path, many: Path) -> None:
    """A5: the first long before the last, on standard output too."""
    with started("-m", model, many, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            assert selector.select(timeout=_TIMEOUT)
        assert process.poll() is None
        process.terminate()
        out, err = process.communicate(timeout=_TIMEOUT)
    assert out.count(b"\n") < _MANY
    assert err.startswith(b"mt: interrupted after ")
    assert process.returncode == 143


def test_a_failure_in_the_middle_keeps_the_lines_before(model: Path, tmp_path: Path) -> None:
    """A packed file that breaks off."""
    packed, out = tmp_path / "x.gz", tmp_path / "out"
    lines = toy_sources(4000, seed="breaks")
    packed.write_bytes(gzip.compress(as_bytes(lines), mtime=0)[:-2000])
    run = run_here("translate", "-m", model, packed, "-o", out, "--beam", "1").check(1)
    assert not out.exists()
    done = as_lines((tmp_path / "out.partial").read_bytes())
    assert 128 <= len(done) < 4000
    first, second = run.err.splitlines()[-2:]
    assert first.startswith(f"mt: ended after {len(done):,} lines")
    assert second.startswith(f"mt: error: {packed} is damaged or cut short")


@pytest.mark.skipif(not may_fork(), reason="processes may not fork here")
def test_a_worker_process_that_was_killed_is_an_error(model: Path, many: Path) -> None:
    """Found on the way: between two windows it was taken for a reader that has had enough."""
    command = ("translate", "-m", model, many, "--device", "cpu", "--workers", "2")
    with start_mt(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.kill()
            pytest.skip("the system does not tell of child processes")
        workers = [int(number) for number in children.read_text().split()]
        os.kill(workers[-1], signal.SIGKILL)
        _, err = process.communicate(timeout=_TIMEOUT)
    assert process.returncode == 1
    assert b"mt: error: a worker process ended while it was searching" in err


def test_a_pipe_gets_all_of_it(model: Path, tmp_path: Path) -> None:
    """A1: as `>(gzip > out.gz)` of a shell, which names a descriptor."""
    lines = toy_sources(300, seed="pipe")
    expected = run_here("translate", "-m", model, stdin=as_bytes(lines)).check().out
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)
    with subprocess.Popen(["cat"], stdin=ours, stdout=subprocess.PIPE) as cat:
        os.close(ours)
        done = subprocess.run(
            command_line("translate", "-m", model, "-o", f"/dev/fd/{theirs}"),
            input=as_bytes(lines),
            pass_fds=(theirs,),
            env=variables(),
            timeout=_TIMEOUT,
            capture_output=True,
            check=False,
        )
        os.close(theirs)
        out, _ = cat.communicate(timeout=_TIMEOUT)
    assert (done.returncode, done.stdout, out) == (0, b"", expected)


def test_a_reader_of_the_output_file_that_went_away_is_an_error(
    model: Path, tmp_path: Path
) -> None:
    """A1: it is quiet on standard output alone."""
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as file:
        path = f"/dev/fd/{file.fileno()}"
        run = run_here("translate", "-m", model, "-o", path, stdin=b"x\n").check(1)
    assert run.err.endswith(f"mt: error: {path}: Broken pipe\n")


def test_a_closed_standard_input_is_one_line(model: Path) -> None:
    """A6."""
    command = ["sh", "-c", 'exec "$@" <&-', "sh", *command_line("translate", "-m", model)]
    done = subprocess.run(
        command, capture_output=True, env=variables(), timeout=_TIMEOUT, check=False
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.splitlines()[-1].startswith(b"mt: error: standard input is closed")


@pytest.mark.parametrize(("seconds", "says"), [(12.0, True), (8.0, False)])
def test_the_end_of_long_work_is_told_where_there_is_no_terminal(
    seconds: float, says: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A5: lines, seconds, lines a second; short work that went well says nothing."""
    moment = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    out = io.StringIO()
    with shown_progress(Console(file=out), done="lines translated") as progress:
        moment[0] += seconds
        progress(3)
    end = f"3 lines translated in {seconds:.1f} s, {3 / seconds:.1f} lines/s\n"
    assert out.getvalue() == (end if says else "")


@pytest.mark.parametrize("is_packed", [False, True])
def test_the_share_of_the_input_grows_with_the_lines(is_packed: bool, tmp_path: Path) -> None:
    num = 40_000 if is_packed else 5000  # of packed files the beginning is read ahead
    data = as_bytes(toy_sources(num, seed="share"))
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(data) if is_packed else data)
    lines = SourceLines([path])
    assert lines.share() == 0
    found, sizes = 0, []
    for group in lines.groups(max_lines=num // 5, listener=ignore):
        found += len(group)
        sizes.append(len(group))
        share = lines.share()
        assert share == pytest.approx(found / num, abs=0.1 if is_packed else 0.02)
    assert sizes[:3] == [128, 512, min(2048, num // 5)]
    assert share == pytest.approx(1.0, abs=0.02)


def test_time_left_follows_from_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    progress = LineProgress("lines translated", lambda: 0.25)
    now += 30.0
    progress(600)
    assert progress.now() == "600 lines translated · 20.0 lines/s · 25% · 1:30 left"
    assert progress.end() == "600 lines translated in 30.0 s, 20.0 lines/s"
    assert progress.reached() == "600 lines, 25% of the input"
