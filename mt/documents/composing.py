"""The target of a passage: its sentences' translations with marks and protected text in place."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from mt.documents.passage import Mark, Passage, Protected
from mt.documents.projection import Placing, Projected, Words, project
from mt.documents.spacing import Around, Between, at_end_of_sentence, inside_sentence, key_of
from mt.documents.words import Span, is_content, word_spans
from mt.formats.documents.unit import Code, CodeForm, Content
from mt.languages import writes_no_spaces, writes_spaces_between_phrases
from mt.text.normalise import normalise
from mt.text.placeholders import (
    PLACEHOLDERS_IN_DOCUMENTS,
    TAG,
    find_placeholders,
    literal_pattern,
)

Link = tuple[int, int]
_MOST_NESTED = 100  # pairs in each other; each needs some of Python's stack


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A stretch of a passage and its translation."""

    start: int
    end: int
    target: str
    links: Collection[Link] = ()
    """Words (`word_spans`) of the stretch, and of the target, that belong together."""


@dataclass(frozen=True, kw_only=True)
class Composed:
    """A target, and what did not come out by itself."""

    content: Content
    num_unplaced: int
    """Pairs around words that nothing in the target belongs to."""
    num_mended: int
    """Placeholders that were put in, or taken out, because the translation has others."""


@dataclass(frozen=True, kw_only=True)
class _Atom:
    """A word, or what is protected, as one."""

    start: int
    end: int
    written: str | Code
    is_content: bool


def compose(passage: Passage, chunks: Sequence[Chunk], language: str) -> Composed:
    """Put the marks of a passage and what is protected into the translations of its chunks.

    `language` is that of the target.
    """
    if not passage.marks and not passage.protected:
        text = _plain(passage, chunks, has_spaces=not writes_no_spaces(language))
        if text is not None:
            return Composed(content=(text,), num_unplaced=0, num_mended=0)
    if _depth(passage.marks) > _MOST_NESTED:
        at_edges = compose_at_edges(passage, chunks, language)
        return dataclasses.replace(at_edges, num_unplaced=1)
    return _Composing(passage, chunks, language).composed(with_marks=True)


def compose_at_edges(passage: Passage, chunks: Sequence[Chunk], language: str) -> Composed:
    """The translations with all openings before them, all closings behind, single marks last."""
    plain = _Composing(passage, chunks, language).composed(with_marks=False)
    openings = [mark for mark in passage.marks if mark.form is CodeForm.OPENING]
    singles = [mark.written for mark in passage.marks if mark.form is CodeForm.ISOLATED]
    closings = {mark.name: mark for mark in passage.marks if mark.form is CodeForm.CLOSING}
    parts = [
        *(mark.written for mark in openings),
        *plain.content,
        *(closings[mark.name].written for mark in reversed(openings)),
        *singles,
    ]
    return Composed(content=joined(parts), num_unplaced=0, num_mended=plain.num_mended)


def _plain(passage: Passage, chunks: Sequence[Chunk], *, has_spaces: bool) -> str | None:
    """The target of a passage that holds text alone; None where a translation holds more."""
    text, end = "", 0
    for number, chunk in enumerate(chunks):
        if any(_spans_of_form(chunk.target)):
            return None
        between = passage.text[end : chunk.start]
        if number:
            least = " " if has_spaces else ""
            between = least if between in ("", " ") else between
        text += between + chunk.target
        end = chunk.end
    return text + passage.text[end:]


