"""The lexicon: IBM model 1 as the textbook has it, whatever the chunks."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest

from mt.training import ibm_model1
from mt.training.ibm_model1 import Lexicon, learn_lexicon

Pairs = list[tuple[list[int], list[int]]]
NULL = -1
ROUNDS = 5


def learn(pairs: Pairs, *, source_vocab: int = 20, target_vocab: int = 30) -> Lexicon:
    sides = ([np.array(pair[side], dtype=np.uint16) for pair in pairs] for side in (0, 1))
    sources, targets = sides
    return learn_lexicon(sources, targets, source_vocab=source_vocab, target_vocab=target_vocab)


def as_dict(found: Lexicon) -> dict[tuple[int, int], float]:
    sources = np.repeat(np.arange(len(found.first) - 1), np.diff(found.first))
    triples = zip(sources, found.targets, found.probabilities, strict=True)
    return {(int(s), int(t)): float(p) for s, t, p in triples}


def plain_model_1(pairs: Pairs) -> dict[tuple[int, int], float]:
    """Expectation maximisation with dictionaries."""
    probability: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    for _ in range(ROUNDS):
        counts: dict[tuple[int, int], float] = defaultdict(float)
        totals: dict[int, float] = defaultdict(float)
        for source, target in pairs:
            for t in target:
                norm = sum(probability[s, t] for s in [*source, NULL])
                for s in [*source, NULL]:
                    counts[s, t] += probability[s, t] / norm
                    totals[s] += probability[s, t] / norm
        probability = defaultdict(float, {(s, t): c / totals[s] for (s, t), c in counts.items()})
    return {key: value for key, value in probability.items() if key[0] != NULL}


def random_pairs(num: int) -> Pairs:
    """Source piece i gives target piece 2 i, in any order, and 29 comes in between at times."""
    draw = random.Random(4)
    pairs = []
    for _ in range(num):
        source = draw.choices(range(4, 14), k=draw.randint(1, 6))
        target = [2 * piece for piece in source] + draw.choices([29, 28], k=draw.randint(0, 2))
        draw.shuffle(target)
        pairs.append((source, target))
    return pairs


def test_the_probabilities_are_those_of_the_textbook() -> None:
    pairs = random_pairs(30)
    found, expected = as_dict(learn(pairs)), plain_model_1(pairs)
    assert found.keys() == expected.keys()
    assert [found[key] for key in expected] == pytest.approx(list(expected.values()), rel=1e-9)


def test_the_likeliest_piece_is_the_translation() -> None:
    first, pieces = learn(random_pairs(200)).likeliest(1)
    assert {i: int(pieces[first[i]]) for i in range(4, 14)} == {i: 2 * i for i in range(4, 14)}
    assert first[0] == first[4] == 0
    assert first[14] == first[-1] == len(pieces) == 10


def test_the_likeliest_are_the_first_of_all_and_no_more_than_there_are() -> None:
    found = learn(random_pairs(100))
    first, pieces = found.likeliest(3)
    for piece in range(20):
        all_of = found.targets[found.first[piece] : found.first[piece + 1]].tolist()
        assert pieces[first[piece] : first[piece + 1]].tolist() == all_of[:3]


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = random_pairs(60)
    whole = as_dict(learn(pairs))
    monkeypatch.setattr(ibm_model1, "_CELLS", 50)
    parts = as_dict(learn(pairs))
    assert parts.keys() == whole.keys()
    assert [parts[key] for key in whole] == pytest.approx(list(whole.values()), rel=1e-9)


def test_empty_sides_teach_nothing() -> None:
    pairs = random_pairs(10)
    with_empty: Pairs = [([], [28]), *pairs, ([5], []), ([], [])]
    assert as_dict(learn(with_empty)) == as_dict(learn(pairs))
    nothing = learn([([], [28])])
    assert len(nothing.targets) == 0
    assert nothing.first.tolist() == [0] * 21
