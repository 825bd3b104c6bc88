"""Texts as the lines that are translated by themselves, and whole again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

_END = re.compile("(\r?\n)")


@dataclass(frozen=True, kw_only=True)
class CutText:
    """A text cut at its line breaks."""

    lines: tuple[str, ...]
    """At least one; blank ones among them."""
    ends: tuple[str, ...]
    """The line breaks between them, one less."""

    def joined(self, lines: Sequence[str]) -> str:
        """As many other lines, with the breaks of this text between them."""
        both = zip_longest(lines, self.ends, fillvalue="")
        return "".join(part for pair in both for part in pair)


def cut(text: str) -> CutText:
    """Cut a text at each LF; a CR before it belongs to the break."""
    parts = _END.split(text)
    return CutText(lines=tuple(parts[::2]), ends=tuple(parts[1::2]))


def on_one_line(text: str) -> CutText:
    """The whole text as one line; its line breaks are white space."""
    return CutText(lines=(text.replace("\r\n", " ").replace("\n", " "),), ends=())
