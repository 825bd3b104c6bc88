"""Holding out by a hash: stable under order and additions, and of the size asked for."""

from __future__ import annotations

import random

import numpy as np

from mt.corpus.keys import KeyTable, keys_of
from mt.corpus.split import choose_held_out
from mt.text.normalise import normalise


def held_out_of(sources: list[str], wanted: int) -> list[str]:
    table = KeyTable()
    for source in sources:
        table.append(keys_of(source, "t", normalise))
    chosen = choose_held_out(table, np.ones(len(sources), np.bool_), wanted)
    return [source for source, is_held_out in zip(sources, chosen, strict=True) if is_held_out]


SOURCES = [f"sentence {a}{b}{c}" for a in "abcdefghijk" for b in "lmnopqrstuv" for c in "wxyzäöü"]


def test_order_changes_nothing_and_additions_take_none_away_but_by_the_share() -> None:
    chosen = held_out_of(SOURCES, 50)
    shuffled = random.Random(1).sample(SOURCES, len(SOURCES))
    assert set(held_out_of(shuffled, 50)) == set(chosen)
    more = [*SOURCES, *(f"addition {source}" for source in SOURCES)]
    assert set(chosen) <= set(held_out_of(more, 100))


def test_the_number_is_about_what_was_asked_at_most_a_tenth_and_at_least_one() -> None:
    assert 30 < len(held_out_of(SOURCES, 50)) < 75
    assert len(held_out_of(SOURCES, 10_000)) < 0.13 * len(SOURCES)
    assert len(held_out_of(SOURCES[:3], 1)) == 1


def test_equal_sources_go_the_same_way() -> None:
    chosen = held_out_of([*SOURCES, *SOURCES], 100)
    assert all(chosen.count(source) == 2 for source in chosen)


def test_only_candidates_are_chosen() -> None:
    table = KeyTable()
    for source in SOURCES:
        table.append(keys_of(source, "t", normalise))
    candidates = np.arange(len(SOURCES)) % 2 == 0
    assert not (choose_held_out(table, candidates, 50) & ~candidates).any()
    assert not choose_held_out(table, np.zeros(len(SOURCES), np.bool_), 50).any()
