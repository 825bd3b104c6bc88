"""Work that is killed again and again, each time in a process of its own, and goes on.

`python -m tests.synthetic.killed random MODEL MONO OUTPUT COUNT SEED` kills `mt backtranslate` at
COUNT random moments, lets it end, and prints how large the journal was after each kill;
`python -m tests.synthetic.killed steps MONO OUTPUT` kills before each single call that changes the
disk, and prints how many kills there were. Forks, since loading torch takes seconds.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from mt.events import ignore
from mt.synthetic import make
from mt.tasks.backtranslate import backtranslate
from mt.tasks.requests import Decoding
from mt.tasks.synthetic_requests import BacktranslateRequest
from tests.synthetic.shouting import work
from tests.training.saving import die_before

_BLOCK = 8  # lines, so that there are many blocks


def killed(run: Callable[[], object], *, after: float | None = None) -> bool:
    """Run in a fork, and kill it after some seconds; whether a kill came before its end."""
    pid = os.fork()
    if pid == 0:
        run()
        os._exit(0)
    if after is not None:
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or status == 0, status
    return os.WIFSIGNALED(status)


def at_random(model: str, mono: str, output: str, count: str, seed: str) -> None:
    """Kill COUNT times, unless the work ends before."""
    decoding = Decoding(device="cpu", threads=1)
    asked = BacktranslateRequest(model=model, mono=[mono], output=output, decoding=decoding)
    draw = random.Random(int(seed))
    journal = Path(f"{output}.work") / "journal"
    sizes: list[int] = []
    while len(sizes) < int(count) and killed(
        lambda: backtranslate(asked, ignore), after=draw.uniform(0.05, 0.6)
    ):
        sizes.append(journal.stat().st_size if journal.exists() else 0)
    backtranslate(asked, ignore)
    print(*sizes)


def at_each_step(mono: str, output: str) -> None:
    """Begin anew, and kill before the first call, the second, …; then let it end each time."""
    path = Path(output)
    asked = work(path, Path(mono))
    make.make_pairs(asked, ignore)
    whole = path.read_bytes()
    summary = Path(f"{output}.summary.json")
    for count in range(10_000):
        path.unlink()
        summary.unlink()

        def run(count: int = count) -> None:
            die_before(count)
            make.make_pairs(asked, ignore)

        was_killed = killed(run)
        make.make_pairs(asked, ignore)
        assert path.read_bytes() == whole
        found = sorted(each.name for each in path.parent.iterdir() if each.suffix != ".tmp")
        assert found == sorted([Path(mono).name, path.name, summary.name]), found
        if not was_killed:
            print(count)
            return
    raise AssertionError("the work does not end")


if __name__ == "__main__":
    torch.set_num_threads(1)
    make._BLOCK = _BLOCK
    if sys.argv[1] == "random":
        at_random(*sys.argv[2:])
    else:
        at_each_step(*sys.argv[2:])
