"""Run a command and note what it says and when, how much memory it takes, and who else computes."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import click
from store import resident

_SECONDS_BETWEEN_LOOKS = 0.05
_LINES_SHOWN = 15  # of the log of a command that failed


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of output and the moment at which it came, in seconds since some moment."""

    seconds: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What a command did."""

    lines: list[Line]
    """Of standard output and standard error together."""
    peak_mb: float
    """Largest sum of resident memory over the process and its descendants."""
    others_cpu: float
    """Share of all cores that other processes took meanwhile."""


def run_watched(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    log: Path,
    is_enough: Callable[[list[Line]], bool],
) -> Watched:
    """Run a command to its end, or until `is_enough` of its lines; its output goes to `log` too.

    A command that ends by itself with another status than 0 is an error with the end of its log.
    """
    begun, busy, own = time.monotonic(), _busy_seconds(), _seconds_of_children()
    lines: list[Line] = []
    with log.open("w", encoding="utf-8", buffering=1) as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=dict(environment),
        )
        assert process.stdout is not None
        reader = threading.Thread(target=_read, args=(process.stdout, lines, file))
        reader.start()
        peak, was_stopped = 0, False
        try:
            while process.poll() is None:
                peak = max(peak, resident(process.pid))
                if not was_stopped and is_enough(lines):
                    was_stopped = True
                    process.terminate()
                time.sleep(_SECONDS_BETWEEN_LOOKS)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            reader.join()
    if process.returncode and not was_stopped:
        end = "\n".join(line.text for line in lines[-_LINES_SHOWN:])
        raise click.ClickException(f"{end}\n{' '.join(command)} ended with {process.returncode}")
    taken = time.monotonic() - begun
    others = _busy_seconds() - busy - (_seconds_of_children() - own)
    cores = os.cpu_count() or 1
    return Watched(lines=lines, peak_mb=peak / 1e6, others_cpu=max(others, 0.0) / (taken * cores))


def _read(stream: IO[str], lines: list[Line], log: IO[str]) -> None:
    for text in stream:
        lines.append(Line(seconds=time.monotonic(), text=text.rstrip("\n")))
        log.write(text)


def _busy_seconds() -> float:
    """Seconds for which cores of this machine have computed since it started; 0 if not known."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _, _, interrupts, soft_interrupts = map(int, fields[:7])
    ticks = user + nice + system + interrupts + soft_interrupts
    return ticks / os.sysconf("SC_CLK_TCK")


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
