"""Standard streams that are full, closed or unbuffered, and signals at any moment."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cases.runs import command_line, variables

_TIMEOUT = 60.0  # seconds
_BUFFERING = ("", "1")
_STARTER = Path(__file__).parents[2] / "data" / "starter"
_CHECK = ("check", str(_STARTER / "dev.de"), str(_STARTER / "dev.en"))


def run(
    *arguments: str | Path, redirections: str = "", unbuffered: str = "", locale: str = "C.UTF-8"
) -> subprocess.CompletedProcess[bytes]:
    """Run mt in a shell, so that its streams can be redirected and closed."""
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", *command_line(*arguments)]
    environment = {"PYTHONUNBUFFERED": unbuffered, "LC_ALL": locale, "PYTHONIOENCODING": ""}
    return subprocess.run(
        command,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=variables(environment),
        timeout=_TIMEOUT,
        check=False,
    )


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A device that is always full."""
    path = tmp_path / "full"
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
        path.open("wb").close()
    except OSError:
        pytest.skip("only root may make device nodes")
    return path


@pytest.mark.parametrize("unbuffered", _BUFFERING)
@pytest.mark.parametrize("arguments", [("--version",), ("train", "--help"), (*_CHECK, "--json")])
def test_a_full_disk_behind_standard_output_is_an_error(
    arguments: tuple[str, ...], unbuffered: str, full: Path
) -> None:
    done = run(*arguments, redirections=f"> {full}", unbuffered=unbuffered)
    message = b"mt: error: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.parametrize("arguments", [("--version",), _CHECK])
def test_results_for_a_closed_standard_output_are_an_error(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, redirections=">&-")
    assert (done.returncode, done.stderr) == (1, b"mt: error: standard output: it is closed\n")


def test_a_closed_standard_error_changes_nothing_else() -> None:
    assert run("--version", redirections="2>&-").stdout == b"mt 0.1.0\n"
    assert run("nothing", redirections="2>&-").returncode == 2
    assert run("--version", redirections="<&- >&- 2>&-").returncode == 1


def test_a_closed_standard_input_is_named() -> None:
    code = (
        "from mt.cli.streams import standard_streams\n"
        "from mt.formats.standard_input import standard_input\n"
        "with standard_streams():\n"
        "    print(standard_input())\n"
    )
    for redirections in ("<&-", "<&- >&-"):
        command = ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-c", code]
        done = subprocess.run(
            command, capture_output=True, env=variables(), timeout=_TIMEOUT, check=False
        )
        assert b"DataError: standard input is closed" in done.stderr


def test_no_file_gets_the_number_of_a_closed_stream() -> None:
    code = (
        "import os, sys\n"
        "from mt.cli.streams import standard_streams\n"
        "with standard_streams():\n"
        "    number = os.open(os.devnull, os.O_RDONLY)\n"
        "    for closed in (0, 1):\n"
        "        try: os.read(closed, 1)\n"
        "        except OSError: number += 1000\n"
        "sys.exit(0 if number > 2002 else 1)\n"
    )
    command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code]
    done = subprocess.run(command, env=variables(), timeout=_TIMEOUT, check=False)
    assert done.returncode == 0


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    for arguments in (("--help",), _CHECK):
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run(
            command_line(*arguments),
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=variables(),
            timeout=_TIMEOUT,
            check=False,
        )
        os.close(theirs)
        assert (done.returncode, done.stderr) == (0, b"")


def test_a_message_is_utf_8_in_any_locale() -> None:
    done = run("bäcker 🦊", locale="C")
    assert done.returncode == 2
    assert "bäcker 🦊" in done.stderr.decode("utf-8")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_in_one_line(number: signal.Signals, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        command_line("eval", "--hyp", pipe, pipe), stderr=subprocess.PIPE, env=variables()
    ) as process:
        try:
            _until_it_opens(pipe)
            process.send_signal(number)
            _, err = process.communicate(timeout=_TIMEOUT)
        finally:
            process.kill()
    assert (process.returncode, err) == (128 + number, b"mt: interrupted\n")


def _until_it_opens(pipe: Path) -> None:
    """Wait until a process has opened a pipe to read it; then it waits for text."""
    deadline = time.monotonic() + _TIMEOUT
    while time.monotonic() < deadline:
        try:
            os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)  # stays open until this process ends
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("nobody reads")


def test_a_second_signal_ends_a_command_at_once_and_leaves_no_temporary(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from mt.cli.interruption import ended_by_signals\n"
        "from mt.files import replaced_file\n"
        "with ended_by_signals(), replaced_file(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half')\n"
        "    for line in ('ready', 'first'):\n"
        "        try:\n"
        "            print(line, flush=True)\n"
        "            time.sleep(60)\n"
        "        except KeyboardInterrupt: pass\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "x")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables()) as process:
        assert process.stdout is not None
        for line in (b"ready\n", b"first\n"):
            assert process.stdout.readline() == line
            process.send_signal(signal.SIGTERM)
        process.wait(_TIMEOUT)
    assert process.returncode == 143
    assert list(tmp_path.iterdir()) == []
