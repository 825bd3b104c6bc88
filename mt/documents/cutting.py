"""Passages into sentences: each is translated by itself, and may go on from unit to unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mt.documents.passage import Passage
from mt.documents.words import has_letters, word_spans
from mt.scripts import is_written_without_spaces
from mt.text.segments import sentences

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_DATA = re.compile(r"[!-~]{500}")  # no word, but encoded data: it is copied
_SPEAKER = re.compile(r"\s*(?:[-–—]\s*\S|[♪♫#>])")
_MOST_TOGETHER = 12  # passages of one sentence; what is longer has no sentence ends
_MOST_CHARACTERS = 1_000


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A part of a passage, `text[start:end]`, that belongs to one sentence."""

    passage: int
    """Its number among the passages that were cut together."""
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A text that is translated by itself."""

    text: str
    protected: tuple[str, ...]
    """Texts in it that its translation is to hold as they are."""
    stretches: tuple[Stretch, ...]
    """Where it stands; of several passages where it goes on."""
    is_translated: bool
    """Whether it holds words that are not protected; else its translation is itself."""


def cut(passages: Sequence[Passage], language: str, *, whole: bool = False) -> list[Sentence]:
    """The sentences of passages that follow each other as running text.

    With `whole`, only codes that break text and empty lines end them.
    """
    text = ""
    begins: list[int] = []
    for passage in passages:
        text += _space_between(text, passage.text)
        begins.append(len(text))
        text += passage.text
    cuts = {0, len(text)}
    cuts |= {match.end() for match in _BLANK_LINE.finditer(text)}
    for begin, passage in zip(begins, passages, strict=True):
        cuts |= {begin + mark.offset for mark in passage.marks if mark.is_break}
    inside: list[tuple[int, int]] = [
        (begin + each.start, begin + each.end)
        for begin, passage in zip(begins, passages, strict=True)
        for each in passage.protected
    ]
    if not whole:
        forced = sorted(cuts)
        for start, end in pairwise(forced):
            place = start
            for sentence in sentences(text[start:end], language):
                place += len(sentence)
                if not any(first < place < last for first, last in inside):
                    cuts.add(place)
    places = sorted(cuts)
    found = (_sentence(passages, begins, start, end) for start, end in pairwise(places))
    return [each for each in found if each is not None]


def running_groups(passages: Sequence[Passage], language: str) -> Iterator[list[int]]:
    """The numbers of passages, neighbours together as long as a sentence goes on."""
    group: list[int] = []
    size = 0
    for number, passage in enumerate(passages):
        if group:
            is_full = len(group) == _MOST_TOGETHER or size > _MOST_CHARACTERS
            if is_full or _is_end(passages[group[-1]], passage, language):
                yield group
                group, size = [], 0
        group.append(number)
        size += len(passage.text)
    if group:
        yield group


def _is_end(before: Passage, behind: Passage, language: str) -> bool:
    """Whether a sentence ends between two passages."""
    if not (before.has_letters and behind.has_letters):
        return True
    first, second = before.text.rstrip(), behind.text.lstrip()
    if _SPEAKER.match(second):
        return True
    place = 0
    junction = len(first) + 1
    for sentence in sentences(f"{first} {second}", language):
        place += len(sentence)
        if place >= junction - 1:
            return place <= junction
    return False


def _space_between(text: str, behind: str) -> str:
    """What parts the text of two passages: a space, unless there is one or no word needs it."""
    if not text or not behind or text[-1].isspace() or behind[0].isspace():
        return ""
    both = is_written_without_spaces(text[-1]) and is_written_without_spaces(behind[0])
    return "" if both else " "


def _sentence(
    passages: Sequence[Passage], begins: Sequence[int], start: int, end: int
) -> Sentence | None:
    """The sentence between two cuts; None where there is no word."""
    stretches = []
    text = ""
    protected: list[str] = []
    rest = ""
    for number, (begin, passage) in enumerate(zip(begins, passages, strict=True)):
        first, last = max(start - begin, 0), min(end - begin, len(passage.text))
        words = word_spans(passage.text[first:last]) if first < last else []
        if not words:
            continue
        first, last = first + words[0][0], first + words[-1][1]
        part = passage.text[first:last]
        text += _space_between(text, part) + part
        protected += [passage.text[each.start : each.end] for each in passage.within(first, last)]
        rest += passage.unprotected(first, last)
        stretches.append(Stretch(passage=number, start=first, end=last))
    if not stretches:
        return None
    return Sentence(
        text=text,
        protected=tuple(dict.fromkeys(protected)),
        stretches=tuple(stretches),
        is_translated=has_letters(rest) and not _DATA.search(rest),
    )
