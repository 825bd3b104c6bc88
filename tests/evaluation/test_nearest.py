"""The nearest source, against its definition written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.evaluation.nearest import nearest

SENTENCES = st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=6)


def cosine(query: list[int], source: list[int], sources: list[list[int]]) -> float:
    def weight(token: int) -> float:
        return math.log1p(len(sources) / sum(token in each for each in sources)) ** 2

    length = math.sqrt(sum(map(weight, set(source))))
    return sum(map(weight, set(query) & set(source))) / (length or 1.0)


@settings(deadline=None)
@given(SENTENCES, SENTENCES)
def test_it_is_the_likeliest(queries: list[list[int]], sources: list[list[int]]) -> None:
    found = nearest([np.array(q) for q in queries], [np.array(s) for s in sources])
    for query, place in zip(queries, found.tolist(), strict=True):
        scores = [cosine(query, source, sources) for source in sources]
        assert scores[place] == pytest.approx(max(scores))


def test_rare_tokens_count_for_more_and_equals_go_to_the_first() -> None:
    sources = [np.array(ids) for ids in ([1, 2], [1, 3], [1, 9], [1, 9])]
    assert nearest([np.array([1, 9]), np.array([1, 2, 7]), np.array([5])], sources).tolist() == [
        2,
        0,
        0,
    ]
