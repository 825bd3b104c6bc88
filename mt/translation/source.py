"""What a translation is searched for: a tokenised line, or a part of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt.search.sentence import NO_DEMANDS, Demands


@dataclass(frozen=True, kw_only=True)
class Source:
    """A tokenised source, where it comes from, and what it asks of its translation."""

    tokens: Sequence[int]
    """Without the end symbol."""
    text: str
    """What the tokens stand for: a line or a part of one."""
    line: int
    """The number of that line, for warnings."""
    demands: Demands = NO_DEMANDS
    protected: tuple[str, ...] = ()
    """Texts of the line that its translation holds as they are (with a glossary, be it empty)."""

    def __len__(self) -> int:
        return len(self.tokens)
