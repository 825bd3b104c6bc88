"""Comparisons of systems as `mt compare` prints them: as text, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mt.tasks.compare import Comparison, Example

_SIGNIFICANT = 0.05


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON."""
    record: dict[str, Any] = {
        "systems": list(comparison.systems),
        "scores": [
            {
                "name": first.score.name,
                "scores": [first.score.score, second.score.score],
                "p_value": second.p_value,
                "signature": second.score.signature,
            }
            for first, second in comparison.results
        ],
        "metric": comparison.metric,
        "sentences": asdict(comparison.sentences),
        "groups": {
            name: [
                {"group": each.group, "sentences": each.num_sentences, "scores": list(each.scores)}
                for each in groups
            ]
            for name, groups in comparison.groups.items()
        },
        "gains": [_example_record(each) for each in comparison.gains],
        "losses": [_example_record(each) for each in comparison.losses],
    }
    if comparison.frequencies is not None:
        record["frequencies"] = [
            {"occurrences": each.occurrences, "words": each.num_words, "f1": list(each.f1)}
            for each in comparison.frequencies
        ]
    return record


def _example_record(example: Example) -> dict[str, Any]:
    record: dict[str, Any] = {"line": example.line, "scores": list(example.scores)}
    if example.source is not None:
        record["source"] = example.source
    record["references"] = list(example.references)
    record["hypotheses"] = list(example.hypotheses)
    return record


def comparison_lines(comparison: Comparison) -> list[str]:
    """A comparison as lines of text."""
    first, second = comparison.systems
    lines = [f"A: {first}", f"B: {second}", ""]
    lines += [f"{'':10} {'A':>8} {'B':>8} {'B - A':>8} {'p':>8}"]
    for a, b in comparison.results:
        assert b.p_value is not None
        note = "  no difference" if b.p_value >= _SIGNIFICANT else ""
        row = _row(a.score.name, (a.score.score, b.score.score))
        lines.append(f"{row} {b.p_value:8.4f}{note}")
    metric, counts = comparison.metric, comparison.sentences
    lines += [
        "",
        f"{metric} by sentence: B is better in {counts.wins}, as good in {counts.ties}, "
        f"worse in {counts.losses}",
    ]
    for name, groups in comparison.groups.items():
        lines += ["", f"{metric} by {name}"]
        lines += [f"{_row(g.group, g.scores)}  {g.num_sentences} sentences" for g in groups]
    if comparison.frequencies is not None:
        lines += ["", "F1 of words by occurrences in training"]
        lines += [
            f"{_row(each.occurrences, each.f1)}  {each.num_words} words"
            for each in comparison.frequencies
        ]
    for name, examples in (("better", comparison.gains), ("worse", comparison.losses)):
        if examples:
            lines += ["", f"Where B is {name} by most"]
        for example in examples:
            lines += _example_lines(example, metric)
    return lines


def _row(name: str, scores: Sequence[float]) -> str:
    first, second = scores
    return f"{name:10} {first:8.2f} {second:8.2f} {second - first:+8.2f}"


def _example_lines(example: Example, metric: str) -> list[str]:
    first, second = example.scores
    lines = [f"  line {example.line}: {metric} {first:.2f} and {second:.2f}"]
    if example.source is not None:
        lines.append(f"    source     {example.source}")
    lines += [f"    reference  {text}" for text in example.references]
    for letter, text in zip("AB", example.hypotheses, strict=True):
        lines.append(f"    {letter}          {text}")
    return lines
