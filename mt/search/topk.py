"""The largest numbers of each row, found in two exact stages.

`torch.topk` over a beam's vocabulary is among the dearest operators of a step. A number among the
C largest of a row lies in one of the C groups with the largest maxima; only those are looked at.
"""

from __future__ import annotations

import torch
from torch import Tensor

_GROUPS = 128
_LEAST = 32  # numbers of a group, below which one stage is as fast


def best_of_rows(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row of scores (B, M), best first, and where they stand.

    As `scores.topk(count)`, except for which of equal numbers is taken.
    """
    size, width = scores.shape
    depth = width // _GROUPS
    if depth < _LEAST or count >= _GROUPS:
        return scores.topk(count, dim=1)
    # Group g holds the columns g, g + 128, g + 256, …; what is over stands by itself.
    even = depth * _GROUPS
    grouped = scores[:, :even].view(size, depth, _GROUPS)
    groups = grouped.amax(dim=1).topk(count, dim=1).indices  # (B, C)
    steps = torch.arange(depth, device=scores.device) * _GROUPS
    columns = (groups[:, :, None] + steps).flatten(1)  # (B, C * depth)
    if even < width:
        over = torch.arange(even, width, device=scores.device).expand(size, -1)
        columns = torch.cat((columns, over), dim=1)
    best, index = scores.gather(1, columns).topk(count, dim=1)
    return best, columns.gather(1, index)
