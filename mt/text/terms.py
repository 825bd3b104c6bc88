"""Terms with their translations: reading them from a file, and finding them in a text.

A term is found as a whole word, or as whole words. A small letter of the term may be a capital in
the text (the beginning of a sentence, a heading), a capital must be one: the term `polish` is found
in "Polish", the term `IT` not in "it". Nothing else is folded, and no inflected form is guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.formats.glossary import FORM, read_glossary
from mt.formats.standard_input import shown
from mt.text.boundaries import ends_word
from mt.text.normalise import is_blank, normalise


@dataclass(frozen=True, kw_only=True)
class Term:
    """A source term and what may stand for it in a translation."""

    source: str
    targets: tuple[str, ...]
    """Any of these will do."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A term in a text: `text[start:end]`."""

    term: Term
    start: int
    end: int


def read_terms(path: Path, languages: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """Sources and targets of a glossary, normalised (`mt.formats.glossary` says what is read).

    Raises DataError, naming file and line, for a side without text, for bytes that are not UTF-8,
    and for a file that holds no term.
    """
    terms = []
    for where, source, target in read_glossary(path, languages):
        for name, side in (("source term", source), ("translation", target)):
            if is_blank(side):
                raise DataError(f"{where}: the {name} is empty", hint=FORM)
        terms.append((normalise(source), normalise(target)))
    if not terms:
        raise DataError(f"{shown(path)} holds no term", hint=FORM)
    return terms


def merged(pairs: Iterable[tuple[str, str]]) -> list[Term]:
    """Terms from sources and targets, normalised; of equal sources the targets of all.

    Raises ValueError for a source or a target without text.
    """
    targets: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pair in pairs:
        if any(map(is_blank, pair)):
            raise ValueError(f"a term without text: {pair}")
        source, target = map(normalise, pair)
        targets[source][target] = None
    return [Term(source=source, targets=tuple(each)) for source, each in targets.items()]


class TermFinder:
    """Finds terms in texts: of overlapping ones the first, and at one offset the longest."""

    def __init__(self, terms: Iterable[Term]) -> None:
        by_form: defaultdict[str, list[Term]] = defaultdict(list)
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for term in terms:
            form = _folded(term.source)
            by_form[form].append(term)
            lengths[form[0]].add(len(form))
        self._by_form: Mapping[str, list[Term]] = dict(by_form)
        # Longest first, by the first character: what is worth trying at an offset.
        self._lengths = {first: sorted(each, reverse=True) for first, each in lengths.items()}

    def find(self, text: str, start: int = 0, stop: int | None = None) -> Iterator[Found]:
        """The terms of a normalised text within `text[start:stop]`, in order and side by side."""
        if not self._by_form:
            return
        folded = _folded(text)
        stop = len(text) if stop is None else stop
        while start < stop:
            found = self._at(text, folded, start, stop) if ends_word(text, start) else None
            if found is not None:
                yield found
            start = start + 1 if found is None else found.end

    def _at(self, text: str, folded: str, start: int, stop: int) -> Found | None:
        for length in self._lengths.get(folded[start], ()):
            end = start + length
            if end > stop:
                continue
            fitting = [
                term
                for term in self._by_form.get(folded[start:end], ())
                if agrees(text[start:end], term.source)
            ]
            if fitting and ends_word(text, end):
                best = max(fitting, key=lambda term: _num_equal(text[start:end], term.source))
                return Found(term=best, start=start, end=end)
        return None


def count_term(text: str, term: str) -> int:
    """How often a term stands in a normalised text, as whole words and side by side."""
    (folded, form), count, start = (_folded(text), _folded(term)), 0, 0
    while (start := folded.find(form, start)) >= 0:
        end = start + len(form)
        is_there = ends_word(text, start) and ends_word(text, end) and agrees(text[start:end], term)
        count += is_there
        start = end if is_there else start + 1
    return count


def agrees(text: str, term: str) -> bool:
    """Whether they are the same but for small letters of the term that are capitals in the text."""
    return len(text) == len(term) and all(
        here == wanted or here == _capital(wanted) for here, wanted in zip(text, term, strict=True)
    )


def capitalised(term: str) -> str:
    """The term as it stands at the beginning of a sentence."""
    return _capital(term[0]) + term[1:]


def _capital(character: str) -> str:
    upper = character.upper()
    return upper if len(upper) == 1 else character


def _folded(text: str) -> str:
    """Without the difference of small letters and capitals, character for character."""
    return "".join(low if len(low := each.lower()) == 1 else each for each in text)


def _num_equal(text: str, term: str) -> int:
    return sum(here == wanted for here, wanted in zip(text, term, strict=True))
