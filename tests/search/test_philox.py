"""Philox against the known answers of its authors, and the numbers made of its words."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from mt.search.sampling.philox import gumbels, key_of, philox

_ALL = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((_ALL,) * 4, (_ALL,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers_of_random123(
    counter: tuple[int, ...], key: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    """The vectors `philox4x32 10` of Random123's kat_vectors."""
    c0, c1, c2, c3 = (torch.tensor(word) for word in counter)
    words = philox((c0, c1, c2, c3), (torch.tensor(key[0]), torch.tensor(key[1])))
    assert tuple(int(word) for word in words) == expected


def test_numbers_are_of_the_gumbel_distribution() -> None:
    """Their distribution function is exp(-exp(-x)): Kolmogorov's distance at the 1 % level."""
    count = 200_000
    keys = torch.tensor([key_of(1, (2,))])
    found = gumbels(keys, torch.tensor([[0, 0, 0]]), count)[0].double().sort().values.numpy()
    expected = np.exp(-np.exp(-found))
    distance = np.abs(np.arange(1, count + 1) / count - expected).max()
    assert distance < 1.63 / math.sqrt(count)


def test_numbers_of_a_row_depend_on_its_key_and_counter_alone() -> None:
    keys = torch.tensor([key_of(1, (line,)) for line in range(5)])
    counters = torch.arange(15).view(5, 3)
    together = gumbels(keys, counters, 30)
    for row in range(5):
        alone = gumbels(keys[row : row + 1], counters[row : row + 1], 11)
        torch.testing.assert_close(alone[0], together[row, :11], rtol=0, atol=1e-5)
    assert len(torch.unique(together)) == together.numel()


def test_keys_differ_for_each_seed_and_stream() -> None:
    keys = {key_of(seed, stream) for seed in range(50) for stream in [(), (1,), (11,), (1, 1)]}
    assert len(keys) == 200
