"""What a person sees on standard error while something long runs.

On a terminal: a progress bar with epoch, speed and time left, and lines above it. Elsewhere:
plain lines, and no carriage returns.
"""

from __future__ import annotations

import shlex
import time
from collections import deque
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from mt.events import (
    BatchDone,
    CorpusRead,
    Event,
    LinesTranslated,
    LinesValidated,
    Listener,
    Notice,
    OriginRead,
    StageStarted,
    TrainingEnded,
    TrainingStarted,
    Validated,
    ValidationStarted,
    notice_text,
)

_SPEED_WINDOW = 50  # updates
_SECONDS_BETWEEN_LINES = 30.0  # where there is no bar


def stderr_console() -> Console:
    """A console on standard error that wraps nothing and reads no markup from text."""
    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


def notices(say: Callable[[str], None]) -> Listener:
    """A listener that says notices, and nothing else."""

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            say(f"mt: {notice_text(event)}")

    return listen


class TrainingConsole:
    """Listens to training and shows it."""

    def __init__(self, console: Console, *, folder: str | PathLike[str] | None = None) -> None:
        """`folder` is where the model goes, as the commands to use it name it."""
        self._folder = None if folder is None else Path(folder)
        self._console = console
        self._start: TrainingStarted | None = None
        self._recent: deque[tuple[float, int]] = deque(maxlen=_SPEED_WINDOW)
        self._last_line = time.monotonic()
        self._validation_began = self._last_line
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[status]}"),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("training", total=1.0, visible=False, status="")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if self._console.is_terminal:
            self._bar.start()  # with the first event: of several ranks the others get none
        match event:
            case Notice():
                self._line(notice_text(event))
            case StageStarted():
                self._bar.update(self._task, description=event.name, total=None, visible=True)
            case LinesTranslated():
                self._show_translated(event)
            case CorpusRead():
                for line in describe_corpus(event):
                    self._line(line)
            case TrainingStarted():
                self._start = event
                self._bar.update(self._task, description="training", total=1.0)
                self._line(
                    f"{event.num_parameters:,} parameters, {event.updates_per_epoch:,} updates an "
                    f"epoch, on {event.device} in {event.precision}"
                )
            case BatchDone():
                self._show_batch(event)
            case ValidationStarted():
                self._bar.update(self._task, description="validating")
                self._validation_began = time.monotonic()
            case LinesValidated():
                self._show_lines(event)
            case Validated():
                self._bar.update(self._task, description="training")
                self._show_validation(event)
            case TrainingEnded():
                for line in describe_end(event, self._folder):
                    self._line(line)

    def _line(self, text: str) -> None:
        self._console.print(text)
        self._last_line = time.monotonic()

    def _show_translated(self, event: LinesTranslated) -> None:
        rate = (event.num_done - event.num_before) / max(event.seconds, 1e-9)
        left = clock((event.num_lines - event.num_done) / rate)
        share = event.num_done / event.num_lines
        status = (
            f"{event.num_done:,} of {event.num_lines:,} lines, {share:.0%} · {rate:,.1f} lines/s · "
            f"{left} left"
        )
        self._bar.update(
            self._task,
            description="translating",
            total=1.0,
            completed=share,
            status=status,
            visible=True,
        )
        waited = time.monotonic() - self._last_line
        if not self._console.is_terminal and waited > _SECONDS_BETWEEN_LINES:
            self._line(f"translated: {status}")

    def _show_batch(self, event: BatchDone) -> None:
        if event.skipped:
            self._line(f"warning: update {event.update} skipped: its gradient was non-finite")
        self._recent.append((event.seconds, event.num_target_tokens))
        share = self._share_done(event)
        left = "" if not share else f" · {clock(event.seconds * (1 - share) / share)} left"
        status = (
            f"epoch {event.epoch:.2f} · update {event.update:,} · loss {event.loss:.3f} · "
            f"{self._speed():,.0f} tokens/s{left}"
        )
        self._bar.update(self._task, completed=share or 0.0, status=status, visible=True)
        waited = time.monotonic() - self._last_line
        if not self._console.is_terminal and waited > _SECONDS_BETWEEN_LINES:
            self._line(status)

    def _speed(self) -> float:
        seconds = self._recent[-1][0] - self._recent[0][0]
        tokens = sum(count for _, count in list(self._recent)[1:])
        return tokens / seconds if seconds > 0 else 0.0

    def _share_done(self, event: BatchDone) -> float | None:
        """The largest share of a budget that is used up."""
        assert self._start is not None
        shares = []
        if self._start.max_updates is not None:
            shares.append(event.update / self._start.max_updates)
        if self._start.max_seconds is not None:
            shares.append(event.seconds / self._start.max_seconds)
        if self._start.max_epochs is not None:
            shares.append(event.epoch / self._start.max_epochs)
        return min(max(shares), 1.0) if shares else None

    def _show_lines(self, event: LinesValidated) -> None:
        taken = time.monotonic() - self._validation_began
        left = taken * (event.num_lines - event.num_done) / max(event.num_done, 1)
        status = f"{event.num_done:,} of {event.num_lines:,} lines · {clock(left)} left"
        self._bar.update(self._task, status=status, visible=True)
        waited = time.monotonic() - self._last_line
        if not self._console.is_terminal and waited > _SECONDS_BETWEEN_LINES:
            self._line(f"validating: {status}")

    def _show_validation(self, event: Validated) -> None:
        scores = " · ".join(
            f"{name} {score:.3f}" if name == "loss" else f"{name} {score:.2f}"
            for name, score in event.scores.items()
        )
        if event.num_pairs is not None:
            scores += f" · on {event.num_pairs:,} of {event.num_all_pairs:,} dev pairs"
        best = " · best so far" if event.is_best else ""
        self._line(
            f"[{clock(event.seconds)}] epoch {event.epoch:.1f}, update {event.update:,}: dev "
            f"{scores}{best} (took {event.validation_seconds:.0f} s)"
        )
        further = {f"also {name}": scores for name, scores in event.also.items()}
        for name, scores_there in {**event.by_origin, **further}.items():
            told = " · ".join(f"{metric} {score:.2f}" for metric, score in scores_there.items())
            self._line(f"    {name}: {told}")
        for source, hypothesis, reference in event.samples:
            self._line(f"    {source}\n  → {hypothesis}\n  = {reference}")


