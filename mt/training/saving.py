"""When the state of a run is saved, and when it is not worth it: training that has diverged.

How it is written is the matter of `mt.training.checkpoint`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import torch

from mt.errors import TrainingError
from mt.training.agreement import Agreement
from mt.training.checkpoint import Parts, random_states, save_checkpoint, save_progress
from mt.training.sharding import all_finite
from mt.training.validation import DIVERGED_LOSS

_LOWER_RATE = "Lower the rate (--set training.peak_rate=…) or use --precision float32"
_SECONDS_BETWEEN_SAVES = 50.0  # with an update and the save itself a kill costs a minute at most


@dataclass(kw_only=True)
class Saver:
    """Saves a run on all ranks together, and ends one whose model is none any more."""

    folder: Path
    """Where checkpoints go."""
    parts: Parts
    device: torch.device
    agreement: Agreement
    _num_diverged: int = field(default=0, init=False)
    """Updates in a row, up to the last one, with a loss that no model has."""
    _saved_update: int | None = field(default=None, init=False)
    _saved_at: float = field(default=0.0, init=False)  # training seconds

    def resume(self, *, is_newest: bool = True) -> None:
        """Note that what stands now was read from a checkpoint, from the newest or another."""
        self._saved_update = self.parts.progress.update if is_newest else None
        self._saved_at = self.parts.progress.seconds

    @property
    def is_sound(self) -> bool:
        """Whether what stands now is worth saving: the last loss was one that a model has."""
        return not self._num_diverged

    @property
    def is_due(self) -> bool:
        """Whether the last save is so long ago that it is time for one."""
        is_time = self.parts.progress.seconds - self._saved_at >= _SECONDS_BETWEEN_SAVES
        return is_time and self.is_sound

    def save(self) -> None:
        """Write a checkpoint with the random states of all ranks.

        Raises TrainingError, and leaves the last one, where weights are not finite or the loss of
        the last update was absurd.
        """
        update, ranks = self.parts.progress.update, self.agreement.ranks
        if self._saved_update == update:  # what came since is no more than a validation
            if ranks.is_first:
                save_progress(self.folder, self.parts)
            return
        if self._num_diverged:  # what was saved before is worth more
            raise self.diverged("its loss is that of no model")
        tensors = [*self.parts.model.parameters(), *self.parts.average.tensors()]
        if ranks.summed(not all_finite(tensors))[0]:
            raise TrainingError(
                f"update {update}: the weights are no longer finite numbers{self._kept()}",
                hint=_LOWER_RATE,
            )
        states = ranks.gathered(random_states(self.device, self.parts.generators))
        save_checkpoint(self.folder, self.parts, states, writes=ranks.is_first)
        self._saved_update = update
        self.agreement.reach()
        self._saved_at = self.parts.progress.seconds

    def count_diverged(self, loss: float, *, limit: int) -> None:
        """Note the loss of an update, the same on all ranks; `limit` absurd ones end the run."""
        self._num_diverged = 0 if loss < DIVERGED_LOSS else self._num_diverged + 1
        if self._num_diverged >= limit:
            raise self.diverged(f"the loss is {loss:g}")

    def count_nonfinite(self, *, limit: int) -> None:
        """Note an update that was skipped; `limit` in a row save the state and end the run."""
        progress = self.parts.progress
        progress.num_skipped += 1
        progress.num_nonfinite += 1
        if progress.num_nonfinite >= limit:
            self.save()
            raise TrainingError(
                f"update {progress.update}: the gradient was non-finite "
                f"{progress.num_nonfinite} times in a row",
                hint=f"{_LOWER_RATE}; the last good weights are kept",
            )

    def diverged(self, what: str) -> TrainingError:
        """The error that ends a run of which `what` is true."""
        return TrainingError(
            f"update {self.parts.progress.update}: training has diverged, {what}{self._kept()}",
            hint=_LOWER_RATE,
        )

    def _kept(self) -> str:
        """What is said of the last state when training has diverged."""
        if self._saved_update is None:
            return ""
        return f"; the state of update {self._saved_update} is kept"
