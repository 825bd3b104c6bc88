"""Where two systems differ: by sentence, by groups of sentences, by how common words are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mt.evaluation.metrics import Measured

LENGTHS = (1, 5, 10, 15, 20, 30, 40, 60)
"""The fewest words of each group of sentences by length."""
FREQUENCIES = (0, 1, 2, 5, 10, 100, 1000)
"""The fewest occurrences in training of each group of words."""

_SAME = 1e-9
Splitter = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """In how many sentences a system is better than another, as good, and worse."""

    wins: int
    ties: int
    losses: int


def gains(baseline: Measured, system: Measured) -> NDArray[np.float64]:
    """How much better each sentence of `system` is, (N,); of errors, how many points fewer."""
    difference: NDArray[np.float64] = np.array(system.sentence_scores()) - np.array(
        baseline.sentence_scores()
    )
    return np.negative(difference) if system.metric.is_error else difference


def outcome(gained: NDArray[np.float64]) -> Outcome:
    """Wins, ties and losses by `gains`."""
    wins, losses = int((gained > _SAME).sum()), int((gained < -_SAME).sum())
    return Outcome(wins=wins, ties=len(gained) - wins - losses, losses=losses)


def most_different(gained: NDArray[np.float64], count: int) -> tuple[list[int], list[int]]:
    """The indices of the largest gains and of the largest losses; of equals the first."""
    best = np.argsort(-gained, kind="stable")[:count]
    worst = np.argsort(gained, kind="stable")[:count]
    return (
        [index for index in best.tolist() if gained[index] > _SAME],
        [index for index in worst.tolist() if gained[index] < -_SAME],
    )


def score_by_group(measured: Measured, groups: Sequence[str]) -> dict[str, float]:
    """The score of the sentences of each group by itself; `groups` (N,) names one for each."""
    names = np.array(groups, dtype=object)
    return {
        name: measured.metric.score(measured.counts[names == name].sum(axis=0))
        for name in dict.fromkeys(groups)
    }


def range_name(value: int, bounds: Sequence[int]) -> str:
    """The range of `bounds`, which are the least values of ranges, that holds a value: "5–9"."""
    index = int(np.searchsorted(bounds, value, side="right")) - 1
    if index < 0:
        return f"0–{bounds[0] - 1}" if bounds[0] > 1 else "0"
    if index == len(bounds) - 1:
        return f"{bounds[index]}+"
    last = bounds[index + 1] - 1
    return str(last) if bounds[index] == last else f"{bounds[index]}–{last}"


def count_words(lines: Iterable[str], split: Splitter) -> Counter[str]:
    """How often each word occurs."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(split(line))
    return counts


@dataclass(frozen=True, kw_only=True)
class WordScore:
    """How well words of some frequency are translated."""

    num_words: int
    """In the reference."""
    f1: float
    """The harmonic mean of precision and recall, from 0 to 100."""


def words_by_frequency(
    hypotheses: Sequence[str],
    reference: Sequence[str],
    frequencies: Mapping[str, int],
    split: Splitter,
) -> dict[str, WordScore]:
    """F1 of words by how often they occur in training, without regard to their order.

    A word of a hypothesis matches one of its reference once; F1 = 2 M / (H + R) with M matches, H
    words of hypotheses and R of references of that frequency (compare-mt, Neubig et al. 2019).
    """
    matched, there, wanted = Counter[str](), Counter[str](), Counter[str]()
    for hypothesis, text in zip(hypotheses, reference, strict=True):
        found, expected = Counter(split(hypothesis)), Counter(split(text))
        for counter, total in ((found & expected, matched), (found, there), (expected, wanted)):
            for word, count in counter.items():
                total[range_name(frequencies.get(word, 0), FREQUENCIES)] += count
    names = [range_name(bound, FREQUENCIES) for bound in FREQUENCIES]
    return {
        name: WordScore(
            num_words=wanted[name], f1=200 * matched[name] / (there[name] + wanted[name])
        )
        for name in names
        if wanted[name]
    }
