"""Markdown: headings, paragraphs, items, quotes, cells and footnotes; the markup stays.

Front matter, code, HTML blocks, addresses of links and images, and definitions of references stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.codes import is_text
from mt.formats.documents.markdown_spans import Block, Parser
from mt.formats.documents.markdown_text import MarkdownText
from mt.formats.documents.splice import Edit
from mt.formats.documents.spliced import Span, SplicedDocument
from mt.formats.documents.text_file import TextFile, read_text_file
from mt.formats.documents.unit import Content, Document, DocumentOptions, Unit
from mt.languages import is_same_language, writes_no_spaces

FRONT_MATTER = "front matter"
NO_WORDS = "text without words"
TOO_LONG = "paragraph of more than 50,000 characters"
NOT_FOUND = "text that was not found in its lines"
_LONGEST = 50_000  # characters; to find links and emphasis in hostile ones takes their square
_OTHERS = {"fence": "code block", "code_block": "code block", "html_block": "HTML block"}

_LINE_END = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?:.*?\n)??\1[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LANGUAGE = re.compile(
    r"^(?:lang|language|locale):[ \t]*([\"']?)([\w-]+)\1[ \t]*\r?$", re.MULTILINE
)
_ALERT = re.compile(r"\[![A-Z]+\]\s*")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*\{[:#.][^{}]*\}\s*$")
_KINDS = {"heading_open": "heading", "th_open": "cell", "td_open": "cell"}


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A content in the file: its span, and what stands before the lines after the first."""

    line: int
    start: int
    end: int
    prefix: str


def read_markdown(path: Path, options: DocumentOptions) -> Document:
    """Read Markdown; every text is one unit, however its lines are broken."""
    file = read_text_file(path)
    parser = Parser()
    front = _FRONT_MATTER.match(file.text)
    text = file.text
    if front:
        text = re.sub(r"[^\r\n]", " ", front[0]) + file.text[front.end() :]
    try:
        blocks, others, references = parser.blocks(text)
    except RecursionError:
        raise DataError(f"{file.name}: nested too deeply") from None
    skipped = {FRONT_MATTER: 1} if front else {}
    for name, count in others.items():
        skipped[_OTHERS[name]] = skipped.get(_OTHERS[name], 0) + count
    finder = _Finder(file)
    between = "" if writes_no_spaces(options.source_language) else " "
    cells = []
    for block in blocks:
        content, place = finder.find(block)
        if not content:
            continue
        reason = NOT_FOUND if place is None else TOO_LONG if len(content) > _LONGEST else ""
        if place is None or reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        kind = _KINDS.get(block.type, "paragraph")
        written = MarkdownText(content, parser, references, between=between, block=kind)
        if not is_text(written.content):
            skipped[NO_WORDS] = skipped.get(NO_WORDS, 0) + 1
            continue
        cells.append(_Cell(written, place, file.newline, is_cell=kind == "cell"))
    return SplicedDocument(file, cells, skipped, when_filled=_language(front, options))


def _language(front: re.Match[str] | None, options: DocumentOptions) -> list[Edit]:
    """What changes in front matter that names the language of the source."""
    found = _LANGUAGE.search(front[0]) if front else None
    if not found or not options.target_language or not options.source_language:
        return []
    if not is_same_language(found[2], options.source_language):
        return []
    return [(*found.span(2), options.target_language)]


class _Cell(Span):
    """A unit of Markdown; what cannot be written at its place is no target for it."""

    def __init__(self, text: MarkdownText, place: _Place, newline: str, *, is_cell: bool) -> None:
        unit = Unit(name=f"line {place.line}", source=text.content)
        super().__init__(unit, place.start, place.end, self._lines)
        self._text = text
        self._between = newline + place.prefix
        self._is_cell = is_cell

    def check(self, index: int, target: Content) -> None:
        """Raise ValueError for codes that are not those of the source, or nested wrongly."""
        super().check(index, target)
        self._text.written(target)

    def _lines(self, target: Content) -> str:
        text = self._text.written(target)
        return text.replace("|", "\\|") if self._is_cell else text.replace("\n", self._between)


class _Finder:
    """Where the content of blocks stands in a file."""

    def __init__(self, file: TextFile) -> None:
        self._text = file.text
        ends = [found.span() for found in _LINE_END.finditer(file.text)]
        self._lines = list(
            zip(
                [0, *(end for _, end in ends)], [*(e for e, _ in ends), len(file.text)], strict=True
            )
        )
        self._cursor = 0  # in a row of a table

    def find(self, block: Block) -> tuple[str, _Place | None]:
        """The content of a block, without what is not translated at its edges, and where it is."""
        lines = block.content.split("\n")
        first = block.lines[0]
        if _ALERT.fullmatch(lines[0]):
            lines, first = lines[1:], first + 1
        task = _TASK.match(lines[0]) if lines else None
        if task:
            lines[0] = lines[0][task.end() :]
        if lines:
            lines[-1] = _ATTRIBUTES.sub("", lines[-1])
        content = "\n".join(lines)
        if not content.strip():
            return "", None
        spans = self._spans(block, lines, first)
        if spans is None:
            return content, None
        prefix = self._text[self._lines[first + 1][0] : spans[1][0]] if len(spans) > 1 else ""
        place = _Place(line=first + 1, start=spans[0][0], end=spans[-1][1], prefix=prefix)
        return content, place

    def _spans(
        self, block: Block, lines: Sequence[str], first: int
    ) -> list[tuple[int, int]] | None:
        """Where each line of a content is in its line of the file."""
        spans = []
        is_cell = _KINDS.get(block.type) == "cell"
        for number, line in enumerate(lines, start=first):
            start, end = self._lines[number]
            core = line.strip()
            if is_cell:
                core = core.replace("|", "\\|")
                begin = self._text.find(core, max(start, self._cursor), end)
                self._cursor = begin + len(core)
            else:
                begin = self._text.rfind(core, start, end)
            if begin < 0:
                return None
            spans.append((begin, begin + len(core)))
        return spans
