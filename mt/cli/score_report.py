"""Scores of systems as `mt eval` prints them: lines, and a table of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mt.evaluation.metrics import Measured
from mt.evaluation.results import Result
from mt.files import write_text


def lines_of(results: Sequence[Result]) -> list[str]:
    """The scores as lines: of one system a line each, of several a block for each metric."""
    systems = list(dict.fromkeys(result.system for result in results))
    if len(systems) == 1:
        return [f"{r.score.name} {r.text}  {r.score.signature}" for r in results]
    lines = []
    for first in results[: len(results) // len(systems)]:
        block = [each for each in results if each.score.name == first.score.name]
        width = max(len(each.text) for each in block)
        lines.append(f"{first.score.name}  {first.score.signature}")
        for each in block:
            p_value = "" if each.p_value is None else f"  p = {each.p_value:.4f}"
            lines.append(f"  {each.text:<{width}}  {each.system}{p_value}")
    return lines


def write_sentences(path: Path, systems: Sequence[tuple[str, list[Measured]]]) -> None:
    """Write a tab-separated table of the scores of each sentence of each system."""
    names = [each.metric.name for each in systems[0][1]]
    rows = ["\t".join(["line", "system", *names])]
    for name, measured in systems:
        columns = [each.sentence_scores() for each in measured]
        rows += [
            "\t".join([str(line), name, *(f"{score:.2f}" for score in scores)])
            for line, scores in enumerate(zip(*columns, strict=True), start=1)
        ]
    write_text(path, "".join(f"{row}\n" for row in rows))
