"""A translation memory: what people translated before, found again whole or nearly."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice
from pathlib import Path

from mt.errors import DataError
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.text.normalise import is_blank, normalise

LEAST_LIKENESS = 0.7
_MOST_HOLDERS = 2000  # entries that a word may be in and still tell which ones are like a text
_MOST_COMPARED = 40  # of those that share words, so many are compared word by word


@dataclass(frozen=True, kw_only=True)
class Match:
    """An entry of a memory that is like a text."""

    source: str
    target: str
    likeness: float
    """Twice the words in common, in order, over the words of both; 1: it is the same text."""


class Memory:
    """Pairs that can be looked up by their source; of equal sources the last one counts."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Remember pairs that have text on both sides."""
        self._targets = {
            normalise(source): target
            for source, target in pairs
            if not is_blank(source) and not is_blank(target)
        }

    @classmethod
    def read(cls, paths: Sequence[Path], languages: tuple[str, str] | None) -> Memory:
        """Read the pairs of corpora, in the direction of `languages` where these are known.

        Drafts and units without a target are left out. Raises DataError for files that cannot be
        read or hold no pair, ConfigError for those that are no corpora.
        """
        names = [str(path) for path in paths]
        corpora = open_corpora(names, ReadingOptions(languages=languages, keep_invalid=True))
        memory = cls(
            (pair.source, pair.target)
            for reader in corpora.readers
            for pair in reader
            if not pair.fault
        )
        if not len(memory):
            raise DataError(f"the memory {', '.join(names)} holds no pair")
        return memory

    def __len__(self) -> int:
        return len(self._targets)

    def exact(self, text: str) -> str | None:
        """The target of a source that is `text`, white space and composed characters aside."""
        return self._targets.get(normalise(text))

    def closest(self, text: str, *, least: float = LEAST_LIKENESS) -> Match | None:
        """The entry that is most like `text`, if one is like it by `least`; of equals the first."""
        words = _words(text)
        best: Match | None = None
        for source, target in self._alike(words):
            matcher = SequenceMatcher(None, _words(source), words, autojunk=False)
            bound = best.likeness if best is not None else least
            if matcher.real_quick_ratio() < bound or matcher.quick_ratio() < bound:
                continue
            likeness = matcher.ratio()
            if likeness >= least and (best is None or likeness > best.likeness):
                best = Match(source=source, target=target, likeness=likeness)
        if best is not None and best.likeness == 1.0 and best.source != normalise(text):
            return dataclasses.replace(best, likeness=0.99)  # but for case
        return best

    def _alike(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Entries that share words with a text, those with most of them first."""
        shared: Counter[int] = Counter()
        for word in set(words):
            holders = self._holders.get(word, ())
            if len(holders) <= _MOST_HOLDERS:
                shared.update(holders)
        ranked = sorted(shared, key=lambda number: (-shared[number], number))
        return (self._entries[number] for number in islice(ranked, _MOST_COMPARED))

    @cached_property
    def _entries(self) -> list[tuple[str, str]]:
        return list(self._targets.items())

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """For each word the numbers of the entries that hold it."""
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, (source, _) in enumerate(self._entries):
            for word in set(_words(source)):
                holders[word].append(number)
        return dict(holders)


def _words(text: str) -> list[str]:
    """Words to compare by: case aside; of text without spaces its characters."""
    words = normalise(text).casefold().split()
    return words if len(words) > 1 else list(words[0]) if words else []
