"""Holding out by a hash: stable under order and additions, and of the size asked for."""

from __future__ import annotations

from mt.corpus.split import held_out_threshold, position


def test_positions_are_even_and_follow_from_the_text_alone() -> None:
    values = [position(f"sentence {i}") for i in range(20_000)]
    assert values == [position(f"sentence {i}") for i in range(20_000)]
    for low in range(10):
        share = sum(low / 10 <= v < (low + 1) / 10 for v in values) / len(values)
        assert abs(share - 0.1) < 0.01


def test_the_share_held_out_is_what_was_asked_and_at_most_a_tenth() -> None:
    assert held_out_threshold(100_000, 1000) == 0.01
    assert held_out_threshold(500, 1000) == 0.1
