"""Sentences that come and go: whatever the groups and the room, the results are the same."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from mt.config import SearchConfig
from mt.search.scheduler import Group, beam_search, search_groups
from mt.search.sentence import NO_DEMANDS
from tests.search.table_model import SYMBOLS, TableModel, TableState, random_table, sources


def _group(keys: Sequence[int], source: Tensor, mask: Tensor) -> Group:
    demands = [NO_DEMANDS] * len(keys)
    return Group(keys=keys, source=source, source_mask=mask, demands=demands)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("capacity", [1, 3, 7, 40])
def test_groups_and_room_change_no_result(seed: int, beam: int, capacity: int) -> None:
    count = 23
    model = random_table(sentences=count, length=6, vocabulary=5, seed=seed)
    config = SearchConfig(beam=beam, n_best=beam, max_length=7)
    source, mask = sources(count)
    draw = random.Random(seed)
    keys = draw.sample(range(count), count)
    groups = []
    while keys:
        size = draw.randint(1, 6)
        taken, keys = keys[:size], keys[size:]
        groups.append(_group(taken, source[taken], mask[taken]))
    found = dict(search_groups(model, groups, symbols=SYMBOLS, config=config, capacity=capacity))
    assert sorted(found) == list(range(count))
    for key in range(count):
        (alone,) = beam_search(model, source[[key]], mask[[key]], symbols=SYMBOLS, config=config)
        assert found[key].hypotheses == alone.hypotheses


class Counted(TableModel):
    """Notes how many sentences each step has."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__(logits)
        self.sizes: list[int] = []

    def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        self.sizes.append(len(set(state.sentence.tolist())))
        return super().step(tokens, state)


def test_waiting_sentences_take_the_rows_of_those_that_are_done() -> None:
    model = Counted(random_table(sentences=60, length=6, vocabulary=5, seed=1).logits)
    source, mask = sources(60)
    config = SearchConfig(beam=2, max_length=30)
    steps = {}
    for size in (2, 8):  # groups of 8 have room only when all are done
        groups = [
            _group(range(i, i + size), source[i : i + size], mask[:size])
            for i in range(0, 56, size)
        ]
        model.sizes.clear()
        found = dict(search_groups(model, groups, symbols=SYMBOLS, config=config, capacity=8))
        assert len(found) == 56
        assert max(model.sizes) <= 10, "8, and those that are done until they are a quarter"
        later = [s for s in model.sizes if s > 2]
        steps[size] = sum(later) / len(later)
    assert steps[2] > steps[8]


def test_the_room_in_tokens_is_kept() -> None:
    model = Counted(random_table(sentences=30, length=6, vocabulary=5, seed=1).logits)
    source, _ = sources(30)
    source = source.repeat(1, 4)
    mask = torch.ones(30, 4, dtype=torch.bool)
    groups = [_group([i, i + 1], source[i : i + 2], mask[:2]) for i in range(0, 30, 2)]
    config = SearchConfig(beam=1, max_length=5)
    found = dict(
        search_groups(model, groups, symbols=SYMBOLS, config=config, capacity=30, max_tokens=6 * 4)
    )
    assert len(found) == 30
    assert 4 < max(model.sizes) <= 6
