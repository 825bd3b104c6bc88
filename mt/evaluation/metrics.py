"""The metrics of `mt eval`, each as counts of sentences and the score of such counts summed.

From the counts follow the score of a corpus, those of its sentences, and those of the samples that
intervals and tests draw, without a second look at the text. They are sacreBLEU's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric as SacreMetric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from mt import __version__
from mt.errors import DataError
from mt.evaluation.exact import exact_matches
from mt.evaluation.scores import Score, bleu_metric, sentence_bleu_from_counts
from mt.evaluation.sequences import symbol_errors
from mt.text.symbols import symbols_of

METRICS = ("bleu", "chrf", "chrf++", "ter", "exact", "ser")
"""Names of metrics, in the order in which they are reported."""
TEXT_METRICS = METRICS[:-1]
LONGEST_FOR_TER = 300
"""Words of a segment beyond which TER is counted only where it is asked for by name."""
SYMBOL_METRICS = ("bleu", "chrf", "exact", "ser")

Counts = NDArray[np.float64]
"""(N, C): what a metric counts in each of N sentences; (C,) where they are summed."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is counted, and how text is cut for it."""

    metrics: tuple[str, ...] = TEXT_METRICS
    tokenize: str = "13a"
    """The tokenizer of BLEU, by its name in sacreBLEU."""
    lowercase: bool = False
    """Whether case is left out; TER, as tercom, never looks at it."""
    of_symbols: bool = False
    """Whether exact match is one of symbols (`mt.text.symbols`), and not of words."""
    split_characters: bool = False
    """Whether TER takes Chinese characters for words, and parts punctuation."""


class Metric(Protocol):
    """One metric with the references of a corpus."""

    @property
    def name(self) -> str:
        """As in reports of scores: chrF2++."""

    @property
    def is_error(self) -> bool:
        """Whether less is better."""

    def count(self, hypotheses: Sequence[str]) -> Counts:
        """The counts of each sentence, (N, C)."""

    def score(self, summed: Counts) -> float:
        """The score of summed counts, (C,): from 0 to 100, of an error more where all is wrong."""

    def sentence_score(self, counts: Counts) -> float:
        """The score of the counts of one sentence, (C,)."""

    def signature(self, **sampling: int) -> str:
        """The recipe in the form of sacreBLEU; `sampling` are its keys bs, ar and seed."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a metric found in the hypotheses of a system."""

    metric: Metric
    counts: Counts
    """(N, C)."""

    @property
    def value(self) -> float:
        """The score of the corpus."""
        return self.metric.score(self.counts.sum(axis=0))

    def score(self, **sampling: int) -> Score:
        """The score of the corpus with its signature."""
        return Score(
            name=self.metric.name, score=self.value, signature=self.metric.signature(**sampling)
        )

    def sentence_scores(self) -> list[float]:
        """The score of each sentence; BLEU with only the orders that the sentence has."""
        return [self.metric.sentence_score(counts) for counts in self.counts]


def measure(hypotheses: Sequence[str], metrics: Sequence[Metric]) -> list[Measured]:
    """The counts of the hypotheses of a system under each metric."""
    return [Measured(metric=metric, counts=metric.count(hypotheses)) for metric in metrics]


def metrics_for(references: Sequence[Sequence[str]], recipe: Recipe) -> list[Metric]:
    """The metrics of a recipe, which see the references once for all systems.

    references: one or more lists, each with a text for every segment. Raises DataError when they
    differ in length or hold nothing, ConfigError when the tokenizer is not installed.
    """
    if not references:
        raise ValueError("there must be one list of references at least")
    if len({len(each) for each in references}) > 1:
        lengths = " and ".join(str(len(each)) for each in references)
        raise DataError(f"the references have {lengths} lines")
    if not references[0]:
        raise DataError("nothing to score: the references are empty")
    unknown = set(recipe.metrics) - set(METRICS)
    if unknown:
        raise ValueError(f"no such metrics: {', '.join(sorted(unknown))}")
    return [_metric(name, [list(each) for each in references], recipe) for name in recipe.metrics]


def too_long_for_ter(texts: Iterable[Sequence[str]]) -> int | None:
    """The words of the longest line, where TER would take minutes for it; else None.

    What it tries grows with the words of a segment that stand elsewhere: 200 words in a random
    order take seconds, 2,000 a minute (docs/evaluation.md). No other count of edits is TER.
    """
    longest = max((line.count(" ") + 1 for lines in texts for line in lines), default=0)
    return longest if longest > LONGEST_FOR_TER else None


def _metric(name: str, references: list[list[str]], recipe: Recipe) -> Metric:
    lowercase = recipe.lowercase
    if name == "ser" or (name == "exact" and recipe.of_symbols):
        return _OfSymbols(references, lowercase=lowercase, is_error=name == "ser")
    if name == "exact":
        return _Exact(references, lowercase=lowercase)
    metric: SacreMetric
    if name == "bleu":
        metric = bleu_metric(recipe.tokenize, lowercase=lowercase, references=references)
    elif name == "ter":
        split = recipe.split_characters
        metric = TER(normalized=split, asian_support=split, references=references)
    else:
        word_order = 2 if name == "chrf++" else 0
        metric = CHRF(word_order=word_order, lowercase=lowercase, references=references)
    return _OfSacreBleu(metric, num_segments=len(references[0]))


