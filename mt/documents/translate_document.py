"""The units of a document filled: what is translated, what stays, and what is marked.

Units are taken in windows, as many as the translator likes at once; of equal sentences one is
translated. Each target is verified before it is put into the document.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from mt.documents.composing import Chunk, Composed, compose, compose_at_edges, joined
from mt.documents.cutting import Sentence, cut, running_groups
from mt.documents.flow import share_out
from mt.documents.icu import Branch, Piece, has_plural, is_message, message_pieces, quoted
from mt.documents.passage import Passage, read_passage
from mt.documents.report import Counts, DocumentReport
from mt.documents.sentence_translator import Asked, Link, SentenceTranslator, Told
from mt.documents.verification import faults_of
from mt.documents.words import word_spans
from mt.formats.documents.unit import Code, Content, Document, State, Unit
from mt.text.normalise import normalise
from mt.text.placeholders import literal_pattern
from mt.translation.flags import flags_of

Done = Callable[[int], object]
"""Called with the number of units that are done."""


@dataclass(frozen=True, kw_only=True)
class Filling:
    """How the units of documents are filled."""

    source_language: str = ""
    target_language: str = ""
    overwrites: bool = False
    """Also units that have a target, doubtful or not."""
    marks: bool = True
    """Mark all that is translated; else only what a person has to look at."""
    whole: bool = False
    """Do not cut units into sentences."""
    usual: float = 0.0
    """The log proportion of the lengths of most pairs (`mt.translation.flags`)."""


@dataclass(kw_only=True)
class _Task:
    """A unit that is to be filled."""

    index: int
    unit: Unit
    pieces: Sequence[Piece]
    passages: list[Passage]
    """Of the branches among the pieces, in order."""
    chunks: dict[int, list[Chunk]] = field(default_factory=dict)
    """Of the passages, by their numbers."""
    reasons: set[str] = field(default_factory=set)
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Passages that are cut into sentences together."""

    members: tuple[tuple[_Task, int], ...]
    """Tasks, and which of their passages."""
    sentences: tuple[Sentence, ...]


def translate_document(
    document: Document,
    translator: SentenceTranslator,
    filling: Filling,
    done: Done = lambda count: None,
) -> DocumentReport:
    """Fill the units of a document; it is not written yet."""
    engine = _Engine(document, translator, filling, done)
    engine.run()
    return engine.counts.report(document.skipped)


