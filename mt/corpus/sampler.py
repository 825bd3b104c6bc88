"""Which pairs make which batch: buckets of like lengths under a token budget, in random order.

The batches of an epoch depend only on the seed and the number of the epoch, so that two numbers
are enough to resume a run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mt.errors import ConfigError


class BatchSampler:
    """Cuts a corpus into batches of at most `max_tokens` padded tokens on either side.

    A batch of n pairs costs n times its longest side. One pair longer than the budget makes a
    batch of its own.
    """

    def __init__(
        self,
        source_lengths: NDArray[np.int32],
        target_lengths: NDArray[np.int32],
        *,
        max_tokens: int,
        seed: int,
        origins: NDArray[np.uint16] | None = None,
        weights: Sequence[float] = (),
    ) -> None:
        """With `weights`, the pairs of corpus `o` (by `origins`) come weights[o] times an epoch.

        The whole part of a weight is so many times each pair; of the rest, each epoch draws its
        own share without repeating one.
        """
        if len(source_lengths) != len(target_lengths):
            raise ValueError("both sides must have the same number of lengths")
        if not len(source_lengths):
            raise ValueError("there are no pairs to sample from")
        if max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, but is {max_tokens}")
        self._source = source_lengths
        self._target = target_lengths
        self._max_tokens = max_tokens
        self._seed = seed
        self._rows = (
            [(np.flatnonzero(origins == o), weight) for o, weight in enumerate(weights)]
            if weights and origins is not None
            else None
        )
        if not len(self._shuffled(np.random.default_rng(0))):
            raise ConfigError("corpus.weights are so small that an epoch has no pair")

    def epoch(self, number: int) -> list[NDArray[np.int64]]:
        """The batches of epoch `number`, from 0: arrays of pair indices, in random order.

        Pairs of equal lengths are shuffled among themselves, then the batches.
        """
        random = np.random.default_rng((self._seed, number))
        shuffled = self._shuffled(random)
        # Sort by target length, then source length; lexsort is stable, ties stay shuffled.
        order = shuffled[np.lexsort((self._source[shuffled], self._target[shuffled]))]
        longest = np.maximum(self._source, self._target)[order]
        batches = []
        start = 0
        width = 0
        for end, length in enumerate(longest.tolist()):
            grown = max(width, length)
            if end > start and grown * (end - start + 1) > self._max_tokens:
                batches.append(order[start:end])
                start, grown = end, length
            width = grown
        batches.append(order[start:])
        return [batches[i] for i in random.permutation(len(batches))]

    def _shuffled(self, random: np.random.Generator) -> NDArray[np.int64]:
        """The pairs of an epoch in random order."""
        if self._rows is None:
            return random.permutation(len(self._source))
        parts = []
        for rows, weight in self._rows:
            parts += [rows] * int(weight)
            parts.append(random.permutation(rows)[: round(weight % 1 * len(rows))])
        drawn: NDArray[np.int64] = random.permutation(np.concatenate(parts))
        return drawn
