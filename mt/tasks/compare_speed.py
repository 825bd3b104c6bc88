"""Quality and speed of translators on the same lines, in turns, so that a busy machine is fair."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mt.evaluation.scores import Score
from mt.translation.translation import Translation

_ROUNDS = 3
_ENOUGH = 60.0  # seconds after which no further round is begun
_NUM_WARM = 8  # lines before the clock starts, with which kernels and workers come up


@dataclass(frozen=True, kw_only=True)
class Contender:
    """What is measured."""

    name: str
    beam: int
    translate: Callable[[Sequence[str]], Sequence[Translation]]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What a translator came to."""

    name: str
    beam: int
    scores: tuple[Score, ...]
    seconds: tuple[float, ...]
    """Of each round."""
    num_lines: int

    @property
    def lines_per_second(self) -> float:
        """The median of the rounds."""
        return self.num_lines / statistics.median(self.seconds)

    @property
    def record(self) -> dict[str, object]:
        """The measurement as JSON."""
        return {
            "system": self.name,
            "beam": self.beam,
            "scores": [
                {"name": each.name, "score": each.score, "signature": each.signature}
                for each in self.scores
            ],
            "lines": self.num_lines,
            "seconds": list(self.seconds),
            "lines_per_second": self.lines_per_second,
        }


def measured_in_turns(
    contenders: Sequence[Contender],
    sources: Sequence[str],
    scores_of: Callable[[list[str]], Sequence[Score]],
) -> list[Measurement]:
    """Let all translate all lines, one after the other, up to three times.

    Raises ValueError where there are no lines.
    """
    if not sources:
        raise ValueError("there must be one line at least")
    for each in contenders:
        each.translate(sources[:_NUM_WARM])
    begun = time.monotonic()
    texts: list[list[str]] = [[] for _ in contenders]
    seconds: list[list[float]] = [[] for _ in contenders]
    for _ in range(_ROUNDS):
        for index, each in enumerate(contenders):
            start = time.perf_counter()
            translations = each.translate(sources)
            seconds[index].append(time.perf_counter() - start)
            texts[index] = [translation.text for translation in translations]
        if time.monotonic() - begun > _ENOUGH:
            break
    return [
        Measurement(
            name=each.name,
            beam=each.beam,
            scores=tuple(scores_of(lines)),
            seconds=tuple(taken),
            num_lines=len(sources),
        )
        for each, lines, taken in zip(contenders, texts, seconds, strict=True)
    ]