class _Engine:
    def __init__(
        self, document: Document, translator: SentenceTranslator, filling: Filling, done: Done
    ) -> None:
        self._document = document
        self._translator = translator
        self._filling = filling
        self._done = done
        self._told: dict[Asked, Told] = {}
        self._links: dict[Asked, Collection[Link]] = {}
        self.counts = Counts(units=len(document.units))

    def run(self) -> None:
        groups = self._groups()
        waiting: deque[_Group] = deque()
        while True:
            window: list[_Group] = []
            num_sentences = 0
            while num_sentences < self._translator.window:
                group = waiting.popleft() if waiting else next(groups, None)
                if group is None:
                    break
                window.append(group)
                num_sentences += len(group.sentences)
            if not window:
                return
            self._translate(window)
            for group in window:
                again = self._share(group)
                waiting.extend(again)
                if not again:
                    self._finish(group)

    # What is to be done

    def _groups(self) -> Iterator[_Group]:
        for flow, tasks in groupby(self._tasks(), key=lambda task: task and task.unit.flow):
            running = [task for task in tasks if task is not None]
            if flow and all(len(task.passages) == 1 for task in running):
                passages = [task.passages[0] for task in running]
                for numbers in running_groups(passages, self._filling.source_language):
                    yield self._group([(running[number], 0) for number in numbers])
                continue
            for task in running:
                members = [(task, number) for number in range(len(task.passages))]
                yield from (self._group([member]) for member in members)

    def _group(self, members: Sequence[tuple[_Task, int]]) -> _Group:
        passages = [task.passages[number] for task, number in members]
        sentences = cut(passages, self._filling.source_language, whole=self._filling.whole)
        return _Group(members=tuple(members), sentences=tuple(sentences))

    def _tasks(self) -> Iterator[_Task | None]:
        """The units to be translated; None for one that is not, which ends a flow."""
        for index, unit in enumerate(self._document.units):
            yield self._task(index, unit)

    def _task(self, index: int, unit: Unit) -> _Task | None:
        counts = self.counts
        if unit.state is State.LOCKED:
            counts.locked += 1
        elif unit.state is not State.EMPTY and not self._filling.overwrites:
            counts.kept += 1
        else:
            pieces: Sequence[Piece] | None = [Branch(content=unit.source, has_number_sign=False)]
            if is_message(unit.source):
                pieces = message_pieces(unit.source)
            if pieces is None:
                self._left("a message of ICU that cannot be taken apart")
                return None
            passages = [
                read_passage(each.content, protects_number_sign=each.has_number_sign)
                for each in pieces
                if isinstance(each, Branch)
            ]
            if any(passage.has_letters for passage in passages):
                return _Task(index=index, unit=unit, pieces=pieces, passages=passages)
            self._document.fill(index, unit.source, marked=False)
            counts.copied += 1
        self._done(1)
        return None

    def _left(self, reason: str) -> None:
        self.counts.left += 1
        self.counts.reasons[reason] += 1
        self._done(1)

    # Sentences

    def _translate(self, window: Sequence[_Group]) -> None:
        """Translate what is new, and align where marks stand inside or a placeholder is missing."""
        marked: dict[Asked, bool] = {}
        for group in window:
            for sentence in group.sentences:
                asked = _asked(sentence)
                if sentence.is_translated:
                    is_marked = _has_marks_inside(group, sentence)
                    marked[asked] = marked.get(asked, False) or is_marked
                else:
                    self._told[asked] = Told(text=sentence.text)
                    self._links[asked] = [(i, i) for i in range(len(word_spans(sentence.text)))]
        new = [
            asked
            for asked, is_marked in marked.items()
            if asked not in self._told or (is_marked and asked not in self._links)
        ]
        if not new:
            return
        self._told.update(zip(new, self._translator.translate(new), strict=True))
        aligned = [
            asked
            for asked in new
            if self._told[asked].text and (marked[asked] or self._lacks_any(asked))
        ]
        if aligned:
            self._links.update(zip(aligned, self._translator.align(aligned), strict=True))

    def _lacks_any(self, asked: Asked) -> bool:
        return any(each not in self._told[asked].text for each in asked.protected)

    def _share(self, group: _Group) -> list[_Group]:
        """Give the passages of a group their parts of the translations.

        Where a unit would have none, the units are to be translated by themselves: gives them.
        """
        for sentence in group.sentences:
            asked = _asked(sentence)
            told = self._told[asked]
            sizes = [stretch.end - stretch.start for stretch in sentence.stretches]
            protected = (*asked.protected, *sentence.protected)
            shares = share_out(told.text, sizes, unbroken=_unbroken(told.text, protected))
            if shares is None and told.error is None and told.text:
                return [self._group([member]) for member in group.members]
            self._give(group, sentence, told, shares or [(0, 0)] * len(sizes))
        return []

    def _give(
        self,
        group: _Group,
        sentence: Sentence,
        told: Told,
        shares: Sequence[tuple[int, int]],
    ) -> None:
        links = self._links.get(_asked(sentence), ())
        source_words = [end for _, end in word_spans(sentence.text)]
        target_starts = [start for start, _ in word_spans(told.text)]
        place = first = 0
        for stretch, (start, end) in zip(sentence.stretches, shares, strict=True):
            task, number = group.members[stretch.passage]
            text = task.passages[number].text[stretch.start : stretch.end]
            place = sentence.text.index(text, place) + len(text)
            last = sum(word_end <= place for word_end in source_words)
            base = sum(word_start < start for word_start in target_starts)
            beyond = sum(word_start < end for word_start in target_starts)
            task.chunks.setdefault(number, []).append(
                Chunk(
                    start=stretch.start,
                    end=stretch.end,
                    target=told.text[start:end],
                    links=frozenset(
                        (source - first, target - base)
                        for source, target in links
                        if first <= source < last and base <= target < beyond
                    ),
                )
            )
            first = last
            if told.error is not None:
                task.error = told.error
            elif not told.text.strip():
                task.error = "an empty translation"
            elif told.is_cut:
                task.reasons.add("ended at the length bound")

    # Targets

    def _finish(self, group: _Group) -> None:
        for task, number in group.members:
            if number == len(task.passages) - 1:
                self._fill(task)

    def _fill(self, task: _Task) -> None:
        if task.error is not None:
            self._left(task.error)
            return
        parts: list[str | Code] = []
        passages = iter(enumerate(task.passages))
        for piece in task.pieces:
            if isinstance(piece, str):
                parts.append(piece)
                continue
            number, passage = next(passages)
            composed, is_sound = self._composed(passage, task.chunks.get(number, []), piece)
            self.counts.codes += len(passage.marks) + sum(
                isinstance(each.written, Code) for each in passage.protected
            )
            task.reasons |= {"codes at the ends"} if not is_sound else set()
            task.reasons |= {"a placeholder mended"} if composed.num_mended else set()
            is_branch = len(task.pieces) > 1
            parts += [
                quoted(part) if is_branch and isinstance(part, str) else part
                for part in composed.content
            ]
            if is_branch and _braces(composed.content) != _braces(piece.content):
                self._left("a message of ICU whose braces did not come through")
                return
        target = joined(parts)
        fallbacks = {"codes at the ends", "a placeholder mended"} & task.reasons
        self._look(task, target)
        is_doubtful = bool(task.reasons)
        marked = self._filling.marks or is_doubtful
        self._document.fill(task.index, target, marked=marked)
        counts = self.counts
        counts.filled += 1
        counts.words += sum(len(passage.text.split()) for passage in task.passages)
        counts.fallbacks += bool(fallbacks)
        counts.doubtful += is_doubtful
        counts.marked += marked
        counts.reasons.update(task.reasons)
        self._done(1)

    def _composed(
        self, passage: Passage, chunks: Sequence[Chunk], branch: Branch
    ) -> tuple[Composed, bool]:
        """The target of a passage, and whether its codes stand where they belong."""
        language = self._filling.target_language
        composed = compose(passage, chunks, language)
        if not composed.num_unplaced and not faults_of(
            branch.content, composed.content, has_number_sign=branch.has_number_sign
        ):
            return composed, True
        return compose_at_edges(passage, chunks, language), False

    def _look(self, task: _Task, target: Content) -> None:
        """Add what a person has to look at to the reasons of a task."""
        unit = task.unit
        text = "".join(part if isinstance(part, str) else part.text for part in target)
        if unit.most_characters is not None and len(text) > unit.most_characters:
            task.reasons.add("longer than the file allows")
        if has_plural(unit.source) and len(task.pieces) > 1:
            task.reasons.add("plural forms of the source language")
        source = " ".join(passage.text for passage in task.passages)
        if len(task.pieces) == 1:
            flags = flags_of(source, text, usual=self._filling.usual)
            task.reasons |= {flag.replace("_", " ") for flag in flags}


def _has_marks_inside(group: _Group, sentence: Sentence) -> bool:
    """Whether a mark stands between the first and the last word of a stretch."""
    for stretch in sentence.stretches:
        task, number = group.members[stretch.passage]
        marks = task.passages[number].marks
        if any(stretch.start < mark.offset < stretch.end for mark in marks):
            return True
    return False


def _asked(sentence: Sentence) -> Asked:
    return Asked(text=normalise(sentence.text), protected=tuple(map(normalise, sentence.protected)))


def _unbroken(text: str, protected: Sequence[str]) -> list[tuple[int, int]]:
    pattern = literal_pattern(protected)
    return [] if pattern is None else [match.span() for match in pattern.finditer(text)]


def _braces(content: Content) -> int:
    return sum(part.count("{") + part.count("}") for part in content if isinstance(part, str))
