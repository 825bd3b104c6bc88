"""Token ids of several texts as one padded tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mt.text.tokenizer import END, PAD


def pad_with_end(
    sequences: Sequence[Sequence[int] | NDArray[np.int32]], *, multiple: int = 1
) -> tuple[Tensor, Tensor]:
    """Token ids of B texts -> ids (B, S), an end symbol after each, and a mask (B, S).

    The mask is True at tokens and end symbols and False at padding. S is the length of the
    longest, rounded up to a multiple of `multiple`.
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    width = -(-(int(lengths.max()) + 1) // multiple) * multiple
    ids = np.full((len(sequences), width), PAD, dtype=np.int64)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = sequence
    ids[np.arange(len(sequences)), lengths] = END
    return torch.from_numpy(ids), torch.from_numpy(np.arange(width) <= lengths[:, None])
