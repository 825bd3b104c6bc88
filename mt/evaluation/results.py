"""Scores of systems with their intervals, and tests of each system against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mt.evaluation.metrics import Measured
from mt.evaluation.scores import Score
from mt.evaluation.significance import (
    BOOTSTRAP,
    NUM_SAMPLES,
    Interval,
    bootstrap_scores,
    paired_bootstrap,
    paired_randomisation,
)

TEST_NAMES = {"bs": "paired bootstrap resampling", "ar": "paired approximate randomisation"}


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Which intervals and tests are asked for."""

    confidence: bool
    paired: str | None
    """The test of each system against the first: bs, ar or None."""
    resamples: int | None
    seed: int

    @property
    def has_intervals(self) -> bool:
        """Whether scores have intervals; the bootstrap test gives them for nothing."""
        return self.confidence or self.paired == BOOTSTRAP

    def num_samples(self, test: str) -> int:
        """How many samples a test draws, or the bootstrap of intervals."""
        return self.resamples or NUM_SAMPLES[test]

    @property
    def keys(self) -> dict[str, int]:
        """What a signature says of it."""
        tests = {BOOTSTRAP} if self.has_intervals else set()
        tests |= {self.paired} if self.paired else set()
        seed = {"seed": self.seed} if tests else {}
        return {test: self.num_samples(test) for test in sorted(tests)} | seed


@dataclass(frozen=True, kw_only=True)
class Result:
    """One score of one system."""

    system: str
    score: Score
    interval: Interval | None
    p_value: float | None
    """Of its difference from the first system."""

    def record(self, *, with_system: bool) -> dict[str, Any]:
        """The score as JSON."""
        record: dict[str, Any] = {"system": self.system} if with_system else {}
        record |= {"name": self.score.name, "score": self.score.score}
        record |= {"signature": self.score.signature}
        if self.interval is not None:
            record |= {"mean": self.interval.mean, "half_width": self.interval.half_width}
        if self.p_value is not None:
            record["p_value"] = self.p_value
        return record

    @property
    def text(self) -> str:
        """The value and its interval."""
        if self.interval is None:
            return f"{self.score.score:.2f}"
        mean, half_width = self.interval.mean, self.interval.half_width
        return f"{self.score.score:.2f} (μ = {mean:.2f} ± {half_width:.2f})"


def results_of(systems: Sequence[tuple[str, list[Measured]]], sampling: Sampling) -> list[Result]:
    """Every score of every system, with intervals and tests against the first of them."""
    baseline: list[tuple[Measured, Any]] = []
    results = []
    for name, measured in systems:
        for index, each in enumerate(measured):
            samples = None
            if sampling.has_intervals:
                samples = bootstrap_scores(
                    each, num_samples=sampling.num_samples(BOOTSTRAP), seed=sampling.seed
                )
            p_value = None
            if len(baseline) < len(measured):
                baseline.append((each, samples))
            elif sampling.paired == BOOTSTRAP:
                first, first_samples = baseline[index]
                difference = abs(first.value - each.value)
                assert samples is not None
                p_value = paired_bootstrap(first_samples, samples, difference)
            elif sampling.paired is not None:
                p_value = paired_randomisation(
                    baseline[index][0],
                    each,
                    num_samples=sampling.num_samples(sampling.paired),
                    seed=sampling.seed,
                )
            results.append(
                Result(
                    system=name,
                    score=each.score(**sampling.keys),
                    interval=None if samples is None else Interval.of(samples),
                    p_value=p_value,
                )
            )
    return results
