"""Text with some spans replaced: what lies between them stays as it was."""

from __future__ import annotations

from collections.abc import Iterable

Edit = tuple[int, int, str]
"""Start and end of a span of characters, and what comes in its place."""


def splice(text: str, edits: Iterable[Edit]) -> str:
    """`text` with spans replaced; an edit that is given twice counts once.

    Raises ValueError for spans that overlap.
    """
    pieces, place = [], 0
    for start, end, new in sorted(set(edits)):
        if start < place:
            raise ValueError(f"the spans overlap at {start}")
        pieces += [text[place:start], new]
        place = end
    return "".join([*pieces, text[place:]])
