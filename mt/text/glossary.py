"""What a line asks of its translation: the terms of a glossary, and placeholders as they are.

It says what is asked and whether a text has it; how a search is brought to write it is not its
concern.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.text.boundaries import is_of_word
from mt.text.normalise import normalise
from mt.text.placeholders import find_placeholders, literal_pattern
from mt.text.terms import Found, TermFinder, count_term, merged, read_terms
from mt.text.truecase import Kept


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What must stand in the translation of a line because of what stands in the line."""

    source: str
    """As it stands in the line."""
    targets: tuple[str, ...]
    """One of these is asked for; of a placeholder itself."""
    times: int = 1
    """How often: of a term once at least, of a placeholder exactly as often as in the line."""
    is_placeholder: bool = False
    is_joined: bool = False
    """Whether the placeholder is written together with a word."""


class Glossary:
    """Terms with their translations, and patterns of what is not translated at all."""

    def __init__(
        self,
        terms: Iterable[tuple[str, str]] = (),
        *,
        placeholders: Sequence[re.Pattern[str]] = (),
    ) -> None:
        """Use terms, as sources and targets, and patterns of placeholders.

        A source that comes several times may be translated by any of its targets; one that is its
        own target stays as it is. Raises ValueError for a term without text.
        """
        known = merged(terms)
        self._has_terms = bool(known)
        self._finder = TermFinder(known)
        self._placeholders = tuple(placeholders)

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        placeholders: Sequence[re.Pattern[str]] = (),
        languages: tuple[str, str] | None = None,
    ) -> Glossary:
        """Read the terms of a file, as `mt.text.terms.read_terms` says.

        `languages` are those of source and target, for files that name languages. Raises DataError
        for a file that cannot be read, or is no glossary.
        """
        return cls(read_terms(Path(path), languages), placeholders=placeholders)

    @property
    def is_empty(self) -> bool:
        """Whether there are neither terms nor patterns."""
        return not self._has_terms and not self._placeholders

    def asked(self, line: str, protected: Sequence[str] = ()) -> tuple[Asked, ...]:
        """What a line asks for, in its order, each once; inside placeholders there are no terms.

        `protected` are texts that stay as they are in this line, beside what the patterns find.
        """
        text = normalise(line)
        asked: dict[tuple[str, ...], Asked] = {}
        counts: Counter[str] = Counter()
        joined: set[str] = set()
        for start, end, found in self._found(text, protected):
            each = text[start:end]
            if found is not None:
                targets = found.term.targets
                asked.setdefault((found.term.source, *targets), Asked(source=each, targets=targets))
                continue
            counts[each] += 1
            joined |= {each} if _is_joined(text, start, end) else set()
            asked[(each,)] = Asked(
                source=each,
                targets=(each,),
                times=counts[each],
                is_placeholder=True,
                is_joined=each in joined,
            )
        return tuple(asked.values())

    def kept(self, text: str, protected: Sequence[str] = ()) -> list[Kept]:
        """What a normalised text asks for, as it is to stand where case is restored.

        A term is written as the glossary has it, so that it is found there again, a placeholder as
        it is.
        """
        return [
            (start, end, text[start:end] if found is None else found.term.source)
            for start, end, found in self._found(text, protected)
        ]

    def _patterns(self, protected: Iterable[str]) -> tuple[re.Pattern[str], ...]:
        literal = literal_pattern(map(normalise, protected))
        return self._placeholders if literal is None else (*self._placeholders, literal)

    def _found(
        self, text: str, protected: Sequence[str]
    ) -> Iterator[tuple[int, int, Found | None]]:
        """Where terms and placeholders (None) stand in a normalised text, in order."""
        start = 0
        spans = find_placeholders(text, self._patterns(protected))
        for first, last in [*spans, (len(text), len(text))]:
            for found in self._finder.find(text, start, first):
                yield found.start, found.end, found
            if last > first:
                yield first, last, None
            start = last

    def missed(self, asked: Sequence[Asked], text: str) -> tuple[Asked, ...]:
        """Those of `asked` that a translation does not honour, by its text."""
        if not asked:
            return ()
        patterns = self._patterns(each.source for each in asked if each.is_placeholder)
        spans = find_placeholders(text, patterns)
        placeholders = Counter(text[start:end] for start, end in spans)
        return tuple(
            each
            for each in asked
            if (
                placeholders[each.source] != each.times
                if each.is_placeholder
                else not any(count_term(text, target) for target in each.targets)
            )
        )


def _is_joined(text: str, start: int, end: int) -> bool:
    """Whether a letter or digit stands right before or behind `text[start:end]`."""
    return any(map(is_of_word, (*text[max(start - 1, 0) : start], *text[end : end + 1])))
