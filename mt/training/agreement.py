"""What all ranks of a run know alike: the time, and whether it is to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mt.training.distributed import Ranks
from mt.training.progress import Progress


@dataclass(kw_only=True)
class Agreement:
    """The clock of the first rank, and a stop that any rank may ask for."""

    ranks: Ranks
    progress: Progress
    """Its `seconds` are the time since the first update, as all ranks last heard it."""
    should_stop: Callable[[], bool]
    """Whether this rank is asked to stop."""
    is_stopped: bool = False
    """Whether a rank was."""
    _started: float = field(default_factory=time.monotonic, init=False)
    _seconds_before: float = field(default=0.0, init=False)

    def start(self) -> None:
        """Count time from now on, beside what was counted before."""
        self._started = time.monotonic()

    def resume(self) -> None:
        """Take over the time of a checkpoint, and go on from it."""
        self._seconds_before = self.progress.seconds
        self.start()

    def seconds(self) -> float:
        """Time since the first update, by the clock of this rank."""
        return self._seconds_before + time.monotonic() - self._started

    def reach(self, loss: float = 0.0) -> float:
        """Let all ranks know the time, and whether one is to stop; gives the sum of the losses."""
        seconds = self.seconds() if self.ranks.is_first else 0.0
        total, seconds, num_stopped = self.ranks.summed(loss, seconds, self.should_stop())
        self.progress.seconds = seconds
        self.is_stopped = num_stopped > 0
        return total
