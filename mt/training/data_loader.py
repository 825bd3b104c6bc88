"""The batches of a run, one after the other: a stream that knows where it stands.

All ranks see one stream that runs on over the ends of epochs, and take turns in it, so that each
has as many batches as the others. How far it is are two numbers of `Progress`, which a checkpoint
holds; they mean the same on every device, whatever was made ahead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mt.config import TrainingConfig
from mt.corpus.sampler import BatchSampler
from mt.corpus.store import TokenStore
from mt.training.batch import Batch, make_batch
from mt.training.distributed import Ranks
from mt.training.out_of_memory import largest
from mt.training.progress import Progress


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """The token stores of a run."""

    train: TokenStore
    dev: TokenStore
    weights: Sequence[float] = ()
    """How often the pairs of each corpus come in an epoch; none: once."""


@dataclass(frozen=True, kw_only=True)
class _Made:
    """A batch, and where the stream stands after it."""

    batch: Batch
    epoch: int
    num_done: int
    """Batches of that epoch up to and with this one, of all ranks together."""


class BatchStream:
    """Gives this rank its batches, from where `progress` stands, and keeps that up to date."""

    def __init__(
        self,
        data: TrainingData,
        config: TrainingConfig,
        progress: Progress,
        *,
        device: torch.device,
        ranks: Ranks,
        multiple: int = 1,
    ) -> None:
        """Lengths of batches are rounded up to a multiple of `multiple`."""
        self._store = data.train
        self._progress = progress
        self._device = device
        self._ranks = ranks
        self._multiple = multiple
        self._prepared: deque[_Made] = deque()
        self._source: Iterator[_Made] = iter(())
        self.sampler = BatchSampler(
            data.train.source_lengths + 1,
            data.train.target_lengths + 1,
            max_tokens=config.batch_tokens,
            seed=config.seed,
            origins=data.train.origins,
            weights=data.weights,
        )
        self._sizes: dict[int, int] = {}  # of epochs, in batches

    @property
    def batches_in_epoch(self) -> int:
        """Batches of the running epoch, of all ranks together."""
        return self._size(self._progress.epoch)

    @property
    def epochs(self) -> float:
        """Passes over the corpus so far."""
        return self._progress.epoch + self._progress.batch / self.batches_in_epoch

    def epochs_after(self, count: int) -> float:
        """Passes over the corpus once each rank has taken `count` batches more."""
        epoch, batch = self._progress.epoch, self._progress.batch + count * self._ranks.size
        while batch > self._size(epoch):
            batch -= self._size(epoch)
            epoch += 1
        return epoch + batch / self._size(epoch)

    def epoch(self, number: int) -> list[NDArray[np.int64]]:
        """The pairs of the batches of an epoch, of all ranks, in their order."""
        return self.sampler.epoch(number)

    def largest(self) -> Batch:
        """The batch of most padded tokens of the running epoch; it will come again in its turn."""
        pairs = largest(self.epoch(self._progress.epoch), self._store).tolist()
        return make_batch(self._store, pairs, multiple=self._multiple).to(self._device)

    def __iter__(self) -> Iterator[Batch]:
        """Batches without end."""
        progress = self._progress
        self._prepared.clear()
        self._source = self._make(progress.epoch, progress.batch)
        while True:
            made = self._prepared.popleft() if self._prepared else next(self._source)
            progress.epoch, progress.batch = made.epoch, made.num_done
            yield made.batch

    def prepare(self, count: int) -> None:
        """Make the next `count` batches now, while a GPU computes; `progress` stays as it is."""
        while len(self._prepared) < count:
            self._prepared.append(next(self._source))

    def _make(self, epoch: int, start: int) -> Iterator[_Made]:
        """The batches of this rank from batch `start` of an epoch on, without end."""
        group: list[NDArray[np.int64]] = []
        while True:
            batches = self.epoch(epoch)
            self._sizes[epoch] = len(batches)
            for number, indices in enumerate(batches[start:], start=start + 1):
                group.append(indices)
                if len(group) == self._ranks.size:
                    mine = group[self._ranks.rank].tolist()
                    batch = make_batch(self._store, mine, multiple=self._multiple)
                    yield _Made(batch=batch.to(self._device), epoch=epoch, num_done=number)
                    group = []
            epoch, start = epoch + 1, 0

    def _size(self, epoch: int) -> int:
        """Batches of an epoch, of all ranks together."""
        if epoch not in self._sizes:
            self._sizes[epoch] = len(self.epoch(epoch))
        return self._sizes[epoch]
