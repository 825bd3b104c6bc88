"""What comes out of a translation: texts with their scores, from hypotheses as token ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mt.search.hypothesis import Hypothesis
from mt.search.mbr import Candidate, Utility, probabilities, rank_by_consensus
from mt.text.glossary import Asked


@dataclass(frozen=True, kw_only=True)
class TranslatedPart:
    """A part of a line that was translated by itself; `mt score` gives it the same score."""

    source: str
    text: str
    score: float
    """As that of a whole line."""
    tokens: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TranslatedText:
    """One candidate translation."""

    text: str
    score: float
    """Natural-log probability over the length penalty; larger is better."""
    tokens: tuple[int, ...]
    hit_limit: bool
    """It was ended at the length bound."""
    expected_utility: float | None = None
    """Of a choice by minimum Bayes risk, what decided; None elsewhere."""
    terms_missed: tuple[Asked, ...] = ()
    """Those of `Translation.terms` that the text does not honour."""
    parts: tuple[TranslatedPart, ...] = ()
    """Of a line that was split, the parts in order; `text` and `score` are made of theirs."""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """The translations of one line, best first, each text once; a blank line has one, "".

    Samples are as many as were drawn, in the order of their numbers, equal texts among them; where
    they are ordered by minimum Bayes risk, each text stands once.
    """

    source: str
    hypotheses: tuple[TranslatedText, ...]
    recased: str | None = None
    """What was translated instead, where the source was not written in usual case."""
    error: str | None = None
    """Why there are no hypotheses, of a line that is too long to be translated."""
    terms: tuple[Asked, ...] | None = None
    """The terms and placeholders that the line asks for; None of a translator without glossary."""

    @property
    def as_read(self) -> str:
        """The source as the model read it."""
        return self.source if self.recased is None else self.recased

    @property
    def was_split(self) -> bool:
        """Whether the line was longer than the model is good for, and translated in parts."""
        return any(each.parts for each in self.hypotheses)

    @property
    def text(self) -> str:
        """The best translation; of samples that are in no order of merit, the first.

        It is empty where there is an `error`.
        """
        return self.hypotheses[0].text if self.hypotheses else ""


BLANK = (TranslatedText(text="", score=0.0, tokens=(), hit_limit=False),)


def texts_of(
    hypotheses: Sequence[Hypothesis], decode: Callable[[Sequence[int]], str]
) -> tuple[TranslatedText, ...]:
    """The texts of hypotheses; of those that read alike, only the best."""
    texts: dict[str, TranslatedText] = {}
    for each in samples_of(hypotheses, decode):
        texts.setdefault(each.text, each)
    return tuple(texts.values())


def samples_of(
    samples: Sequence[Hypothesis], decode: Callable[[Sequence[int]], str]
) -> tuple[TranslatedText, ...]:
    """The texts of samples, as many and in the same order."""
    return tuple(
        TranslatedText(
            text=decode(sample.tokens),
            score=sample.score,
            tokens=sample.tokens,
            hit_limit=sample.hit_limit,
        )
        for sample in samples
    )


def by_consensus(
    hypotheses: Sequence[Hypothesis],
    decode: Callable[[Sequence[int]], str],
    *,
    utility: Utility,
    n_best: int | None = None,
    are_samples: bool = False,
) -> tuple[TranslatedText, ...]:
    """The texts by minimum Bayes risk, `n_best` or all, each once with the weight of all like it.

    A hypothesis of a beam weighs its probability; where they `are_samples`, all weigh the same.
    """
    found = samples_of(hypotheses, decode)
    weights = [1.0] * len(found)
    if not are_samples:
        weights = probabilities([hypothesis.log_probability for hypothesis in hypotheses])
    candidates = [
        Candidate(text=each.text, score=each.score, weight=weight)
        for each, weight in zip(found, weights, strict=True)
    ]
    ranked = rank_by_consensus(candidates, utility)
    return tuple(
        dataclasses.replace(found[each.index], expected_utility=each.expected_utility)
        for each in ranked[:n_best]
    )
