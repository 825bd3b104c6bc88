"""From token ids to padded tensors.

Shapes: B pairs, S source positions, T target positions, M target tokens (padding left out).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from mt.corpus.store import TokenStore
from mt.model.device import sent_to
from mt.text.padding import pad_with_end
from mt.text.tokenizer import PAD, START


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Pairs as tensors, ready for a model."""

    source: Tensor
    """(B, S) source tokens and their end symbol."""
    source_mask: Tensor
    """(B, S) True at tokens."""
    target: Tensor
    """(B, T) the start symbol and target tokens: what the decoder is fed."""
    target_mask: Tensor
    """(B, T) True where a target token is to be predicted."""
    labels: Tensor
    """(M) the tokens to predict, end symbols included, where `target_mask` is True."""
    label_indices: Tensor
    """(M) indices of the labels, counted through the rows of `target_mask` (B * T).

    Known beforehand, they spare a GPU the wait that a mask as index costs it.
    """

    @property
    def num_target_tokens(self) -> int:
        """M, what the loss is divided by."""
        return self.labels.numel()

    @property
    def num_pairs(self) -> int:
        """B."""
        return self.source.size(0)

    @property
    def num_padded(self) -> int:
        """B * (S + T), the size that memory follows."""
        return self.num_pairs * (self.source.size(1) + self.target.size(1))

    def to(self, device: torch.device) -> Batch:
        """Copy to `device`; on CUDA the copy runs beside other work."""
        if device.type == "cpu":
            return self

        return Batch(
            source=sent_to(self.source, device),
            source_mask=sent_to(self.source_mask, device),
            target=sent_to(self.target, device),
            target_mask=sent_to(self.target_mask, device),
            labels=sent_to(self.labels, device),
            label_indices=sent_to(self.label_indices, device),
        )


def label_indices_of(mask: Tensor) -> Tensor:
    """Mask (B, T) -> where it is True, counted through its rows (M)."""
    return mask.flatten().nonzero().squeeze(1)


def make_batch(store: TokenStore, indices: Sequence[int], *, multiple: int = 1) -> Batch:
    """Read the pairs at `indices` into a batch; S and T are rounded up to a `multiple`."""
    source, source_mask = pad_with_end(store.sources(indices), multiple=multiple)
    labels, target_mask = pad_with_end(store.targets(indices), multiple=multiple)
    target = labels.roll(1, dims=1)
    target[:, 0] = START
    # What follows an end symbol is padding, and the end symbol itself is never fed.
    target = target.masked_fill(~target_mask, PAD)
    return Batch(
        source=source,
        source_mask=source_mask,
        target=target,
        target_mask=target_mask,
        labels=labels[target_mask],
        label_indices=label_indices_of(target_mask),
    )


def cut(batch: Batch, count: int) -> list[Batch]:
    """At most `count` parts of about as many pairs, in order, each as wide as it needs."""
    bounds = [batch.num_pairs * i // count for i in range(count + 1)]
    num_targets = batch.target_mask.sum(dim=1).tolist()
    parts = []
    for start, end in pairwise(bounds):
        if start == end:
            continue
        source_mask, target_mask = batch.source_mask[start:end], batch.target_mask[start:end]
        source, target = (int(mask.sum(dim=1).max()) for mask in (source_mask, target_mask))
        first = sum(num_targets[:start])
        parts.append(
            Batch(
                source=batch.source[start:end, :source],
                source_mask=source_mask[:, :source],
                target=batch.target[start:end, :target],
                target_mask=target_mask[:, :target],
                labels=batch.labels[first : first + sum(num_targets[start:end])],
                label_indices=label_indices_of(target_mask[:, :target]),
            )
        )
    return parts
