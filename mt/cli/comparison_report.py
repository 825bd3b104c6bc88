"""What `mt compare` tells of two systems, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from mt.cli.scored_text import System
from mt.evaluation.comparison import (
    Splitter,
    gains,
    most_different,
    outcome,
    score_by_group,
    words_by_frequency,
)
from mt.evaluation.metrics import Measured
from mt.evaluation.results import Result

_SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two systems, and what is known of the text."""

    systems: tuple[System, System]
    results: tuple[Sequence[Result], Sequence[Result]]
    measured: tuple[Measured, Measured]
    """Under the metric that parts sentences and groups."""
    references: Sequence[Sequence[str]]
    sources: Sequence[str] | None
    groups: Mapping[str, Sequence[str]]
    """For each way to group sentences, the group of each."""
    frequencies: Mapping[str, int] | None
    """How often words occur in training; None where no text of it was given."""
    split: Splitter
    num_examples: int

    @cached_property
    def record(self) -> dict[str, Any]:
        """What is told, as JSON."""
        first, second = self.measured
        gained = gains(first, second)
        best, worst = most_different(gained, self.num_examples)
        record: dict[str, Any] = {
            "systems": [system.name for system in self.systems],
            "scores": [
                {
                    "name": a.score.name,
                    "scores": [a.score.score, b.score.score],
                    "p_value": b.p_value,
                    "signature": b.score.signature,
                }
                for a, b in zip(*self.results, strict=True)
            ],
            "metric": first.metric.name,
            "sentences": asdict(outcome(gained)),
            "groups": {name: self._by_group(groups) for name, groups in self.groups.items()},
            "gains": [self._example(place) for place in best],
            "losses": [self._example(place) for place in worst],
        }
        if self.frequencies is not None:
            record["frequencies"] = self._by_frequency(self.frequencies)
        return record

    def _by_group(self, groups: Sequence[str]) -> list[dict[str, Any]]:
        """The score of each group of sentences, in the order of numbers where names begin so."""
        scores = [score_by_group(each, groups) for each in self.measured]
        sizes = Counter(groups)
        return [
            {"group": name, "sentences": sizes[name], "scores": [each[name] for each in scores]}
            for name in sorted(sizes, key=_in_order)
        ]

    def _by_frequency(self, frequencies: Mapping[str, int]) -> list[dict[str, Any]]:
        found = [
            words_by_frequency(system.hypotheses, self.references[0], frequencies, self.split)
            for system in self.systems
        ]
        return [
            {"occurrences": name, "words": words.num_words, "f1": [each[name].f1 for each in found]}
            for name, words in found[0].items()
        ]

    def _example(self, place: int) -> dict[str, Any]:
        """One sentence, with all that is known of it."""
        scores = [each.metric.sentence_score(each.counts[place]) for each in self.measured]
        example: dict[str, Any] = {"line": place + 1, "scores": scores}
        if self.sources is not None:
            example["source"] = self.sources[place]
        example["references"] = [lines[place] for lines in self.references]
        example["hypotheses"] = [system.hypotheses[place] for system in self.systems]
        return example


def describe(comparison: Comparison) -> list[str]:
    """What is told, as lines."""
    record = comparison.record
    first, second = record["systems"]
    lines = [f"A: {first}", f"B: {second}", ""]
    lines += [f"{'':10} {'A':>8} {'B':>8} {'B - A':>8} {'p':>8}"]
    for row in record["scores"]:
        note = "  no difference" if row["p_value"] >= _SIGNIFICANT else ""
        lines.append(f"{_row(row['name'], row['scores'])} {row['p_value']:8.4f}{note}")
    metric, counts = record["metric"], record["sentences"]
    lines += [
        "",
        f"{metric} by sentence: B is better in {counts['wins']}, as good in {counts['ties']}, "
        f"worse in {counts['losses']}",
    ]
    for name, groups in record["groups"].items():
        lines += ["", f"{metric} by {name}"]
        for row in groups:
            lines.append(f"{_row(row['group'], row['scores'])}  {row['sentences']} sentences")
    if "frequencies" in record:
        lines += ["", "F1 of words by occurrences in training"]
        for row in record["frequencies"]:
            lines.append(f"{_row(row['occurrences'], row['f1'])}  {row['words']} words")
    for name, examples in (("better", record["gains"]), ("worse", record["losses"])):
        if examples:
            lines += ["", f"Where B is {name} by most"]
        for example in examples:
            lines += _example_lines(example, metric)
    return lines


def _row(name: str, scores: Sequence[float]) -> str:
    first, second = scores
    return f"{name:10} {first:8.2f} {second:8.2f} {second - first:+8.2f}"


def _example_lines(example: Mapping[str, Any], metric: str) -> list[str]:
    first, second = example["scores"]
    lines = [f"  line {example['line']}: {metric} {first:.2f} and {second:.2f}"]
    if "source" in example:
        lines.append(f"    source     {example['source']}")
    lines += [f"    reference  {text}" for text in example["references"]]
    for letter, text in zip("AB", example["hypotheses"], strict=True):
        lines.append(f"    {letter}          {text}")
    return lines


def _in_order(name: str) -> tuple[bool, int, str]:
    """Ranges of numbers by their first number, and before names."""
    digits = name.partition("–")[0].removesuffix("+")
    return (not digits.isdecimal(), int(digits) if digits.isdecimal() else 0, name)
