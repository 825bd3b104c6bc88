"""Links of tokens and words from attention, and which attention to take."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from mt.translation.alignment import (
    AttentionView,
    best_view,
    linked_information,
    pharaoh,
    word_alignment,
)
from mt.translation.forced import Forced, TokenPair


def attention(indices: list[int], num_source: int) -> Tensor:
    """Attention whose rows have most weight at these indices."""
    return functional.one_hot(torch.tensor(indices), num_source + 1) * 0.5 + 0.1


def test_a_token_is_linked_where_it_is_predicted_or_where_it_is_fed() -> None:
    weights = attention([2, 0, 1, 3], num_source=3)
    assert AttentionView(layer=0, is_fed=False).links(weights) == [2, 0, 1]
    assert AttentionView(layer=0, is_fed=True).links(weights) == [0, 1, None], "the end is no link"


def test_no_source_token_is_without_a_link() -> None:
    weights = attention([2, 0, 1, 3], num_source=4)
    weights[1, 3] = 0.3  # token 3 is nobody's first choice, and most that of target token 1
    view = AttentionView(layer=0, is_fed=False)
    assert view.links_both_ways(weights) == [(0, 1), (1, 2), (2, 0), (3, 1)]


def test_words_are_linked_where_tokens_of_theirs_are() -> None:
    links = [0, 1, 3, None, 2, 4]
    alignment = word_alignment(links, [0, 0, 1, 2, None], [0, 0, 1, 1, 2, 2])
    assert alignment == [(0, 0), (1, 2), (2, 1)]
    assert pharaoh(alignment) == "0-0 1-2 2-1"
    assert pharaoh(word_alignment([None], [0], [0])) == ""


def test_information_is_that_of_the_closed_forms() -> None:
    assert linked_information(Counter({(x, x): 3 for x in range(8)})) == pytest.approx(math.log(8))
    independent = Counter({(x, y): 2 * x * y for x in range(1, 5) for y in range(1, 4)})
    assert linked_information(independent) == pytest.approx(0.0, abs=1e-12)
    # H(x) + H(y) - H(x, y) of two fair bits that agree three times in four
    expected = 2 * math.log(2) + 0.75 * math.log(0.375) + 0.25 * math.log(0.125)
    agreeing = Counter({(0, 0): 6, (1, 1): 6, (0, 1): 2, (1, 0): 2})
    assert linked_information(agreeing) == pytest.approx(expected)
    assert linked_information(Counter({(x, x): 1 for x in range(8)})) == 0.0, "each seen once"
    assert linked_information(Counter()) == 0.0


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("is_fed", [False, True])
def test_the_view_is_found_that_joins_each_token_with_its_translation(
    layer: int, is_fed: bool
) -> None:
    draw = random.Random(2)
    pairs: list[TokenPair] = []
    forced = []
    for _ in range(30):
        source = draw.sample(range(4, 30), k=8)
        order = draw.sample(range(8), k=8)
        pairs.append((source, [source[index] + 100 for index in order]))
        right = [8, *order] if is_fed else [*order, 8]
        views = {
            other: attention(right if other == layer else draw.choices(range(9), k=9), 8)
            for other in range(3)
        }
        forced.append(Forced(log_probabilities=(0.0,) * 9, attention=views))
    assert best_view(pairs, forced) == AttentionView(layer=layer, is_fed=is_fed)


def test_attention_that_links_little_is_not_the_best() -> None:
    """A layer that attends to the end nearly always, and then to one rare token, tells nothing."""
    pairs: list[TokenPair] = [([4 + n % 3, 9], [14 + n % 3]) for n in range(60)]
    forced = [
        Forced(
            log_probabilities=(0.0, 0.0),
            attention={
                0: attention([0 if n == 0 else 2] * 2, 2),
                1: attention([0, 2], 2),
            },
        )
        for n in range(60)
    ]
    assert best_view(pairs, forced) == AttentionView(layer=1, is_fed=False)


def test_there_must_be_something_to_choose_from() -> None:
    with pytest.raises(ValueError, match="no attention"):
        best_view([], [])
