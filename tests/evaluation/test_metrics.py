"""Metrics, their sentence scores and what is sampled from them are sacreBLEU's own."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from mt.errors import DataError
from mt.evaluation.metrics import Measured, Recipe, measure, metrics_for
from mt.evaluation.significance import (
    Interval,
    bootstrap_scores,
    paired_bootstrap,
    paired_randomisation,
)
from tests.evaluation.corpus_scores import exact_match, sequence_scores

REFERENCES = [
    [
        "The cat sat on the mat.",
        "A dog barks, loudly!",
        "Rain fell.",
        "",
        "今日は古い橋を渡りました。",
    ],
    ["The cat is on the mat.", "One dog is barking.", "It rained.", "x", "我昨天买了三本书。"],
]
HYPOTHESES = [
    "the cat sat on a mat.",
    "A dog barks , loudly",
    "",
    "Größe",
    "今日は橋を渡りました。",
]
TEXTS = st.lists(st.text(alphabet="ab ., cé橋\t", max_size=16), min_size=1, max_size=4)


def their_metrics(*, lowercase: bool = False, split: bool = False) -> list[BLEU | CHRF | TER]:
    return [
        BLEU(lowercase=lowercase, force=True),
        CHRF(lowercase=lowercase),
        CHRF(lowercase=lowercase, word_order=2),
        TER(normalized=split, asian_support=split),
    ]


@pytest.mark.parametrize("num_references", [1, 2])
@pytest.mark.parametrize(("lowercase", "split"), [(False, False), (True, True)])
def test_corpus_scores_and_signatures(num_references: int, lowercase: bool, split: bool) -> None:
    references = REFERENCES[:num_references]
    recipe = Recipe(lowercase=lowercase, split_characters=split)
    *ours, _ = measure(HYPOTHESES, metrics_for(references, recipe))
    for mine, theirs in zip(ours, their_metrics(lowercase=lowercase, split=split), strict=True):
        expected = theirs.corpus_score(HYPOTHESES, references)
        assert mine.score().name == expected.name
        assert mine.value == pytest.approx(expected.score, rel=1e-12)
        assert mine.score().signature == theirs.get_signature().format()


def test_the_signature_of_sampled_scores_is_that_of_sacrebleu() -> None:
    theirs = dict(zip(("BLEU", "chrF2", "chrF2++", "TER"), their_metrics(), strict=True))
    systems: list[tuple[str, Sequence[str]]] = [("one", HYPOTHESES), ("other", HYPOTHESES[::-1])]
    for test_type, key in (("bs", "bs"), ("ar", "ar")):
        signatures, _ = PairedTest(systems, theirs, REFERENCES, test_type=test_type, n_samples=20)()
        *ours, _ = measure(HYPOTHESES, metrics_for(REFERENCES, Recipe()))
        for mine in ours:
            expected = signatures[mine.metric.name].format()
            seed = int(signatures[mine.metric.name].info["seed"])
            assert f"|{key}:20|seed:{seed}" in expected
            assert mine.metric.signature(**{key: 20, "seed": seed}) == expected


@settings(deadline=None)
@given(TEXTS, st.randoms(use_true_random=False))
def test_sentence_scores(texts: list[str], order: random.Random) -> None:
    references = [order.sample(texts, len(texts)), order.sample(texts, len(texts))]
    *ours, _ = measure(texts, metrics_for(references, Recipe()))
    theirs = their_metrics()
    theirs[0] = BLEU(effective_order=True, force=True)
    for mine, metric in zip(ours, theirs, strict=True):
        expected = [
            metric.sentence_score(text, list(lines)).score
            for text, *lines in zip(texts, *references, strict=True)
        ]
        assert mine.sentence_scores() == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_perfect_score_is_100_and_no_more() -> None:
    bleu, chrf, chrf_words, ter, exact = measure(REFERENCES[0], metrics_for(REFERENCES, Recipe()))
    assert [each.value for each in (bleu, chrf, chrf_words, exact)] == [100.0] * 4
    assert ter.value == 0.0


def test_errors_may_be_more_than_all_words() -> None:
    (ter,) = measure(["a b c d"], metrics_for([["e"]], Recipe(metrics=("ter",))))
    assert ter.value == 400.0


def test_exact_match() -> None:
    assert exact_match(["a  b ", "C", "d"], [["a b", "c", "x"], ["x", "x", "d"]]) == pytest.approx(
        200 / 3
    )
    assert exact_match(["C"], [["c"]], lowercase=True) == 100.0
    assert exact_match([], [[]]) == 0.0
    with pytest.raises(ValueError, match="as long"):
        exact_match(["a"], [["a", "b"]])


@pytest.mark.parametrize("references", [[["a"], ["a", "b"]], [[]]])
def test_references_that_do_not_fit_are_refused(references: list[list[str]]) -> None:
    with pytest.raises(DataError):
        metrics_for(references, Recipe())
    with pytest.raises(DataError, match="2 hypotheses, but"):
        measure(["a", "b"], metrics_for([["a"]], Recipe()))


def sampled_systems() -> tuple[list[str], list[str], list[str]]:
    """A reference of random words, and two systems that miss some of them in different places."""
    drawn = random.Random(1)
    words = [f"w{number}" for number in range(40)]
    reference = [" ".join(drawn.choices(words, k=drawn.randint(5, 15))) for _ in range(120)]

    def system(rate: float) -> list[str]:
        return [
            " ".join(drawn.choice(words) if drawn.random() < rate else w for w in line.split())
            for line in reference
        ]

    return reference, system(0.30), system(0.33)


@pytest.mark.parametrize("test", ["bs", "ar"])
def test_intervals_and_p_values(test: str) -> None:
    """Those of sacreBLEU, but that a sampled difference that ties with the observed one counts."""
    reference, first, second = sampled_systems()
    names = ["BLEU", "chrF2", "chrF2++", "TER"]
    theirs = dict(zip(names, their_metrics(), strict=True))
    _, found = PairedTest(
        [("a", first), ("b", second)],
        theirs,
        references=[reference],
        test_type=test,
        n_samples=400,
        n_ar_confidence=400,
    )()
    metrics = metrics_for([reference], Recipe(metrics=("bleu", "chrf", "chrf++", "ter")))
    for a, b in zip(measure(first, metrics), measure(second, metrics), strict=True):
        expected_a, expected_b = found[a.metric.name]
        samples_a, samples_b = (bootstrap_scores(x, num_samples=400, seed=12345) for x in (a, b))
        interval = Interval.of(samples_a)
        assert interval.mean == pytest.approx(expected_a.mean, rel=1e-6)  # type: ignore[union-attr]
        assert interval.half_width == pytest.approx(expected_a.ci, rel=1e-4)  # type: ignore[union-attr]
        if test == "bs":
            p = paired_bootstrap(samples_a, samples_b, abs(a.value - b.value))
        else:
            p = paired_randomisation(a, b, num_samples=400, seed=12345)
        expected = float(expected_b.p_value)  # type: ignore[union-attr, arg-type]
        assert 0 < p < 1
        if a.metric.is_error:  # edits are whole, and as large a difference comes often
            assert expected - 1e-9 <= p < expected + 0.05
        else:
            assert p == pytest.approx(expected, abs=1.5 / 401)


def p_of(first: Measured, second: Measured) -> tuple[float, float]:
    samples = [bootstrap_scores(each, num_samples=500, seed=3) for each in (first, second)]
    return (
        paired_bootstrap(samples[0], samples[1], abs(first.value - second.value)),
        paired_randomisation(first, second, num_samples=500, seed=3),
    )


def test_one_sentence_is_no_evidence() -> None:
    """In every trial the two differ as they do; counting larger differences alone gives 0.002."""
    reference, first, _ = sampled_systems()
    other = [*first[:-1], "w0"]
    metrics = metrics_for([reference], Recipe())
    for a, b in zip(measure(first, metrics), measure(other, metrics), strict=True):
        p_bootstrap, p_randomisation = p_of(a, b)
        assert p_randomisation == 1.0
        assert p_bootstrap > 0.1
        assert p_of(a, a) == (1.0, 1.0)


def test_randomisation_is_the_sign_test_where_it_must_be() -> None:
    """Of 12 sentences that one system alone has right: 12 coins on one side, 2 of 4096."""
    reference = [f"w{number}" for number in range(12)] + ["same"] * 8
    metrics = metrics_for([reference], Recipe(metrics=("exact",)))
    (right,), (wrong,) = (measure(text, metrics) for text in (reference, ["x"] * 12 + ["same"] * 8))
    p = paired_randomisation(right, wrong, num_samples=40_000, seed=5)
    assert p == pytest.approx(2 / 4096, rel=0.5)
    assert np.isclose(right.value - wrong.value, 60.0)


@pytest.mark.parametrize("lowercase", [False, True])
def test_scores_of_symbols_are_those_of_sequences(lowercase: bool) -> None:
    hypotheses, references = (
        ["a b c", "X", "", "d"],
        [["a c", "x", "y z", "d"], ["b", "", "q", "D"]],
    )
    recipe = Recipe(metrics=("exact", "ser"), of_symbols=True, lowercase=lowercase)
    measured = measure(hypotheses, metrics_for(references, recipe))
    assert [each.score() for each in measured] == sequence_scores(
        hypotheses, references, lowercase=lowercase
    )
    with pytest.raises(DataError, match="no symbol"):
        metrics_for([["", " "]], recipe)