class _Composing:
    def __init__(self, passage: Passage, chunks: Sequence[Chunk], language: str) -> None:
        self._passage = passage
        self._has_spaces = not writes_no_spaces(language)
        self._may_add = self._has_spaces and not writes_spaces_between_phrases(language)
        self._sources: list[_Atom] = []
        self._targets: list[_Atom] = []
        self._space_before: list[str] = []
        self._links: defaultdict[int, set[int]] = defaultdict(set)
        self._ends: list[tuple[int, int]] = [(0, 0)]
        self._missing: list[tuple[int, Protected]] = []
        self._num_removed = 0
        for chunk in chunks:
            self._add(chunk)
        self._around = _sides(passage)

    def _add(self, chunk: Chunk) -> None:
        text = self._passage.text[chunk.start : chunk.end]
        protected = self._passage.within(chunk.start, chunk.end)
        spans = [(each.start - chunk.start, each.end - chunk.start) for each in protected]
        found, missing = _found(chunk.target, self._passage, protected)
        written = [each.written for each in protected]
        sources = _atoms(text, list(zip(spans, written, strict=True)))
        targets = _atoms(chunk.target, [(span, what) for span, what, _ in found])
        first, base = len(self._sources), len(self._targets)
        by_start = {atom.start: i for i, atom in enumerate(sources)}
        of_target = {atom.start: i for i, atom in enumerate(targets)}
        for span, _, origin in found:
            if origin is None:
                self._num_removed += 1
            else:
                source = by_start[origin.start - chunk.start]
                self._links[first + source].add(base + of_target[span[0]])
        certain = set(self._links)
        for source, target in _atom_links(text, sources, chunk, targets):
            if first + source not in certain:
                self._links[first + source].add(base + target)
        self._missing += [(first + by_start[each.start - chunk.start], each) for each in missing]
        end = 0
        for number, atom in enumerate(targets):
            self._space_before.append(chunk.target[end : atom.start] if number else "")
            end = atom.end
        self._sources += [
            _Atom(
                start=chunk.start + atom.start,
                end=chunk.start + atom.end,
                written=atom.written,
                is_content=atom.is_content,
            )
            for atom in sources
        ]
        self._targets += targets
        self._ends.append((len(self._sources), len(self._targets)))

    def composed(self, *, with_marks: bool) -> Composed:
        projected = project(
            self._placings(self._passage.marks if with_marks else ()),
            Words(
                num_target=len(self._targets),
                links=self._links,
                anchors=dict(self._ends),
                source_content=[atom.is_content for atom in self._sources],
                target_content=[atom.is_content for atom in self._targets],
            ),
        )
        return Composed(
            content=joined(self._spaced(projected, with_marks=with_marks)),
            num_unplaced=projected.num_unplaced,
            num_mended=self._num_removed + len(self._missing),
        )

    def _placings(self, marks: Sequence[Mark]) -> list[Placing]:
        """Marks, and protected text that the translation lacks, in order of the source."""
        text = self._passage.text
        starts = [atom.start for atom in self._sources]
        placings: list[tuple[int, int, Placing]] = []
        for order, mark in enumerate(marks):
            gap = bisect_right(starts, mark.offset - 1)  # words that begin before it
            is_inside = gap > 0 and self._sources[gap - 1].end > mark.offset
            if is_inside and mark.form is CodeForm.OPENING:
                gap -= 1
            around = self._around[key_of(mark)]
            is_with_next = not around.behind and (around.before or mark.offset == 0)
            placing = Placing(mark=mark, gap=gap, is_with_next=is_with_next and not is_inside)
            placings.append((mark.offset, order, placing))
        for number, (index, protected) in enumerate(self._missing):
            mark = Mark(
                offset=protected.start,
                form=CodeForm.ISOLATED,
                name=f"missing {number}",
                written=protected.written,
            )
            self._around[key_of(mark)] = _around(text, protected.start, protected.end)
            order = len(marks) + number
            placings.append((protected.start, order, Placing(mark=mark, gap=index + 1)))
        return [placing for _, _, placing in sorted(placings, key=lambda each: each[:2])]

    def _spaced(self, projected: Projected, *, with_marks: bool) -> list[str | Code]:
        """The words and marks of the target with white space."""
        between = self._between(with_marks=with_marks)
        parts: list[str | Mark | Code] = []
        marks: list[Mark] = []
        gap = 0
        for each in (*projected.sequence, None):
            if isinstance(each, Mark):
                marks.append(each)
                continue
            if gap in between:
                is_end = gap in (0, len(self._targets))
                least = " " if self._has_spaces and not is_end else ""
                parts += at_end_of_sentence(marks, between[gap], self._around, least=least)
            else:
                space = self._space_before[gap]
                is_removed = self._targets[gap].written == ""
                parts += inside_sentence(
                    marks, "" if is_removed else space, self._around, may_add=self._may_add
                )
            if each is not None:
                parts.append(self._targets[each].written)
            marks = []
            gap += 1
        return [part.written if isinstance(part, Mark) else part for part in parts]

    def _between(self, *, with_marks: bool) -> dict[int, Between]:
        """What the source has between sentences, by the gap of the target."""
        text = self._passage.text
        found: dict[int, Between] = {}
        for number, (source, target) in enumerate(self._ends):
            start = self._sources[source - 1].end if source else 0
            is_last = source == len(self._sources)
            end = len(text) if is_last else self._sources[source].start
            pieces = [
                (key, piece)
                for key, piece in self._pieces(start, end, with_marks=with_marks)
                if self._has_spaces or piece != " " or number in (0, len(self._ends) - 1)
            ]
            before = found[target].pieces if target in found else ()
            found[target] = Between(
                pieces=(*before, *pieces),
                is_first=target == 0 or not self._may_add,
                is_last=is_last or not self._may_add,
            )
        return found

    def _pieces(self, start: int, end: int, *, with_marks: bool) -> list[tuple[str, str]]:
        """The text from `start` to `end`, cut at the marks, each piece with the mark before it."""
        marks = [mark for mark in self._passage.marks if start <= mark.offset <= end]
        key, pieces = "", []
        for mark in marks if with_marks else ():
            pieces.append((key, self._passage.text[start : mark.offset]))
            key, start = key_of(mark), mark.offset
        pieces.append((key, self._passage.text[start:end]))
        return [(key, text) for key, text in pieces if text]


