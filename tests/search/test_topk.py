"""The largest numbers of rows, in two stages, against one."""

from __future__ import annotations

import math

import pytest
import torch

from mt.search.topk import best_of_rows


@pytest.mark.parametrize("width", [1, 7, 127, 4095, 4096, 4100, 9999, 20_000])
@pytest.mark.parametrize("count", [1, 2, 6, 130])
def test_two_stages_find_what_one_finds(width: int, count: int) -> None:
    generator = torch.Generator().manual_seed(width + count)
    scores = torch.randn(5, width, generator=generator)
    scores[:, ::3] = -math.inf
    scores[0] = -torch.arange(width).float()  # all of the best in neighbouring columns
    scores[1, :] = -math.inf
    count = min(count, width)
    best, index = best_of_rows(scores, count)
    assert torch.equal(best, scores.topk(count, dim=1).values)
    assert torch.equal(scores.gather(1, index), best)
    assert all(len(set(row.tolist())) == count for row in index)
