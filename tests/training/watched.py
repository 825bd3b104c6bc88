"""A rank that waits for others or leaves them, for test_rank_watch.py.

`python -m tests.training.watched FOLDER WHAT…`, with a word for each rank: what it does when all
have met. FOLDER is given the process id of what outlives its rank.
"""

from __future__ import annotations

import dataclasses
import math
import os
import signal
import sys
import time
from pathlib import Path

from mt.errors import MtError
from mt.training import rank_watch
from mt.training.distributed import Ranks, joined_ranks
from tests.training.ranks import PLAN, Run

LONG = 600.0  # seconds, longer than any test


def leave_a_child(folder: Path) -> None:
    """Leave a process behind that holds open what this one had open, and die."""
    child = os.fork()
    if not child:
        time.sleep(LONG)
        os._exit(0)
    (folder / "child").write_text(str(child))
    os.kill(os.getpid(), signal.SIGKILL)


def act(what: str, folder: Path, ranks: Ranks) -> None:
    match what:
        case "dies":
            leave_a_child(folder)
        case "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "gathers":
            ranks.gathered(0)
        case "computes":  # as one that waits for its GPU
            time.sleep(LONG)
        case "trains" | "trains badly":
            config = dataclasses.replace(PLAN, max_updates=None, max_nonfinite=3)
            pairs = folder / "pairs.arrow"
            run = Run(folder / f"rank-{ranks.rank}", pairs, config=config, ranks=ranks)
            if what == "trains badly":
                objective = run.trainer.gradients.objective
                objective.register_forward_hook(lambda module, given, loss: loss * math.nan)
            run.trainer.run()
        case "ends":
            ranks.meet()


def run(folder: Path, words: list[str]) -> int:
    ranks = Ranks.of_environment()
    try:
        with joined_ranks(ranks):
            ranks.meet()
            act(words[ranks.rank], folder, ranks)
    except MtError as error:
        print(f"mt: error: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    return 0


if __name__ == "__main__":
    rank_watch._GRACE = 1.0
    status = run(Path(sys.argv[1]), sys.argv[2:])
    sys.stderr.flush()
    os._exit(status)
