"""What is said of translations that cannot be right."""

from __future__ import annotations

import math

import pytest

from mt.cli.console import notices
from mt.errors import ModelFolderError
from mt.tasks.line_summary import DoubtCounts


def counted(*pairs: tuple[str, str], score: float = -1.0) -> tuple[DoubtCounts, list[str]]:
    counts = DoubtCounts()
    said: list[str] = []
    for source, text in pairs:
        counts.add_pair(source, text, score=score)
    counts.report(notices(said.append))
    return counts, said


def test_empty_translations_are_counted_with_the_first_line() -> None:
    counts, said = counted(("", ""), ("a", "b"), ("c", ""), ("d", " \u200b"), ("\ufeff", ""))
    assert said == ["mt: warning: 2 translations empty, of text that is not (the first: line 3)"]
    counts.require_any_text("m")


def test_impossible_translations_and_other_numbers_are_said_as_well() -> None:
    _, said = counted(("kostet 95 Euro", "costs 59 euros"), score=-math.inf)
    assert said == [
        "mt: warning: 1 translation that the model holds for impossible (the first: line 1)",
        "mt: warning: 1 translation with other numbers than in the source (the first: line 1)",
    ]


@pytest.mark.parametrize("pairs", [[("a", "")], [("", ""), ("a", ""), ("b", " ")]])
def test_a_model_that_gives_nothing_at_all_is_at_fault(pairs: list[tuple[str, str]]) -> None:
    counts, _ = counted(*pairs)
    with pytest.raises(ModelFolderError, match=r"model translates .* by nothing"):
        counts.require_any_text("a/model")


def test_blank_lines_alone_are_no_fault() -> None:
    counts, said = counted(("", ""), (" ", ""))
    counts.require_any_text("m")
    assert not said
