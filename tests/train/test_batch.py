"""Batches as tensors, and their parts."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.train.batch import Batch, cut, make_batch


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    sides = [[4 + (i + j) % 9 for j in range(n)] for i, n in enumerate([2, 3, 9, 1, 5])]
    write_tokens(tmp_path / "p.arrow", [TokenBlock.of(sides, sides)], vocab_size=20)
    return TokenStore(tmp_path / "p.arrow")


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, [[0, 4, 1, 2, 3]]),
        (2, [[0, 4], [1, 2, 3]]),
        (3, [[0], [4, 1], [2, 3]]),
        (9, [[0], [4], [1], [2], [3]]),
    ],
)
def test_parts_are_the_batch_without_needless_padding(
    count: int, expected: list[list[int]], store: TokenStore
) -> None:
    parts = cut(make_batch(store, [0, 4, 1, 2, 3]), count)
    for part, indices in zip(parts, expected, strict=True):
        alone = make_batch(store, indices)
        for field in dataclasses.fields(Batch):
            assert torch.equal(getattr(part, field.name), getattr(alone, field.name))
