"""What comes out of a translation: texts with their scores, from hypotheses as token ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mt.search.consensus import Candidate, Utility, probabilities, rank_by_consensus
from mt.search.hypothesis import Hypothesis
from mt.text.glossary import Asked


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


@dataclass(frozen=True, kw_only=True)
class Translation:
    """The translations of one line, best first, each text once; a blank line has one, ""."""

    source: str
    hypotheses: tuple[TranslatedText, ...]
    terms: tuple[Asked, ...] | None = None
    """The terms and placeholders that the line asks for; None of a translator without glossary."""

    @property
    def text(self) -> str:
        """The best translation."""
        return self.hypotheses[0].text


BLANK = (TranslatedText(text="", score=0.0, tokens=(), hit_limit=False),)


def texts_of(
    hypotheses: Sequence[Hypothesis], decode: Callable[[Sequence[int]], str]
) -> tuple[TranslatedText, ...]:
    """The texts of hypotheses; of those that read alike, the best alone."""
    texts: dict[str, TranslatedText] = {}
    for hypothesis in hypotheses:
        text = decode(hypothesis.tokens)
        if text not in texts:
            texts[text] = TranslatedText(
                text=text,
                score=hypothesis.score,
                tokens=hypothesis.tokens,
                hit_limit=hypothesis.hit_limit,
            )
    return tuple(texts.values())


def by_consensus(
    hypotheses: Sequence[Hypothesis],
    decode: Callable[[Sequence[int]], str],
    *,
    utility: Utility,
    n_best: int,
) -> tuple[TranslatedText, ...]:
    """The texts by minimum Bayes risk; those that read alike have the probability of all."""
    found = texts_of(hypotheses, decode)
    weights = probabilities([hypothesis.log_probability for hypothesis in hypotheses])
    of_text: dict[str, float] = {}
    for hypothesis, weight in zip(hypotheses, weights, strict=True):
        text = decode(hypothesis.tokens)
        of_text[text] = of_text.get(text, 0.0) + weight
    candidates = [
        Candidate(text=each.text, score=each.score, weight=of_text[each.text]) for each in found
    ]
    ranked = rank_by_consensus(candidates, utility)
    return tuple(
        dataclasses.replace(found[each.place], expected_utility=each.expected_utility)
        for each in ranked[:n_best]
    )
