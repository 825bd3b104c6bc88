"""Strings of catalogues: what of them is translated, with tags and line ends as codes.

White space around a string is no part of its units and is put back. Placeholders (`%s`, `{name}`)
stay in the text: who translates it knows them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from mt.formats.documents.codes import OpenTags, Tag, is_text, paired
from mt.formats.documents.icu import Argument, arguments
from mt.formats.documents.unit import Code, Content
from mt.formats.documents.wrapping import wrapped

_TAG = re.compile(r"</?([A-Za-z][\w:-]{0,30}|\d{1,3})((?:\s[^<>]*?)?)\s?(/?)>")
_VOID = frozenset(["br", "hr", "img", "wbr", "input"])
_BLOCKS = frozenset(
    {"br", "hr", "p", "div", "li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "td", "th"}
    | {"h1", "h2", "h3", "h4", "h5", "h6"}
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,20});")
_LINE_END = re.compile(r"(?<![ \t])[ \t]*(?:\r\n|\n|\r|\t)\s*")
_SENTENCE_END = re.compile(r"[.!?:;…。！？।؟]['\")\]»”’]*\s*$")
_MOST_DEPTH = 8  # of arguments of ICU
_LONGEST_ICU = 10_000  # characters; nobody writes longer messages, and to look takes its square


class Message:
    """A string, taken apart: `contents` is translated, piece by piece."""

    def __init__(
        self, text: str, *, is_icu: bool = False, counts: bool = False, depth: int = 0
    ) -> None:
        """`counts`: `#` stands for a number in it."""
        core = text.strip()
        self._before = text[: len(text) - len(text.lstrip())] if core else text
        self._after = text[len(self._before) + len(core) :]
        self._counts = counts
        entities = _entities(core)
        self._is_html = bool(entities)
        self._escapes_tags = "&lt;" in entities or "&gt;" in entities
        self._pieces = (
            _choices(core, depth)
            if is_icu and depth < _MOST_DEPTH and len(core) <= _LONGEST_ICU
            else [core]
        )
        self._choices = [piece for piece in self._pieces if isinstance(piece, _Choice)]
        self._width = max((len(line) for line in core.split("\n")), default=0)
        self._wraps: dict[int, str] = {}
        """What ends the lines of a paragraph that goes on over several, by its number."""
        self.content: Content = paired(self._tagged())
        """The string itself, arguments of ICU as codes."""
        self.contents: list[tuple[str, Content]] = []
        """What is translated, each with its name behind that of the string."""
        if not self._choices or is_text(self.content):
            self.contents.append(("", self.content))
        self._num_own = len(self.contents)
        for choice in self._choices:
            self.contents += choice.contents

    def written(self, targets: Mapping[int, Content]) -> str:
        """The string with targets, under the index of their content, in the place of those."""
        choices, start = [], self._num_own
        for choice in self._choices:
            choices.append(choice.written(_part(targets, start, len(choice.contents))))
            start += len(choice.contents)
        own = targets.get(0) if self._num_own else None
        if own is None:
            texts = iter(choices)
            core = "".join(p if isinstance(p, str) else next(texts) for p in self._pieces)
        else:
            codes = self._choice_codes()
            by_code = dict(zip(codes, choices, strict=True))
            core = "".join(
                self._escaped(p) if isinstance(p, str) else by_code.get(p.name, p.markup)
                for p in self._wrapped(own)
            )
        return f"{self._before}{core}{self._after}"

    def _choice_codes(self) -> list[str]:
        """The names of the codes of the arguments of ICU, in order."""
        wanted = [choice.markup for choice in self._choices]
        names: list[str] = []
        for code in self.content:
            if isinstance(code, Code) and code.markup in wanted[len(names) : len(names) + 1]:
                names.append(code.name)
        return names

    def _wrapped(self, target: Content) -> Content:
        """A target with lines where its source had some, and no spaces at the ends of lines."""
        content: list[str | Code] = []
        paragraph: list[str | Code] = []
        number = 0
        for piece in [*target, None]:
            is_break = isinstance(piece, Code) and piece.is_break
            if piece is not None and not is_break:
                paragraph.append(piece)
                continue
            lines = [tuple(paragraph)]
            if number in self._wraps:
                lines = wrapped(lines[0], self._width)
            for i, line in enumerate(lines):
                content += [self._wraps[number], *line] if i else line
            if piece is not None:
                content.append(piece)
            paragraph = []
            number += 1
        return _without_spaces(content)

    def _escaped(self, text: str) -> str:
        if not self._is_html:
            return text
        text = text.replace("&", "&amp;").replace("\u00a0", "&nbsp;")
        return text.replace("<", "&lt;").replace(">", "&gt;") if self._escapes_tags else text

    def _tagged(self) -> Iterator[str | Tag]:
        num_breaks = 0
        for piece in self._split():
            if isinstance(piece, Tag):
                num_breaks += piece.is_break
                yield piece
                continue
            place = 0
            for found in _LINE_END.finditer(piece):
                yield from self._numbers(piece[place : found.start()])
                place = found.end()
                if _goes_on(piece, found):
                    self._wraps.setdefault(num_breaks, found[0])
                    yield " "
                else:
                    num_breaks += 1
                    yield Tag(markup=found[0], is_break=True)
            yield from self._numbers(piece[place:])

    def _split(self) -> Iterator[str | Tag]:
        """Text and tags."""
        for piece in self._pieces:
            if isinstance(piece, _Choice):
                yield Tag(markup=piece.markup, text="{…}")
                continue
            place = 0
            for start, end, tag in _tags(piece):
                yield piece[place:start]
                yield tag
                place = end
            yield piece[place:]

    def _numbers(self, text: str) -> Iterator[str | Tag]:
        for number, piece in enumerate(text.split("#") if self._counts else [text]):
            if number:
                yield Tag(markup="#", text="#")
            yield html.unescape(piece) if self._is_html else piece


class _Choice:
    """An argument of ICU: what stands around its texts, and these."""

    def __init__(self, text: str, argument: Argument, depth: int) -> None:
        self.markup = text[argument.start : argument.end]
        edges = [argument.start, *(e for arm in argument.arms for e in (arm.start, arm.end))]
        edges.append(argument.end)
        self._frames = [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        self._messages = [
            Message(text[arm.start : arm.end], is_icu=True, counts=argument.counts, depth=depth)
            for arm in argument.arms
        ]
        self.contents = [
            (f"[{arm.name}]{name}", content)
            for arm, message in zip(argument.arms, self._messages, strict=True)
            for name, content in message.contents
        ]

    def written(self, targets: Mapping[int, Content]) -> str:
        """The argument with targets under the index of their content."""
        pieces, start = [self._frames[0]], 0
        for message, frame in zip(self._messages, self._frames[1:], strict=True):
            num = len(message.contents)
            pieces += [message.written(_part(targets, start, num)), frame]
            start += num
        return "".join(pieces)


def _goes_on(text: str, line_end: re.Match[str]) -> bool:
    """Whether a line ends for its width alone: a sentence goes on in the next one."""
    before = text[max(0, line_end.start() - 20) : line_end.start()]
    following = text[line_end.end() : line_end.end() + 1]
    is_one = line_end[0].count("\n") == 1
    return is_one and following.islower() and not _SENTENCE_END.search(before)


def _part(targets: Mapping[int, Content], start: int, num: int) -> dict[int, Content]:
    return {i - start: each for i, each in targets.items() if start <= i < start + num}


def _without_spaces(content: Sequence[str | Code]) -> Content:
    """Content without the spaces around codes that are line ends."""
    pieces = list(content)
    for i, piece in enumerate(pieces):
        if isinstance(piece, str) or not _LINE_END.fullmatch(piece.markup):
            continue
        for k, strip in ((i - 1, str.rstrip), (i + 1, str.lstrip)):
            if 0 <= k < len(pieces) and isinstance(pieces[k], str):
                pieces[k] = strip(str(pieces[k]), " ")
    return tuple(pieces)


def _entities(text: str) -> list[str]:
    """The entities of HTML in a text, if all that look like it are some."""
    found = _ENTITY.findall(text)
    return found if all(html.unescape(each) != each for each in found) else []


def _tags(text: str) -> list[tuple[int, int, Tag]]:
    """The tags of a text with their spans: those in pairs, and those that stand alone."""
    found = list(_TAG.finditer(text))
    closed: set[int] = set()
    open_tags = OpenTags()
    for i, tag in enumerate(found):
        if tag[0].startswith("</"):
            opening = open_tags.close(tag[1])
            if opening is not None:
                closed |= {opening, i}
        elif not tag[3]:
            open_tags.open(tag[1], i)
    tags = []
    for i, tag in enumerate(found):
        name = tag[1].lower()
        if i in closed:
            is_closing = tag[0].startswith("</")
            new = Tag(
                markup=tag[0],
                opens="" if is_closing else tag[1],
                closes=tag[1] if is_closing else "",
                is_break=name in _BLOCKS,
            )
        elif tag[3] or name in _VOID:
            new = Tag(markup=tag[0], is_break=name in _BLOCKS)
        else:
            continue
        tags.append((*tag.span(), new))
    return tags


def _choices(text: str, depth: int) -> list[str | _Choice]:
    """A message with its arguments of ICU taken apart."""
    pieces: list[str | _Choice] = []
    place = 0
    for argument in arguments(text):
        pieces += [text[place : argument.start], _Choice(text, argument, depth + 1)]
        place = argument.end
    return [*pieces, text[place:]]
