"""Sentence chrF and BLEU of every text against every other, for minimum-Bayes-risk choice.

The values are those of sacreBLEU's sentence scores. They are computed here for all pairs at once,
since the n-grams of a text are the same in each of its pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mt.evaluation.scores import sentence_bleu_from_counts, word_splitter

_CHRF_ORDER = 6
_CHRF_BETA = 2.0
_BLEU_ORDER = 4

Matrix = NDArray[np.float64]


def chrf_utility(texts: Sequence[str]) -> Matrix:
    """chrF2 (Popović 2015) from 0 to 100, (K, K): rows are hypotheses, columns references.

    F = (1 + b²) P R / (b² P + R) with b = 2; P and R are means over the character n-grams of
    orders 1 to 6 that both sides have; spaces do not count.
    """
    size = len(texts)
    precision, recall, orders = (np.zeros((size, size)) for _ in range(3))
    characters = ["".join(text.split()) for text in texts]
    for order in range(1, _CHRF_ORDER + 1):
        matches, totals = _shared(_ngrams(text, order) for text in characters)
        both = (totals[:, None] > 0) & (totals[None, :] > 0)
        orders += both
        with np.errstate(invalid="ignore", divide="ignore"):
            precision += np.where(both, matches / totals[:, None], 0.0)
            recall += np.where(both, matches / totals[None, :], 0.0)
    precision /= np.maximum(orders, 1)
    recall /= np.maximum(orders, 1)
    factor = _CHRF_BETA**2
    below = factor * precision + recall
    scores: Matrix = 100 * (1 + factor) * precision * recall / np.where(below > 0, below, 1.0)
    return scores


def bleu_utility(tokenize: str) -> Callable[[Sequence[str]], Matrix]:
    """Sentence BLEU (exponential smoothing, effective order), in the form of `chrf_utility`.

    `tokenize` is a tokenizer of sacreBLEU (`tokenizer_for` chooses one). Raises ConfigError when
    it is not installed.
    """
    split = word_splitter(tokenize)

    def utility(texts: Sequence[str]) -> Matrix:
        words = [split(text) for text in texts]
        lengths = [len(each) for each in words]
        by_order = [
            _shared(_ngrams(each, order) for each in words) for order in range(1, _BLEU_ORDER + 1)
        ]
        scores = np.zeros((len(texts), len(texts)))
        for h, r in np.ndindex(scores.shape):
            scores[h, r] = sentence_bleu_from_counts(
                correct=[int(matches[h, r]) for matches, _ in by_order],
                total=[int(totals[h]) for _, totals in by_order],
                hypothesis_length=lengths[h],
                reference_length=lengths[r],
            )
        return scores

    return utility


def _ngrams(sequence: str | tuple[str, ...], order: int) -> Counter[Hashable]:
    return Counter(sequence[i : i + order] for i in range(len(sequence) - order + 1))


def _shared(counters: Iterable[Counter[Hashable]]) -> tuple[Matrix, Matrix]:
    """Clipped matches of n-grams of each text with each, (K, K), and the n-grams of each, (K,)."""
    counted = list(counters)
    ids: dict[Hashable, int] = {}
    for counter in counted:
        for ngram in counter:
            ids.setdefault(ngram, len(ids))
    counts = np.zeros((len(counted), len(ids)), dtype=np.int32)
    for row, counter in zip(counts, counted, strict=True):
        row[[ids[ngram] for ngram in counter]] = list(counter.values())
    matches = np.empty((len(counted), len(counted)))
    for index, row in enumerate(counts):
        matches[index] = np.minimum(counts, row).sum(axis=1)
    return matches, counts.sum(axis=1).astype(np.float64)
