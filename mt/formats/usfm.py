r"""Scripture in USFM in two languages: a verse is a pair.

Text outside of verses (titles, headings, introductions) is aligned with nothing and counted; notes,
cross-references and figures are no text of a verse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.formats.pair import INVALID, NO_SOURCE, NO_TARGET, Pair
from mt.formats.standard_input import shown
from mt.formats.text import read_lines
from mt.formats.two_files import TwoFiles

OUTSIDE = "text outside of verses"

_NOTE = re.compile(r"\\(f|fe|ef|x|ex|fig|rq|va|vp|ca|cat|pro)\b(?:(?!\\\1\*).)*\\\1\*", re.DOTALL)
_MARKER = re.compile(r"\\(\+?[a-z]+\d*(?:-[se])?)(\*|[ \t\n]|(?=\\)|$)")
_ATTRIBUTES = re.compile(r"\|[^\\|]*(?=\\\+?[a-z]+\d*\*)")
_MILESTONE = re.compile(r"\\[a-z]+\d*-[se](?:[ \t]*\|[^\\]*)?\\\*")
_VERSE = re.compile(r"(\d+)[a-z]?(?:[-,\u2013](\d+)[a-z]?)?\s*")
_TITLES = re.compile(
    r"(?:id|ide|sts|rem|h\d?|toca?\d|i[a-z]+\d?|mte?\d?|ms\d?|mr|s\d?|sr|r|d|sp|sd\d?|cl|cp|cd|usfm|"
    r"restore|lit|iex|fig|periph|qa)"
)
_PARAGRAPHS = re.compile(
    r"(?:p|m|po|pr|cls|pmo|pm|pmc|pmr|pi\d?|mi|nb|pc|ph\d?|b|q\d?|qr|qc|qm\d?|lh|li\d?|lf|lim\d?|"
    r"tr|th[cr]?\d?|tc[cr]?\d?|pb|v|c)"
)


@dataclass(kw_only=True)
class Verse:
    """One verse, or several that are translated together."""

    book: str
    chapter: int
    first: int
    last: int
    text: str
    line: int

    @property
    def start(self) -> tuple[str, int, int]:
        """Book, chapter and verse at which it begins."""
        return self.book, self.chapter, self.first


class Scripture(TwoFiles):
    """A book, or several, for each language. Verses that one side joins are joined on the other."""

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; a verse that one side lacks has a fault."""
        origin = shown(self._source)
        sides = [
            list(
                read_verses(path, keep_invalid=self._options.keep_invalid, hint=self._options.hint)
            )
            for path in (self._source, self._target)
        ]
        for verse in sides[0]:
            if not verse.last:
                yield Pair("", "", origin, verse.line, OUTSIDE)
        for sources, targets in _aligned(*([v for v in side if v.last] for side in sides)):
            left, right = (
                " ".join(v.text.strip() for v in verses) for verses in (sources, targets)
            )
            fault = "" if left and right else NO_TARGET if left else NO_SOURCE
            if "\ufdd1" in left + right:
                left, right, fault = "", "", INVALID
            place = origin if sources else shown(self._target)
            yield Pair(left, right, place, (sources or targets)[0].line, fault)


def _aligned(
    sources: Sequence[Verse], targets: Sequence[Verse]
) -> Iterator[tuple[list[Verse], list[Verse]]]:
    """Verses of both sides with the same numbers, in the order of the source."""
    rest: dict[tuple[str, int], list[Verse]] = {}
    for verse in targets:
        rest.setdefault((verse.book, verse.chapter), []).append(verse)
    chapters: dict[tuple[str, int], list[Verse]] = {}
    for verse in sources:
        chapters.setdefault((verse.book, verse.chapter), []).append(verse)
    for chapter in [*chapters, *(each for each in rest if each not in chapters)]:
        yield from _in_chapter(chapters.get(chapter, []), rest.get(chapter, []))


def _in_chapter(
    sources: list[Verse], targets: list[Verse]
) -> Iterator[tuple[list[Verse], list[Verse]]]:
    waiting = [sorted(side, key=lambda verse: verse.first)[::-1] for side in (sources, targets)]
    while any(waiting):
        side = min((s for s in (0, 1) if waiting[s]), key=lambda s: waiting[s][-1].first)
        group: tuple[list[Verse], list[Verse]] = ([], [])
        group[side].append(waiting[side].pop())
        last = group[side][0].last
        grows = True
        while grows:
            grows = False
            for each in (0, 1):
                while waiting[each] and waiting[each][-1].first <= last:
                    verse = waiting[each].pop()
                    group[each].append(verse)
                    last, grows = max(last, verse.last), True
        yield group


def read_verses(path: Path, *, keep_invalid: bool = False, hint: str) -> Iterator[Verse]:
    """The verses of a file in its order; text outside of them has the verses 0 to 0."""
    lines = read_lines(path, keep_invalid=keep_invalid, hint=hint, is_plain=False)
    text = "\n".join("\ufdd1" if line is None else line for line in lines)
    # What goes must not take the ends of lines with it, by which places are known.
    for unwanted in (_NOTE, _MILESTONE, _ATTRIBUTES):
        text = unwanted.sub(lambda found: "\n" * found[0].count("\n"), text)
    book, chapter, line, place = "", 0, 1, 0
    current: Verse | None = None
    title: Verse | None = None
    for marker in _MARKER.finditer(text):
        _take(title or current, text[place : marker.start()])
        line += text.count("\n", place, marker.end())
        place = marker.end()
        name, ending = marker[1].lstrip("+"), marker[2]
        if ending == "*" or not (_TITLES.fullmatch(name) or _PARAGRAPHS.fullmatch(name)):
            continue  # a marker of characters: its text stays
        if title is not None and title.text.strip():
            yield title
        title = None
        if name in ("v", "c") or current is None or _TITLES.fullmatch(name):
            number = _VERSE.match(text, place) if name in ("v", "c") else None
            place = number.end() if number else place
            if name == "c" and number:
                chapter = int(number[1])
            if name in ("v", "c") and current is not None:
                yield current
                current = None
            if name == "v" and number:
                first, last = int(number[1]), int(number[2] or number[1])
                current = Verse(
                    book=book,
                    chapter=chapter,
                    first=first,
                    last=max(first, last),
                    text="",
                    line=line,
                )
            elif name not in ("v", "c"):
                if name == "id":
                    code = re.compile(r"\s*(\w+)[^\n\\]*").match(text, place)
                    book, place = (code[1], code.end()) if code else ("", place)
                title = Verse(book=book, chapter=chapter, first=0, last=0, text="", line=line)
        else:
            _take(current, " ")
    _take(title or current, text[place:])
    yield from (each for each in (title, current) if each is not None and each.text.strip())


def _take(verse: Verse | None, text: str) -> None:
    if verse is not None:
        text = text.replace("~", " ").replace("//", " ")
        verse.text = " ".join(f"{verse.text}{text}".split()) + (" " if text[-1:].isspace() else "")
