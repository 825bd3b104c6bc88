"""Utilities of all pairs at once are sacreBLEU's sentence scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from mt.errors import ConfigError
from mt.evaluation.utility import bleu_utility, chrf_utility

Sentence = Callable[[str, str], float]


def by_chrf(hypothesis: str, reference: str) -> float:
    return float(CHRF().sentence_score(hypothesis, [reference]).score)


def by_bleu(tokenize: str) -> Sentence:
    metric = BLEU(tokenize=tokenize, effective_order=True)
    return lambda hypothesis, reference: float(metric.sentence_score(hypothesis, [reference]).score)


def check(texts: Sequence[str], found: NDArray[np.float64], score: Sentence) -> None:
    expected = [[score(h, r) for r in texts] for h in texts]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


SENTENCES = [
    "The cat sat on the mat.",
    "The cat sat on a mat!",
    "A cat is sitting on the mat, isn't it?",
    "Dogs",
    "the the the the the the",
    "",
    " ",
    "Größe 3,5 m² — 猫が座った。",
]
some_texts = st.lists(st.text(alphabet="ab ., cé\t", max_size=24), min_size=1, max_size=5)


@settings(deadline=None)
@given(some_texts)
def test_chrf_is_that_of_sacrebleu(texts: list[str]) -> None:
    check(texts, chrf_utility(texts), by_chrf)


@settings(deadline=None)
@given(some_texts)
def test_bleu_is_that_of_sacrebleu(texts: list[str]) -> None:
    check(texts, bleu_utility("13a")(texts), by_bleu("13a"))


def test_both_on_sentences() -> None:
    check(SENTENCES, chrf_utility(SENTENCES), by_chrf)
    for tokenize in ("13a", "zh", "char", "intl"):
        check(SENTENCES, bleu_utility(tokenize)(SENTENCES), by_bleu(tokenize))


def test_a_tokenizer_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise RuntimeError("no MeCab")

    monkeypatch.setattr("mt.evaluation.scores.BLEU", missing)
    with pytest.raises(ConfigError, match="ja-mecab is not installed"):
        bleu_utility("ja-mecab")
