"""The inner form of text with codes: plain text, marks of no width, and what is protected.

Codes that people read as a word (`Code.text`) and placeholders found by pattern are protected:
they stand in the plain text, and its translation is to hold them as they are. All other codes, and
tags that are left in plain strings, are marks between its characters.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mt.documents.words import has_letters
from mt.formats.documents.unit import Code, CodeForm, Content
from mt.text.placeholders import PLACEHOLDERS_IN_DOCUMENTS, TAG, find_placeholders

_BREAKING = re.compile(
    "br|hr|p|li|[uod]l|d[td]|div|table|t[rdh]|h[1-6]|blockquote|pre|section", re.I
)
_VOID = re.compile("area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr", re.I)
_NUMBER_SIGN = re.compile("#")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Markup of no width, before the character at `offset`."""

    offset: int
    form: CodeForm
    name: str
    """An opening and its closing share it."""
    written: str | Code
    """What is put into the target: a code, or a tag as it stood in a plain string."""
    is_break: bool = False


@dataclass(frozen=True, kw_only=True)
class Protected:
    """A stretch of the text, `start` to `end`, that the translation is to hold as it is."""

    start: int
    end: int
    written: str | Code


@dataclass(frozen=True, kw_only=True)
class Passage:
    """Text that is translated with its marks."""

    text: str
    """As the file has it; with the texts of codes that stand for words."""
    marks: tuple[Mark, ...]
    """In order, well nested."""
    protected: tuple[Protected, ...]
    """In order, side by side."""

    @property
    def has_letters(self) -> bool:
        """Whether there is anything to translate."""
        return has_letters(self.unprotected(0, len(self.text)))

    def unprotected(self, start: int, end: int) -> str:
        """What is not protected of `text[start:end]`."""
        parts = []
        for each in self.protected:
            if each.end > start and each.start < end:
                parts.append(self.text[start : each.start])
                start = each.end
        return " ".join([*parts, self.text[start:end]])

    def within(self, start: int, end: int) -> tuple[Protected, ...]:
        """What is protected in `text[start:end]`."""
        return tuple(each for each in self.protected if start <= each.start < end)


def read_passage(content: Content, *, protects_number_sign: bool = False) -> Passage:
    """The inner form of a content; `protects_number_sign`: # stands for a number (ICU)."""
    reading = _Reading(
        patterns=(*PLACEHOLDERS_IN_DOCUMENTS, _NUMBER_SIGN)
        if protects_number_sign
        else PLACEHOLDERS_IN_DOCUMENTS
    )
    for part in content:
        if isinstance(part, str):
            reading.add_text(part)
        else:
            reading.add_code(part)
    return reading.passage()


@dataclass(kw_only=True)
class _Reading:
    """A passage while it is read."""

    patterns: Sequence[re.Pattern[str]]
    text: str = ""
    marks: list[Mark] = field(default_factory=list)
    protected: list[Protected] = field(default_factory=list)
    open: list[tuple[int, str]] = field(default_factory=list)
    """Indices of openings that wait for their closings, and the element of a tag, or ""."""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def add_code(self, code: Code) -> None:
        if code.text:
            self._protect(code.text, code)
            return
        if code.form is CodeForm.CLOSING:
            while self.open and self.open[-1][1]:
                self._leave_open(self.open.pop()[0])  # a tag that this code would cross
            if self.open:
                self.open.pop()
        self._mark(code.form, f"code {code.name}", code, is_break=code.is_break)
        if code.form is CodeForm.OPENING:
            self.open.append((len(self.marks) - 1, ""))

    def add_text(self, text: str) -> None:
        start = 0
        spans = list(self._in(text)) if TAG.search(text) else []
        for match in TAG.finditer(text):
            if any(first < match.end() and last > match.start() for first, last in spans):
                continue  # of a template, or an address
            self._add_plain(text[start : match.start()])
            self._add_tag(match[0])
            start = match.end()
        self._add_plain(text[start:])

    def _in(self, text: str) -> Iterator[tuple[int, int]]:
        return find_placeholders(text, self.patterns)

    def _add_plain(self, text: str) -> None:
        start = 0
        for first, last in self._in(text):
            self.text += text[start:first]
            self._protect(text[first:last], text[first:last])
            start = last
        self.text += text[start:]

    def _add_tag(self, tag: str) -> None:
        element = re.split(r"[\s/>]", tag.strip("<>/"), maxsplit=1)[0].lower()
        is_break = _BREAKING.fullmatch(element) is not None
        if tag.startswith("</"):
            if self.open and self.open[-1][1] == element:
                opening = self.marks[self.open.pop()[0]]
                self._mark(CodeForm.CLOSING, opening.name, tag, is_break=is_break)
                return
            self._mark(CodeForm.ISOLATED, self._name(), tag, is_break=is_break)
        elif tag.endswith("/>") or _VOID.fullmatch(element):
            self._mark(CodeForm.ISOLATED, self._name(), tag, is_break=is_break)
        else:
            self._mark(CodeForm.OPENING, self._name(), tag, is_break=is_break)
            self.open.append((len(self.marks) - 1, element))

    def _name(self) -> str:
        return f"tag {next(self.numbers)}"

    def _mark(self, form: CodeForm, name: str, written: str | Code, *, is_break: bool) -> None:
        self.marks.append(
            Mark(offset=len(self.text), form=form, name=name, written=written, is_break=is_break)
        )

    def _protect(self, text: str, written: str | Code) -> None:
        start = len(self.text)
        self.text += text
        self.protected.append(Protected(start=start, end=len(self.text), written=written))

    def _leave_open(self, index: int) -> None:
        """An opening tag without its closing is markup by itself."""
        self.marks[index] = dataclasses.replace(self.marks[index], form=CodeForm.ISOLATED)

    def passage(self) -> Passage:
        for index, element in self.open:
            if element:
                self._leave_open(index)
        return Passage(
            text=self.text,
            marks=tuple(self.marks),
            protected=tuple(self.protected),
        )
