"""Updates that do not fit in the memory of a GPU: the same update in smaller pieces.

It knows batches and their sizes; how a batch becomes a gradient is given to it as a callable.

Shapes: B pairs, S source positions, T target positions, M target tokens (padding left out).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mt.corpus.store import TokenStore
from mt.errors import TrainingError
from mt.events import Listener, Notice
from mt.training.batch import Batch, cut
from mt.training.progress import Progress

SMALLER = "Take a smaller --preset, or free the device of other programs"
"""What to do where a model does not fit in memory."""
_MOST_EMPTY = 20
"""Updates in a row without a pair that fits that end the run."""


@dataclass(frozen=True, kw_only=True)
class Accumulated:
    """What the batches of an update came to; their gradients are in the parameters."""

    loss: Tensor | None
    """() the sum over their target tokens; None if no pair was left."""
    num_tokens: int
    """Target tokens, what the gradient was divided by."""


@dataclass(kw_only=True)
class MemoryGuard:
    """Computes gradients batch by batch, and halves what runs out of memory.

    The loss is a sum over target tokens, divided once by the tokens of the whole update, so the
    pieces give the gradient of the whole up to rounding and the draw of dropout.
    """

    listener: Listener
    progress: Progress
    """Where skipped pairs are counted."""
    _limit: int | None = None
    """Padded tokens of the smallest batch that did not fit; such are halved before they fail."""
    _num_empty: int = 0
    """Updates in a row of which no pair was left."""

    def accumulate(
        self,
        batches: Sequence[Batch],
        *,
        drop_gradient: Callable[[], None],
        add_gradient: Callable[[Batch, int], Tensor],
    ) -> Accumulated:
        """Add up the gradient of `batches`, from nothing.

        `add_gradient(batch, n)` adds the gradient of the loss of `batch` divided by `n` and
        returns that loss, not divided. Whenever it runs out of memory all begins anew, with the
        batch at fault in two halves; a single pair at fault is left out, with a warning.

        Raises TrainingError when for many updates in a row no pair was left.
        """
        pieces = [piece for batch in batches for piece in self._cut(batch)]
        while True:
            drop_gradient()
            num_tokens = sum(piece.num_target_tokens for piece in pieces)
            total: Tensor | None = None
            failed: int | None = None
            for i, piece in enumerate(pieces):
                try:
                    loss = add_gradient(piece, num_tokens)
                except torch.OutOfMemoryError:
                    failed = i  # the error holds the tensors of its frames until this block ends
                    break
                total = loss if total is None else total + loss
            if failed is None:
                self._count_empty(is_empty=not pieces)
                return Accumulated(loss=total, num_tokens=num_tokens)
            drop_gradient()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            pieces[failed : failed + 1] = self._smaller(pieces[failed])

    def _count_empty(self, *, is_empty: bool) -> None:
        self._num_empty = self._num_empty + 1 if is_empty else 0
        if self._num_empty >= _MOST_EMPTY:
            raise TrainingError(
                f"not one pair of {_MOST_EMPTY} updates in a row fits in the memory of the device",
                hint=SMALLER,
            )

    def _cut(self, batch: Batch) -> list[Batch]:
        """The batch in pieces below what is known not to fit."""
        if self._limit is None or batch.num_pairs == 1 or batch.num_padded < self._limit:
            return [batch]
        return [piece for half in cut(batch, 2) for piece in self._cut(half)]

    def _smaller(self, batch: Batch) -> list[Batch]:
        """What replaces a batch that did not fit."""
        rows = batch.num_pairs
        source, target = batch.source.size(1), batch.target.size(1)
        if rows == 1:
            self.progress.num_skipped_pairs += 1
            self.listener(
                Notice(
                    text=f"a pair of {source} source and {target} target tokens does not fit in "
                    "the memory of the device: it is skipped (corpus.max_length leaves such out)",
                    is_warning=True,
                )
            )
            return []
        if self._limit is None:
            self.listener(
                Notice(
                    text=f"a batch of {rows} pairs of up to {source} source and {target} target "
                    "tokens does not fit in the memory of the device: from here on such are "
                    "computed in halves, for the same updates (--batch-tokens makes them smaller)"
                )
            )
        self._limit = min(batch.num_padded, self._limit or batch.num_padded)
        return cut(batch, 2)


def largest(batches: Sequence[NDArray[np.int64]], store: TokenStore) -> NDArray[np.int64]:
    """The batch of most padded tokens."""

    def size(indices: NDArray[np.int64]) -> int:
        source, target = store.source_lengths[indices].max(), store.target_lengths[indices].max()
        return len(indices) * (int(source) + int(target) + 2)

    return max(batches, key=size)
