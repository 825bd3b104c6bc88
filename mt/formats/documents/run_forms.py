"""Runs of Office documents: their properties, and how a text is written with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mt.formats.documents.inline import Mark
from mt.formats.documents.splices import Part, Span
from mt.formats.documents.xml_tags import escaped

_SHOWN = re.compile(rb"[<:](?:u|strike|dstrike|highlight|shd|bdr)[ />]|'(?:u|strike)'")
HYPHENS = {"noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_HYPHEN = re.compile("([\u2011\u00ad])")
_HYPHEN_NAMES = {hyphen: name for name, hyphen in HYPHENS.items()}


@dataclass(frozen=True, kw_only=True)
class RunForm:
    """The properties of a run, and the run that they are taken from."""

    key: bytes
    opening: Span
    properties: Span | None
    closing: Span
    text_tag: str
    namespace: str

    @property
    def shows_spaces(self) -> bool:
        """Whether white space of these properties can be seen."""
        return _SHOWN.search(self.key) is not None

    def parts(self, inner: Iterable[Part]) -> Iterator[Part]:
        """A run that holds something."""
        yield self.opening
        if self.properties is not None:
            yield self.properties
        yield from inner
        yield self.closing

    def marked_parts(self, markup: Iterable[Part]) -> Iterator[Part]:
        """A run that holds a piece of markup as its text."""
        tag = self.text_tag
        inner = (f"<{tag}{self._space}>".encode(), *markup, f"</{tag}>".encode())
        return self.parts(inner)

    @property
    def _space(self) -> str:
        return "" if "drawingml" in self.namespace else ' xml:space="preserve"'

    def text_parts(self, text: str) -> Iterator[Part]:
        """A run that holds a text."""
        tag = self.text_tag
        is_word = "wordprocessingml" in self.namespace
        pieces = _HYPHEN.split(text) if is_word else [text]
        inner: list[Part] = []
        for piece in filter(None, pieces):
            if is_word and piece in _HYPHEN_NAMES:
                inner.append(f"<{tag.removesuffix('t')}{_HYPHEN_NAMES[piece]}/>".encode())
            else:
                inner.append(f"<{tag}{self._space}>{escaped(piece)}</{tag}>".encode())
        return self.parts(inner)


@dataclass(frozen=True, kw_only=True)
class RunText:
    """A text of a run."""

    text: str
    form: RunForm


Atom = RunText | Mark
