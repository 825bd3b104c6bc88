"""What is given of the hypotheses of a line: those of a beam by score or utility, or samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mt.config import SamplingConfig, SearchConfig
from mt.search.hypothesis import Hypothesis
from mt.search.mbr import Utility
from mt.text.segments import Segment
from mt.translation.long_lines import join_hypotheses, join_samples
from mt.translation.translation import (
    BLANK,
    TranslatedText,
    by_consensus,
    samples_of,
    texts_of,
)


def needed(search: SearchConfig, utility: Utility | None) -> SearchConfig:
    """`search` with as many hypotheses as are chosen among: by utility, the whole beam."""
    return search if utility is None else dataclasses.replace(search, n_best=search.beam)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Turns hypotheses into the texts that are given, and those of segments into those of lines."""

    search: SearchConfig
    """What scores, and how many of a beam are given."""
    target_language: str
    decode: Callable[[Sequence[int]], str]
    utility: Utility | None
    """Orders by minimum Bayes risk; None leaves the order of scores, or that of samples."""
    sampling: SamplingConfig | None
    """How hypotheses were drawn; None where they were searched for."""

    @property
    def blank(self) -> tuple[TranslatedText, ...]:
        """The texts of a line without tokens: of samples as many as are drawn, else one."""
        if self.sampling is None or self.utility is not None:
            return BLANK
        return BLANK * self.sampling.samples

    def texts(self, hypotheses: Sequence[Hypothesis]) -> tuple[TranslatedText, ...]:
        """The texts of hypotheses: samples as they were drawn, others best first, each once."""
        if self.utility is None:
            to_texts = texts_of if self.sampling is None else samples_of
            return to_texts(hypotheses, self.decode)
        if self.sampling is not None:
            return by_consensus(hypotheses, self.decode, utility=self.utility, are_samples=True)
        return by_consensus(
            hypotheses, self.decode, utility=self.utility, n_best=self.search.n_best
        )

    def joined(
        self, parts: Sequence[Sequence[TranslatedText]], segments: Sequence[Segment]
    ) -> tuple[TranslatedText, ...]:
        """The texts of a line from those of each of its segments."""
        are_samples = self.sampling is not None and self.utility is None
        join = join_samples if are_samples else join_hypotheses
        return join(parts, segments, search=self.search, target_language=self.target_language)