def _found(
    target: str, passage: Passage, protected: Sequence[Protected]
) -> tuple[list[tuple[Span, str | Code, Protected | None]], list[Protected]]:
    """What is protected, where it stands in a translation, and what of it is missing.

    A placeholder that the source does not have, or not so often, is found as the empty text.
    """
    wanted: defaultdict[str, list[Protected]] = defaultdict(list)
    raw: dict[str, str] = {}  # as it stands where a sentence was copied
    for each in protected:
        text = passage.text[each.start : each.end]
        wanted[normalise(text)].append(each)
        raw[text] = normalise(text)
    found: list[tuple[Span, str | Code, Protected | None]] = []
    literal = literal_pattern([*wanted, *raw])
    for match in literal.finditer(target) if literal is not None else ():
        waiting = wanted[raw.get(match[0], match[0])]
        if waiting:
            origin = waiting.pop(0)
            found.append((match.span(), origin.written, origin))
    for start, end in _spans_of_form(target):
        if all(end <= first or last <= start for (first, last), _, _ in found):
            found.append(((start, end), "", None))
    found.sort(key=lambda each: each[0])
    missing = sorted(
        (each for waiting in wanted.values() for each in waiting), key=lambda each: each.start
    )
    return found, missing


def _spans_of_form(text: str) -> Iterator[Span]:
    """Where placeholders and tags stand in a text."""
    return find_placeholders(text, (TAG, *PLACEHOLDERS_IN_DOCUMENTS))


def _atoms(text: str, protected: Iterable[tuple[Span, str | Code]]) -> list[_Atom]:
    """Words, and what is protected as one, in order."""
    atoms: list[_Atom] = []
    place = 0
    for (start, end), written in (*protected, ((len(text), len(text)), "")):
        for first, last in word_spans(text[place:start]):
            word = text[place + first : place + last]
            atoms.append(
                _Atom(
                    start=place + first,
                    end=place + last,
                    written=word,
                    is_content=is_content(word),
                )
            )
        if end > start:
            atoms.append(_Atom(start=start, end=end, written=written, is_content=True))
        place = end
    return atoms


def _atom_links(
    text: str, sources: Sequence[_Atom], chunk: Chunk, targets: Sequence[_Atom]
) -> set[Link]:
    """Links of atoms from those of words."""
    if not chunk.links:
        return set()
    of_source, of_target = _atoms_of_words(text, sources), _atoms_of_words(chunk.target, targets)
    return {
        (here, there)
        for source, target in chunk.links
        for here in of_source[source]
        for there in of_target[target]
    }


def _atoms_of_words(text: str, atoms: Sequence[_Atom]) -> list[list[int]]:
    """The atoms that each word of a text shares characters with."""
    found: list[list[int]] = []
    first = 0
    for start, end in word_spans(text):
        while first < len(atoms) and atoms[first].end <= start:
            first += 1
        here = []
        for index in range(first, len(atoms)):
            if atoms[index].start >= end:
                break
            here.append(index)
        found.append(here)
    return found


def _depth(marks: Sequence[Mark]) -> int:
    """How many pairs stand in each other."""
    steps = {CodeForm.OPENING: 1, CodeForm.CLOSING: -1, CodeForm.ISOLATED: 0}
    return max(accumulate((steps[mark.form] for mark in marks), initial=0))


def _sides(passage: Passage) -> dict[str, Around]:
    """What stands beside each mark of a passage, and in a pair of white space."""
    text = passage.text
    sides = {key_of(mark): _around(text, mark.offset, mark.offset) for mark in passage.marks}
    for opening, closing in pairwise(passage.marks):
        held = text[opening.offset : closing.offset]
        is_pair = opening.form is CodeForm.OPENING and opening.name == closing.name
        if is_pair and held.isspace():
            key = key_of(opening)
            sides[key] = dataclasses.replace(sides[key], holds=held)
    return sides


def _around(text: str, start: int, end: int) -> Around:
    return Around(before=text[:start][-1:].isspace(), behind=text[end : end + 1].isspace())


def joined(parts: Iterable[str | Code]) -> Content:
    """A content without empty texts, and with none beside another."""
    joined: list[str | Code] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)
