"""Exact match: how many hypotheses are a reference, word for word."""

from __future__ import annotations

from collections.abc import Sequence


def exact_matches(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> list[bool]:
    """Whether each hypothesis is one of its references, white space at the ends and runs aside.

    hypotheses: N texts; references: one or more lists of N texts. Raises ValueError where there
    are no references or lengths differ.
    """
    if not references or any(len(each) != len(hypotheses) for each in references):
        raise ValueError("each list of references must be as long as that of hypotheses")
    words = [_words(text, lowercase) for text in hypotheses]
    return [
        any(words[line] == _words(reference[line], lowercase) for reference in references)
        for line in range(len(hypotheses))
    ]


def _words(text: str, lowercase: bool) -> list[str]:
    return (text.lower() if lowercase else text).split()
