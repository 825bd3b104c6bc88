"""Batches as tensors, and their parts."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

import mt
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.training.batch import Batch, cut, make_batch


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


def test_only_a_pinned_copy_to_cuda_does_not_wait(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told by the arguments of each copy, on whatever device: no GPU is here."""
    copies: list[tuple[str, bool, bool]] = []
    pinned: set[int] = set()

    def pin(x: Tensor) -> Tensor:
        copied = x.clone()
        pinned.add(copied.data_ptr())
        return copied

    def to(x: Tensor, device: torch.device, *, non_blocking: bool = False) -> Tensor:
        copies.append((device.type, x.data_ptr() in pinned, non_blocking))
        return x

    monkeypatch.setattr(Tensor, "pin_memory", pin)
    monkeypatch.setattr(Tensor, "to", to)
    batch = make_batch(store, [0, 4])
    fields = len(dataclasses.fields(Batch))
    for name, may_go_on in (("cuda", True), ("mps", False), ("xpu", False)):
        copies.clear()
        batch.to(torch.device(name))
        assert copies == [(name, may_go_on, may_go_on)] * fields


def test_no_copy_but_one_is_told_not_to_wait() -> None:
    """Every other copy of the package waits, so that its source may be changed after it."""
    package = Path(mt.__file__).parent
    told = [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob("*.py"))
        for _ in re.findall(r"\bnon_blocking\s*=", path.read_text("utf-8"))
    ]
    assert told == ["model/device.py"]
