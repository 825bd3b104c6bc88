"""HTML as tokens with their places, by the rules of browsers: no page breaks them.

The standard library's parser is not used: it takes the rest of a page for text after `&#` or a
comment that is not closed, and its rules change with the version of Python.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Attribute:
    """An attribute of a tag; its value is resolved, its span that of the value as written."""

    value: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A piece of a page: text, a tag, an aside (a comment, a declaration), or what is cut short."""

    kind: str
    """"text", "start", "end", "aside"; "cut" for markup that the end of the page cuts short."""
    start: int
    """Index of its first character."""
    end: int
    name: str = ""
    """Of a tag, in small letters."""
    attributes: dict[str, Attribute]
    """By their names in small letters."""

    def get(self, name: str) -> str:
        """The value of an attribute; empty where there is none."""
        return self.attributes[name].value if name in self.attributes else ""


_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_TAG = re.compile(
    r"""</?([A-Za-z][^\s/>]*)"""
    r"""(?>[^>=]+|=\s*(?:"[^"]*"|'[^']*'|[^\s"'>][^\s>]*|(?=>)))*+(>)?"""
)
_ATTRIBUTE = re.compile(
    r"""[\s/]*([^\s/>=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>][^\s>]*)?)?|[\s/]*="""
)
_COMMENT_END = re.compile(r"--!?>")
_RAW = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes", "textarea", "title"})
"""Elements in which there are no tags but their own closing one."""


def tokens_of(text: str) -> list[Token]:
    """The tokens of a page, one after the other without gaps."""
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while place < len(text):
        found = _MARKUP.search(text, place)
        start = found.start() if found else len(text)
        if start > place:
            yield Token(kind="text", start=place, end=start, attributes={})
        if found is None:
            return
        token = _markup(text, start)
        yield token
        place = token.end
        if token.kind == "start" and token.name in _RAW:
            end = re.compile(rf"</{token.name}(?=[\s/>])", re.I).search(text, place)
            raw_end = end.start() if end else len(text)
            if raw_end > place:
                yield Token(kind="text", start=place, end=raw_end, attributes={})
            place = raw_end


def _markup(text: str, start: int) -> Token:
    """The tag or aside that begins at a `<`; one that is not closed goes on to the end."""
    tag = _TAG.match(text, start)
    if tag is None:
        if text.startswith("<!--", start):
            found = _COMMENT_END.search(text, start + 2)
            end = found.end() if found else 0
        else:
            end = text.find(">", start) + 1
        kind = "aside" if end else "cut"
        return Token(kind=kind, start=start, end=end or len(text), attributes={})
    if tag[2] is None:
        return Token(kind="cut", start=start, end=len(text), attributes={})
    is_end = text.startswith("</", start)
    return Token(
        kind="end" if is_end else "start",
        start=start,
        end=tag.end(),
        name=tag[1].lower(),
        attributes={} if is_end else _attributes(text, tag.end(1), tag.end() - 1),
    )


def _attributes(text: str, place: int, end: int) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    while place < end and (each := _ATTRIBUTE.match(text, place, end)) is not None:
        place = each.end()
        if each[1] is not None:
            raw = each[2] or ""
            value = raw[1:-1] if raw[:1] in ("'", '"') else raw
            start, stop = each.span(2) if each[2] is not None else (place, place)
            attribute = Attribute(value=html.unescape(value), start=start, end=stop)
            found.setdefault(each[1].lower(), attribute)
    return found
