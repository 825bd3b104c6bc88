"""A process that saves without end and is killed again and again, for tests/training/test_kill.py.

`python -m tests.training.saving FOLDER random COUNT SEED` kills at random moments;
`python -m tests.training.saving FOLDER steps` before each single call that changes the disk. It
loads the folder after each kill and prints how many kills there were; whatever does not load is an
exception. Each kill needs a process of its own: they are forked, since loading torch takes
seconds.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from mt.config import TrainingConfig
from mt.model_folder.folder import load_model, save_weights
from mt.training.best import BestTracker
from mt.training.checkpoint import (
    Parts,
    list_checkpoints,
    load_checkpoint,
    save_checkpoint,
    save_progress,
)
from mt.training.optimizer import make_optimizer
from mt.training.progress import Progress
from mt.training.weight_average import WeightAverage

Report = Callable[[int], None]
"""Is told each update that was saved."""
_CALLS = ("rename", "replace", "unlink", "rmdir", "mkdir", "fsync")


class Saver:
    """A model folder and the parts of a run; every weight is the number of the update."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = load_model(folder).model
        self.parts = Parts(
            model=self.model,
            average=WeightAverage(self.model, 0.5),
            optimizer=make_optimizer(self.model, (), TrainingConfig()),
            progress=Progress(),
            tracker=BestTracker(metric="bleu", patience=0),
        )

    @torch.no_grad()
    def save(self, update: int) -> None:
        """Save best weights and state as a trainer does."""
        for tensor in (*self.model.parameters(), *self.parts.average.tensors()):
            tensor.fill_(update)
        self.parts.progress.update = update
        save_checkpoint(self.folder / "training", self.parts)
        save_weights(self.folder, self.model)
        save_progress(self.folder / "training", self.parts)

    def check(self, at_least: int) -> int:
        """Load all; returns the update of the state, which must be whole and not be older."""
        load_checkpoint(self.folder / "training", self.parts)
        update = self.parts.progress.update
        assert update >= at_least, (update, at_least)
        held = (*self.model.parameters(), *self.parts.average.tensors())
        assert all(bool((tensor == update).all()) for tensor in held)
        load_model(self.folder)
        weights = load_file(self.folder / "model.safetensors").values()
        (best,) = {float(value) for tensor in weights for value in tensor.flatten()}
        assert best in (update - 1, update), (best, update)
        hidden = [path.name for path in (self.folder / "training").glob(".*")]
        assert not hidden, hidden
        assert len(list_checkpoints(self.folder / "training")) <= 2
        return update


def killed(work: Callable[[Report], None], *, after: float | None) -> tuple[bool, int]:
    """Fork, work, be killed after `after` seconds if not before.

    `work` is given a function to report the last update that was saved. Returns whether a kill
    came, and that update (or -1).
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        work(lambda update: _report(writing, update))
        os._exit(0)
    os.close(writing)
    if after is not None:
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        reports = pipe.read().split()
    _, status = os.waitpid(pid, 0)
    was_killed = os.WIFSIGNALED(status)
    assert was_killed or status == 0
    return was_killed, int(reports[-1]) if reports else -1


def _report(descriptor: int, update: int) -> None:
    os.write(descriptor, b"%d\n" % update)


def kill_at_random(saver: Saver, count: int, seed: int) -> int:
    """Kill a loop of saves `count` times; half of the saves are of an update saved before."""
    draw = random.Random(seed)
    update = saver.check(0)
    for _ in range(count):
        _, saved = killed(partial(_save_on, saver, update), after=draw.uniform(0.0, 0.15))
        update = saver.check(max(saved, update))
    return count


def _save_on(saver: Saver, update: int, report: Report) -> None:
    for save in range(10**9):
        saver.save(update + save // 2)
        report(update + save // 2)


def kill_at_each_step(saver: Saver) -> int:
    """Save an update anew and one after it, killed before the first call, the second, ..."""
    for count in range(10_000):
        update = saver.check(0)
        was_killed, saved = killed(partial(_save_twice, saver, update, count), after=None)
        saver.check(max(saved, update))
        if not was_killed:
            return count
    raise AssertionError("saving does not end")


def _save_twice(saver: Saver, update: int, count: int, report: Report) -> None:
    die_before(count)
    for each in (update, update + 1):
        saver.save(each)
        report(each)


def die_before(count: int) -> None:
    """Kill this process before its call number `count` of those that change the disk."""
    left = [count]

    def deadly(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return call(*arguments, **options)

        return wrapped

    for name in _CALLS:
        setattr(os, name, deadly(getattr(os, name)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    saver = Saver(Path(sys.argv[1]))
    saver.save(1)
    if sys.argv[2] == "random":
        print(kill_at_random(saver, int(sys.argv[3]), int(sys.argv[4])))
    else:
        print(kill_at_each_step(saver))