class _OfSacreBleu:
    """A metric of sacreBLEU that keeps its references."""

    # `_extract_corpus_statistics` and `_compute_score_from_stats` are private. The public methods
    # give scores of whole corpora or sentences, but resampling needs the counts of each sentence.

    def __init__(self, metric: SacreMetric, *, num_segments: int) -> None:
        self._metric = cast(Any, metric)
        self._num_segments = num_segments
        self.is_error = isinstance(metric, TER)
        blank = np.zeros(len(self._metric._extract_corpus_statistics([""], None)[0]))
        self.name: str = self._metric._compute_score_from_stats(blank).name

    def count(self, hypotheses: Sequence[str]) -> Counts:
        _refuse_other_length(hypotheses, self._num_segments)
        counts: Counts = np.array(
            self._metric._extract_corpus_statistics(list(hypotheses), None), dtype=np.float64
        )
        return counts

    def score(self, summed: Counts) -> float:
        return self._clamped(self._metric._compute_score_from_stats(summed).score)

    def sentence_score(self, counts: Counts) -> float:
        if not isinstance(self._metric, BLEU):
            return self.score(counts)
        order = self._metric.max_ngram_order
        return self._clamped(
            sentence_bleu_from_counts(
                correct=counts[2 : 2 + order].astype(int).tolist(),
                total=counts[2 + order :].astype(int).tolist(),
                hypothesis_length=int(counts[0]),
                reference_length=int(counts[1]),
            )
        )

    def signature(self, **sampling: int) -> str:
        signature = self._metric.get_signature()
        for key, value in sampling.items():
            signature.update(key, value)
        text: str = signature.format()
        return text

    def _clamped(self, score: float) -> float:
        # A perfect score comes as 100.00000000000004; of errors there may be more than words.
        return float(max(score, 0.0) if self.is_error else min(max(score, 0.0), 100.0))


class _Exact:
    """Exact match: one count, of 100 or 0, and one of sentences."""

    name = "exact"
    is_error = False

    def __init__(self, references: list[list[str]], *, lowercase: bool) -> None:
        self._references = references
        self._lowercase = lowercase

    def count(self, hypotheses: Sequence[str]) -> Counts:
        _refuse_other_length(hypotheses, len(self._references[0]))
        found = exact_matches(hypotheses, self._references, lowercase=self._lowercase)
        return np.stack([np.array(found, dtype=np.float64), np.ones(len(found))], axis=1)

    def score(self, summed: Counts) -> float:
        return float(100 * summed[0] / summed[1])

    def sentence_score(self, counts: Counts) -> float:
        return self.score(counts)

    def signature(self, **sampling: int) -> str:
        fields: dict[str, object] = {"nrefs": len(self._references), **sampling}
        fields |= {"case": "lc" if self._lowercase else "mixed", "space": "no"}
        return "|".join(
            f"{key}:{value}" for key, value in (fields | {"version": f"mt-{__version__}"}).items()
        )


class _OfSymbols:
    """Symbol error rate, or exact match of symbols: by `symbol_errors`."""

    def __init__(self, references: list[list[str]], *, lowercase: bool, is_error: bool) -> None:
        if not any(symbols_of(line) for lines in references for line in lines):
            raise DataError("nothing to score: the references hold no symbol")
        self._references = references
        self._lowercase = lowercase
        self.is_error = is_error
        self.name = "SER" if is_error else "exact"

    def count(self, hypotheses: Sequence[str]) -> Counts:
        _refuse_other_length(hypotheses, len(self._references[0]))
        errors = symbol_errors(hypotheses, self._references, lowercase=self._lowercase)
        if self.is_error:
            return errors.astype(np.float64)
        return np.stack([errors[:, 0] == 0, np.ones(len(errors))], axis=1).astype(np.float64)

    def score(self, summed: Counts) -> float:
        if not self.is_error:
            return 100 * float(summed[0] / summed[1])
        # Of a line without symbols any symbol is all wrong, as in TER.
        return float(100 * summed[0] / summed[1] if summed[1] else 100 * (summed[0] > 0))

    def sentence_score(self, counts: Counts) -> float:
        return self.score(counts)

    def signature(self, **sampling: int) -> str:
        fields: dict[str, object] = {"nrefs": len(self._references), **sampling}
        fields |= {"case": "lc" if self._lowercase else "mixed"}
        fields |= {"unit": "symbol" if self.is_error else "line", "version": f"mt-{__version__}"}
        return "|".join(f"{key}:{value}" for key, value in fields.items())


def _refuse_other_length(hypotheses: Sequence[str], num_segments: int) -> None:
    if len(hypotheses) != num_segments:
        raise DataError(f"{len(hypotheses)} hypotheses, but the references have {num_segments}")
