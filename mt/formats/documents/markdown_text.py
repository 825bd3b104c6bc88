"""The content of a block of Markdown: text with codes, and a target that will be read alike.

Text is written as it is if it is read as that, else with backslashes; emphasis that cannot stand at
a place in Markdown (inside a word) becomes that of HTML there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from mt.formats.documents.codes import Tag, paired, with_markup
from mt.formats.documents.markdown_spans import Mark, Parser, References
from mt.formats.documents.unit import Code, Content
from mt.formats.documents.wrapping import wrapped

_PAIRS = {"em": "em", "strong": "strong", "s": "s", "link": "a", "image": "img"}
_HTML = {"*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "del"}
_HTML_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)[^>]*?(/?)>", re.DOTALL)
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"}
    | {"track", "wbr"}
)
_UNREAD = frozenset(["code", "kbd", "samp", "var", "tt", "math", "script", "style"])
_FURTHER = re.compile(r"\[\^[^\]\s]+\]|\{\{[<%].*?[>%]\}\}|\{%.*?%\}|\{:[^{}]*\}", re.DOTALL)
_SPECIAL = re.compile(r"([\\`*_\[\]<~|])|&(?=#?\w+;)")
_FIRST = re.compile(r"([-+#>=|:~`<])|(\d{1,9})([.)])")
_BLOCK = re.compile(
    r"[-+*](?:\s|$)|#{1,6}(?:\s|$)|>|\d{1,9}[.)](?:\s|$)|```|~~~|=+\s*$|-+\s*$|_{3,}|\*{3,}|\||<"
    r"|:?-+:?\s*\||\[\^?[^\]]+\]:"
)


_Escapes = Callable[[Content, bool], str]
"""How the text of a line is written, and whether it is the first one."""


class MarkdownText:
    """The content of one block."""

    def __init__(
        self, content: str, parser: Parser, references: References, *, between: str, block: str
    ) -> None:
        """`between`: what joins the lines of a sentence; `block`: paragraph, heading or cell."""
        self._parser = parser
        self._references = references
        self._between = between
        self._block = block
        self._width = max(map(len, content.split("\n")))
        self._wraps: set[int] = set()
        """The numbers of the pieces between hard breaks that are on several lines."""
        self.content: Content = paired(self._tagged(content, self._wraps))

    def written(self, target: Content) -> str:
        """The lines of a target, with LF between; raises ValueError where they would change it."""
        as_html = tuple(_as_html(p) if isinstance(p, Code) else p for p in target)
        for content, escapes in (
            (target, _unchanged),
            (target, _with_first_escaped),
            (target, _escaped),
            (as_html, _escaped),
        ):
            text = "\n".join(self._lines(content, escapes)).strip(" ")
            if self._is_read_as(text, content):
                return text
        raise ValueError(f"the codes cannot stand there in Markdown: {with_markup(target)}")

    def _lines(self, target: Content, escapes: _Escapes) -> list[str]:
        """The lines of a target: those of the source's width where that was wrapped."""
        lines = [""]
        piece: list[str | Code] = []
        number = 0
        for each in [*target, None]:
            if each is not None and not (isinstance(each, Code) and "\n" in each.markup):
                piece.append(each)
                continue
            content = _rstripped(piece) if each else tuple(piece)
            parts = wrapped(content, self._width) if number in self._wraps else [content]
            for i, part in enumerate(parts):
                text = escapes(part, not any(lines) and not i)
                if i and not _BLOCK.match(text):
                    lines.append(text)
                else:
                    lines[-1] += " " + text if i else text
            if each:
                lines[-1] += each.markup.rstrip("\n \t") if "\\" in each.markup else "  "
                lines.append("")
            piece = []
            number += 1
        return lines

    def _is_read_as(self, text: str, target: Content) -> bool:
        if self._block == "cell":
            if "\n" in text:
                return False
            content = text
        else:
            start = "# " if self._block == "heading" else ""
            blocks, _, _ = self._parser.blocks(start + text)
            is_alone = self._parser.types(start + text)[1:] == ["inline", f"{self._block}_close"]
            if not is_alone or blocks[0].type != f"{self._block}_open":
                return False
            content = blocks[0].content
        return _flat(paired(self._tagged(content, set()))) == _flat(target)

    def _tagged(self, content: str, wraps: set[int]) -> Iterator[str | Tag]:
        place, number = 0, 0
        for mark in _joined(content, self._parser.marks(content, self._references)):
            text, raw = content[place : mark.start], content[mark.start : mark.end]
            place = mark.end
            is_end = mark.type in ("softbreak", "hardbreak")
            shown = text.rstrip(" ") if is_end else text
            yield from _further(shown)
            if mark.type == "softbreak":
                wraps.add(number)
                yield self._between
            elif mark.type == "hardbreak":
                number += 1
                markup = "\\\n" if raw.startswith("\\") else text[len(shown) :] + "\n"
                yield Tag(markup=markup, is_break=True)
            elif mark.type == "text_special":
                yield mark.text
            else:
                yield _tag(mark, " ".join(raw.split("\n")))
        yield from _further(content[place:])


