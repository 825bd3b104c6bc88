"""What finds translations of token sequences: a search of mt's own, or another engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mt.search.hypothesis import SearchResult
from mt.translation.source import Source


class Finder(Protocol):
    """Finds translations of sources: a `Searcher`, an engine, or what brings terms into both."""

    def search(self, sources: Sequence[Source]) -> list[SearchResult]:
        """The results of sources, none of them empty, in their order."""
        ...

    def giving(self, n_best: int) -> Finder:
        """The same search, by the same weights, with so many hypotheses of its beam."""
        ...
