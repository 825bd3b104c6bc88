"""The batches of a run, one after the other: a stream that knows where it stands.

All ranks see one stream that runs on over the ends of epochs, and take turns in it, so that each
has as many batches as the others. The place in it is two numbers of `Progress`, which a checkpoint
holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mt.config import TrainingConfig
from mt.corpus.sampler import BatchSampler
from mt.corpus.store import TokenStore
from mt.train.batch import Batch, make_batch
from mt.train.checkpoint import Progress
from mt.train.distributed import Ranks
from mt.train.memory import largest_first


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """The token stores of a run."""

    train: TokenStore
    dev: TokenStore
    weights: Sequence[float] = ()
    """How often the pairs of each corpus come in an epoch; none: once."""


class BatchStream:
    """Gives this rank its batches, from where `progress` stands, and marks the place."""

    def __init__(
        self,
        data: TrainingData,
        config: TrainingConfig,
        progress: Progress,
        *,
        device: torch.device,
        ranks: Ranks,
    ) -> None:
        self._store = data.train
        self._progress = progress
        self._device = device
        self._ranks = ranks
        self.sampler = BatchSampler(
            data.train.source_lengths + 1,
            data.train.target_lengths + 1,
            max_tokens=config.batch_tokens,
            seed=config.seed,
            origins=data.train.origins,
            weights=data.weights,
        )
        self.batches_in_epoch = len(self.sampler.epoch(0))
        """Batches of the running epoch, of all ranks together."""

    @property
    def epochs(self) -> float:
        """Passes over the corpus so far."""
        return self._progress.epoch + self._progress.batch / self.batches_in_epoch

    def __iter__(self) -> Iterator[Batch]:
        """Batches without end."""
        progress = self._progress
        group: list[NDArray[np.int64]] = []
        while True:
            batches = self.sampler.epoch(progress.epoch)
            if self._device.type == "cuda":
                batches = largest_first(batches, self._store)
            self.batches_in_epoch = len(batches)
            for indices in batches[progress.batch :]:
                progress.batch += 1
                group.append(indices)
                if len(group) == self._ranks.size:
                    mine = group[self._ranks.rank].tolist()
                    yield make_batch(self._store, mine).to(self._device)
                    group = []
            progress.epoch += 1
            progress.batch = 0