def _tag(mark: Mark, raw: str) -> Tag:
    name, _, part = mark.type.rpartition("_")
    if mark.type == "html_inline":
        found = _HTML_TAG.fullmatch(raw)
        if found is None or found[3] or found[2].lower() in _VOID:
            return Tag(markup=raw, is_break=found is not None and found[2].lower() in ("br", "hr"))
        html_name = f"<{found[2].lower()}"
        return Tag(markup=raw, closes=html_name) if found[1] else Tag(markup=raw, opens=html_name)
    if name in _PAIRS and part == "open":
        return Tag(markup=raw, opens=name)
    if name in _PAIRS and part == "close":
        return Tag(markup=raw, closes=name)
    return Tag(markup=raw, text=mark.text)


def _joined(content: str, marks: list[Mark]) -> Iterator[Mark]:
    """Marks with those of HTML whose text is not read (code, kbd) joined to one."""
    until = -1
    for i, mark in enumerate(marks):
        if mark.start < until:
            continue
        found = _HTML_TAG.fullmatch(content[mark.start : mark.end])
        if mark.type == "html_inline" and found and not found[1] and found[2].lower() in _UNREAD:
            closing = f"</{found[2].lower()}>"
            end = next((m for m in marks[i:] if content[m.start : m.end].lower() == closing), None)
            if end is not None:
                until = end.end
                text = content[mark.end : end.start]
                yield replace(mark, type="unread", end=end.end, text=text)
                continue
        yield mark


def _further(text: str) -> Iterator[str | Tag]:
    """Text with what programs beside CommonMark know in it: notes, shortcodes, attributes."""
    place = 0
    for found in _FURTHER.finditer(text):
        yield text[place : found.start()]
        yield Tag(markup=found[0])
        place = found.end()
    yield text[place:]


def _flat(content: Content) -> list[tuple[str, str]]:
    """Content as it can be compared: codes without their names, spaces as they are read."""
    text = ""
    pieces = []
    for piece in [*content, None]:
        if isinstance(piece, str):
            text += piece
            continue
        pieces.append(("text", " ".join(text.split())))
        text = ""
        if piece is not None:
            markup = piece.markup.strip(" \n") if piece.is_break else piece.markup
            pieces.append((piece.form, markup))
    return pieces


def _rstripped(piece: list[str | Code]) -> Content:
    if piece and isinstance(piece[-1], str):
        piece[-1] = piece[-1].rstrip()
    return tuple(piece)


def _unchanged(content: Content, is_first: bool) -> str:
    return with_markup(content)


def _with_first_escaped(content: Content, is_first: bool) -> str:
    return _first_escaped(with_markup(content)) if is_first else with_markup(content)


def _escaped(content: Content, is_first: bool) -> str:
    text = with_markup(content, lambda each: _SPECIAL.sub(r"\\\g<0>", each))
    text = re.sub(r"(?<=\s)(#+)$", r"\\\1", text)  # the end of a heading
    is_text = bool(content) and isinstance(content[0], str)
    return _first_escaped(text) if is_first and is_text else text


def _first_escaped(text: str) -> str:
    """Text with a backslash before what would begin a block."""
    found = _FIRST.match(text)
    if found is None:
        return text
    return f"\\{text}" if found[1] else f"{found[2]}\\{text[len(found[2]) :]}"


def _as_html(code: Code) -> Code:
    """Emphasis as HTML has it."""
    name = _HTML.get(code.markup)
    if name is None:
        return code
    return replace(code, markup=f"</{name}>" if code.form == "closing" else f"<{name}>")
