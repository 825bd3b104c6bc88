"""How far a command is with its lines: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from mt.cli.console import clock

_SECONDS_BETWEEN_LINES = 30.0  # where there is no bar
_SHORT = 10.0  # seconds of work that are no news where there is no bar


class LineProgress:
    """Counts lines, and says how many there are, how fast they come, and how long it will take."""

    def __init__(self, done: str, share: Callable[[], float | None]) -> None:
        """`done` says what is counted, its name first; `share`: how much of the input, if known."""
        self._done = done
        self._name = done.partition(" ")[0]
        self._share = share
        self._started = time.monotonic()
        self.num_lines = 0
        self.show: Callable[[], object] = self.now
        """Called whenever lines are done."""

    def __call__(self, count: int) -> None:
        """So many lines more are done."""
        self.num_lines += count
        self.show()

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._started

    def reached(self) -> str:
        """The lines done, and the share of the input."""
        share = self._share()
        lines = "1 line" if self.num_lines == 1 else f"{self.num_lines:,} lines"
        return lines if share is None else f"{lines}, {share:.0%} of the input"

    def now(self) -> str:
        """The state in the middle of the work."""
        seconds = self.seconds
        parts = [f"{self.num_lines:,} {self._done}"]
        if self.num_lines:
            parts.append(f"{self.num_lines / seconds:,.1f} {self._name}/s")
        share = self._share()
        if share:
            parts += [f"{share:.0%}", f"{clock(seconds * (1 - share) / share)} left"]
        return " · ".join(parts)

    def end(self) -> str:
        """The state when all is done."""
        seconds = self.seconds
        rate = self.num_lines / seconds if seconds else 0.0
        return f"{self.num_lines:,} {self._done} in {seconds:.1f} s, {rate:,.1f} {self._name}/s"


@contextmanager
def shown_progress(
    console: Console,
    *,
    done: str,
    share: Callable[[], float | None] = lambda: None,
    to_file: bool = False,
) -> Iterator[LineProgress]:
    """Show how many lines are done; gives what is called with the number of lines just done.

    Nothing is shown where the results themselves appear on the terminal, that is unless they go
    `to_file` or standard output goes elsewhere.
    """
    progress = LineProgress(done, share)
    if console.is_terminal and sys.stdout.isatty() and not to_file:
        yield progress
        return
    if console.is_terminal:
        columns = (TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(progress.now(), total=None)
            progress.show = lambda: bar.update(task, description=progress.now())
            yield progress
    else:
        progress.show = _LinesApart(progress, console).show
        yield progress
    if console.is_terminal or progress.seconds >= _SHORT:
        console.print(progress.end())


class _LinesApart:
    """Prints the state now and then."""

    def __init__(self, progress: LineProgress, console: Console) -> None:
        self._progress = progress
        self._console = console
        self._last = time.monotonic()

    def show(self) -> None:
        """Print the state, unless that was done not long ago."""
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._console.print(self._progress.now())
            self._last = time.monotonic()