def describe_corpus(event: CorpusRead) -> list[str]:
    """A line of what was read, used, held out and dropped, and one for each of several corpora."""
    lines = [f"corpus: {_counts(event)}"]
    if len(event.origins) > 1:
        for origin in event.origins:
            often = "" if origin.weight == 1.0 else f", {origin.weight:g} times an epoch"
            lines.append(f"  {origin.name}: {_counts(origin)}{often}")
    return lines


def describe_end(event: TrainingEnded, folder: Path | None) -> list[str]:
    """What a run came to, and the commands to use its model, if there is one."""
    lines = [
        f"training ended: {event.reason}",
        f"  {event.update:,} updates in {clock(event.seconds)} (validation "
        f"{clock(event.validation_seconds)}), {event.tokens_per_second:,.0f} target tokens/s",
    ]
    if event.best is not None and event.best_update is not None:
        digits = 3 if event.metric == "loss" else 2
        sample = "" if event.best_pairs is None else f" on {event.best_pairs:,} dev pairs"
        whose = " of the run with a shorter budget" if event.is_of_shorter_run else ""
        lines.append(
            f"  best dev {event.metric} {event.best:.{digits}f}{sample}, of update "
            f"{event.best_update:,}{whose}"
        )
    if event.num_skipped:
        lines.append(f"  updates skipped, their gradient being non-finite: {event.num_skipped:,}")
    if event.num_skipped_pairs:
        lines.append(f"  pairs skipped, too long for memory: {event.num_skipped_pairs:,}")
    if folder is not None and event.best_update is not None:
        quoted = shlex.quote(str(folder))
        lines += [
            f"the model is in {folder}",
            f"  mt translate -m {quoted} < in > out",
            f"  mt eval -m {quoted} SOURCE REFERENCE",
        ]
    return lines


def _counts(read: CorpusRead | OriginRead) -> str:
    text = f"{read.num_read} pairs read, {read.num_used} used, "
    if read.num_held_out:
        text += f"{read.num_held_out} held out, "
    text += f"{sum(read.dropped.values())} dropped"
    reasons = ", ".join(f"{reason}: {count}" for reason, count in read.dropped.items())
    return f"{text} ({reasons})" if reasons else text


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
