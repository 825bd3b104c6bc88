"""HTML as tokens with their places, by the standard library's parser, which no page breaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

Attributes = Sequence[tuple[str, str | None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A piece of a page: text, a tag, or an aside (a comment, a declaration)."""

    kind: str
    """"text", "start", "end", "aside"."""
    start: int
    """Index of its first character."""
    end: int
    name: str = ""
    """Of a tag, in small letters."""
    attributes: Attributes = ()

    def get(self, name: str) -> str | None:
        """The value of an attribute; empty where it has none, None where it is not there."""
        return next((value or "" for key, value in self.attributes if key == name), None)


class _Parser(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.tokens: list[Token] = []
        self._text = text
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def _place(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def _add(self, kind: str, length: int, name: str = "", attributes: Attributes = ()) -> None:
        start = self._place()
        token = Token(kind=kind, start=start, end=start + length, name=name, attributes=attributes)
        self.tokens.append(token)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("start", len(self.get_starttag_text() or ""), tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        start = self._place()
        end = self._text.find(">", start)
        self._add("end", (len(self._text) if end < 0 else end + 1) - start, tag)

    def handle_data(self, data: str) -> None:
        self._add("text", len(data))

    def handle_entityref(self, name: str) -> None:
        self._reference(len(name) + 1)

    def handle_charref(self, name: str) -> None:
        self._reference(len(name) + 2)

    def _reference(self, length: int) -> None:
        place = self._place() + length
        self._add("text", length + (self._text[place : place + 1] == ";"))

    def handle_comment(self, data: str) -> None:
        self._aside()

    def handle_decl(self, decl: str) -> None:
        self._aside()

    def handle_pi(self, data: str) -> None:
        self._aside()

    def unknown_decl(self, data: str) -> None:
        self._aside()

    def _aside(self) -> None:
        self._add("aside", 0)  # its end is where the next token begins


def tokens_of(text: str) -> list[Token]:
    """The tokens of a page, one after the other without gaps."""
    parser = _Parser(text)
    parser.feed(text)
    parser.close()
    found = _without_rest(parser.tokens, text)
    out: list[Token] = []
    place = 0
    for index, token in enumerate(found):
        following = found[index + 1].start if index + 1 < len(found) else len(text)
        if token.start > place:
            out.append(Token(kind="aside", start=place, end=token.start))
        end = following if token.kind == "aside" else min(token.end, following)
        out.append(
            Token(
                kind=token.kind,
                start=token.start,
                end=end,
                name=token.name,
                attributes=token.attributes,
            )
        )
        place = end
    if place < len(text):
        out.append(Token(kind="aside", start=place, end=len(text)))
    return out


def _without_rest(tokens: list[Token], text: str) -> list[Token]:
    """Tokens without a tag or a comment that the end of the page cuts short."""
    for index, token in enumerate(tokens[-2:], max(0, len(tokens) - 2)):
        is_open = token.kind == "text" and text[token.start : token.end] == "<"
        if is_open and re.match(r"<[A-Za-z/!?]", text[token.start : token.start + 2]):
            return tokens[:index]
    return tokens
