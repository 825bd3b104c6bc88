"""HTML pages: text between block tags is a unit, tags within it are its codes."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from mt.formats.documents.encoded import ByteOffsets, encoded_text
from mt.formats.documents.filled import NOT_TRANSLATED, FilledDocument, whole_file
from mt.formats.documents.html_tokens import Token, tokens_of
from mt.formats.documents.html_words import (
    BLOCKS,
    LANGUAGES,
    MOST_SPOKEN,
    NAMED,
    PREFORMATTED,
    SPACES,
    SPOKEN,
    UNREAD,
    UNREAD_BLOCKS,
    VOID,
    declared_encoding,
    is_untranslated,
    names_of_texts,
)
from mt.formats.documents.inline import (
    CLOSING,
    ISOLATED,
    OPENING,
    Coded,
    Mark,
    Stream,
    coded,
    has_letters,
    written,
)
from mt.formats.documents.splices import Edit, Part
from mt.formats.documents.unit import CodeForm, DocumentOptions, Unit
from mt.formats.standard_input import shown

_BLANK = " \t\r\n\f"


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """A unit and where its target goes: characters of the page."""

    start: int
    end: int
    name: str
    source: Coded
    order: tuple[int, bool, str]
    """Values in a text come behind it by their tags, which a target may put in another order."""
    is_value: bool = False
    """It is the value of an attribute."""


class Html(FilledDocument):
    """A page. Comments, scripts, `pre` and what is marked translate="no" stay as they are."""

    in_place = True

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        super().__init__()
        self._options = options
        self._raw = whole_file(path)
        self._encoded = encoded_text(self._raw, declared_encoding, name=shown(path))
        self._text = self._encoded.data.decode("utf-8")
        self._tokens = tokens_of(self._text)
        self._byte = ByteOffsets(self._text)
        self._lines = [found.end() for found in re.finditer("\n", self._text)]
        self._pieces: list[_Piece] = []
        self._read()
        self._pieces.sort(key=lambda piece: piece.order)
        self._units = [Unit(name=each.name, source=each.source.content) for each in self._pieces]

    def write(self, file: BinaryIO) -> None:
        """Write the page with the targets that were filled."""
        file.write(self._encoded.edited(self._edits()) if self._filled else self._raw)

    def _edits(self) -> Iterator[Edit]:
        for index, filled in self._filled.items():
            piece = self._pieces[index]
            stream = piece.source.stream(filled.target)
            parts = written(stream, _value_parts if piece.is_value else _text_parts)
            if piece.is_value:
                quote = b"'" if self._text[piece.start] == "'" else b'"'
                parts = (quote, *parts, quote)
            yield Edit(start=self._byte(piece.start), end=self._byte(piece.end), parts=parts)
        page = next((token for token in self._tokens if token.name == "html"), None)
        if page is not None and page.kind == "start" and self._options.target_language:
            yield self._language_edit(page, self._options.target_language)

    def _language_edit(self, page: Token, language: str) -> Edit:
        """The tag of a page with its language."""
        tag = self._raw_text(page)
        values = [page.attributes[name] for name in LANGUAGES if name in page.attributes]
        for each in sorted(values, key=lambda value: value.start, reverse=True):
            start, end = each.start - page.start, each.end - page.start
            tag = f'{tag[:start]}"{language}"{tag[end:]}'
        if not values:
            tag = f'{tag[:5]} lang="{language}"{tag[5:]}'
        start, end = self._span(page.start, page.end)
        return Edit(start=start, end=end, parts=(tag.encode("utf-8"),))

    def _raw_text(self, token: Token) -> str:
        return self._text[token.start : token.end]

    def _span(self, start: int, end: int) -> tuple[int, int]:
        return self._byte(start), self._byte(end)

    def _read(self) -> None:
        run: list[_Item] = []
        index = 0
        while index < len(self._tokens):
            token = self._tokens[index]
            last = index + 1
            if token.kind == "start":
                last = self._end_of_unread(index)
                if not is_untranslated(token):
                    self._read_attributes(token)
            if token.name in BLOCKS:
                self._close(run)
                run = []
                if last > index + 1:
                    self._skip(index, last)
            elif token.kind == "cut" or self._is_doctype(token):
                self._close(run)
                run = []
            else:
                run.append(_Item(first=index, last=last))
            index = last
        self._close(run)

    def _is_doctype(self, token: Token) -> bool:
        return self._raw_text(token)[:9].lower() == "<!doctype"

    def _end_of_unread(self, index: int) -> int:
        """The token after an element that is not read, or after the tag where it is read."""
        token = self._tokens[index]
        name = token.name
        is_unread = name in UNREAD or name in UNREAD_BLOCKS or is_untranslated(token)
        if name in VOID or not (is_unread or name in SPOKEN):
            return index + 1
        if self._raw_text(token).endswith("/>") and name in UNREAD | SPOKEN:
            return index + 1
        depth = 0
        end = len(self._tokens)
        for other in range(index, end if is_unread else min(end, index + MOST_SPOKEN)):
            each = self._tokens[other]
            if each.name == name and each.kind == "start":
                depth += 1
            elif each.name == name and each.kind == "end":
                depth -= 1
                if depth == 0:
                    return other + 1
            elif each.name in BLOCKS and not is_unread:
                break  # it was not closed
        return end if is_unread else index + 1

    def _skip(self, first: int, last: int) -> None:
        """Count an element of a block that stays."""
        if any(self._has_letters(token) for token in self._tokens[first:last]):
            untranslated = is_untranslated(self._tokens[first])
            self._skipped[NOT_TRANSLATED if untranslated else PREFORMATTED] += 1

    def _has_letters(self, token: Token) -> bool:
        return token.kind == "text" and has_letters(self._raw_text(token))

    def _read_attributes(self, token: Token) -> None:
        """The values of a tag that people read, each a unit."""
        for name in names_of_texts(token):
            attribute = token.attributes[name]
            source = coded([SPACES.sub(" ", attribute.value)])
            if source.has_text:
                piece = _Piece(
                    start=attribute.start,
                    end=attribute.end,
                    name=f"{self._line(token)} {token.name} {name}",
                    source=source,
                    order=(attribute.start, True, self._without_values(token)),
                    is_value=True,
                )
                self._pieces.append(piece)

    def _without_values(self, token: Token) -> str:
        """A tag without the values that are units of their own."""
        names = names_of_texts(token) if token.kind == "start" else []
        raw = self._raw_text(token)
        for value in sorted((token.attributes[name] for name in names), key=lambda v: -v.start):
            raw = raw[: value.start - token.start] + "…" + raw[value.end - token.start :]
        return raw

    def _line(self, token: Token) -> str:
        return f"line {bisect_right(self._lines, token.start) + 1}"

    def _close(self, run: list[_Item]) -> None:
        """Make a unit of what stands between two block tags."""
        begin, stop = 0, len(run)
        while begin < stop and self._is_space(run[begin]):
            begin += 1
        while begin < stop and self._is_space(run[stop - 1]):
            stop -= 1
        run = run[begin:stop]
        if not run:
            return
        first, last = self._tokens[run[0].first], self._tokens[run[-1].last - 1]
        start, end = first.start, last.end
        if first.kind == "text":
            start += len(self._raw_text(first)) - len(self._raw_text(first).lstrip(_BLANK))
        if last.kind == "text":
            end -= len(self._raw_text(last)) - len(self._raw_text(last).rstrip(_BLANK))
        source = coded(list(self._stream(run, start, end)))
        if source.has_text:
            for index in range(len(self._pieces) - 1, -1, -1):
                piece = self._pieces[index]
                if piece.start < start:
                    break
                if piece.start < end:
                    self._pieces[index] = replace(piece, order=(start, *piece.order[1:]))
            self._pieces.append(
                _Piece(
                    start=start,
                    end=end,
                    name=self._line(first),
                    source=source,
                    order=(start, False, ""),
                )
            )

    def _is_space(self, item: _Item) -> bool:
        token = self._tokens[item.first]
        return token.kind == "text" and not self._raw_text(token).strip(_BLANK)

    def _stream(self, run: list[_Item], start: int, end: int) -> Stream:
        stream: list[str | Mark] = []
        for item in run:
            token, last = self._tokens[item.first], self._tokens[item.last - 1]
            if token.kind == "text":
                text = self._text[max(token.start, start) : min(token.end, end)]
                stream.append(_read_text(text))
            else:
                stream.append(self._mark(token, last, item))
        return stream

    def _mark(self, token: Token, last: Token, item: _Item) -> Mark:
        form: CodeForm = ISOLATED
        shown = ""
        if item.last - item.first > 1:
            if token.name in SPOKEN or is_untranslated(token):
                within = self._tokens[item.first : item.last]
                raw = "".join(self._raw_text(each) for each in within if each.kind == "text")
                shown = _read_text(raw).strip()
        elif token.kind == "end":
            form = CLOSING
        elif token.kind == "start" and token.name not in VOID:
            is_empty = token.name in UNREAD and self._raw_text(token).endswith("/>")
            form = ISOLATED if is_empty else OPENING
        return Mark(
            form=form,
            markup=self._without_values(token) + self._text[token.end : last.end],
            parts=(self._span(token.start, last.end),),
            key=token.name,
            text=shown,
            is_break=token.name == "br",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Item:
    """A piece of a run: a token, or an element that is not read."""

    first: int
    last: int
    """The index after its last token."""


def _read_text(raw: str) -> str:
    return SPACES.sub(" ", html.unescape(raw))


def _text_parts(text: str) -> Iterable[Part]:
    text = html.escape(text, quote=False)
    for character, name in NAMED.items():
        text = text.replace(character, name)
    return (text.encode("utf-8"),)


def _value_parts(text: str) -> Iterable[Part]:
    return (html.escape(text).replace("&#x27;", "&#39;").encode("utf-8"),)
