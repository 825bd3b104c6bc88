"""What a document gives to be translated: units of text with codes, and where they are put back.

A reader of a format cuts a file into units and knows how to write a target into each; how a target
with codes is found is not its business. Bytes that hold no target stay as they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO, Protocol


class CodeForm(StrEnum):
    """How a code stands in the text."""

    OPENING = "opening"
    CLOSING = "closing"
    ISOLATED = "isolated"


@dataclass(frozen=True, kw_only=True)
class Code:
    """Markup inside the text of a unit: it is carried over as it is, never translated.

    A target holds the codes of its source, each as often; the reader that made them writes them.
    """

    form: CodeForm
    name: str
    """An opening and its closing share it; else it occurs once in a unit."""
    markup: str
    """As the file has it, decoded, for messages and reports."""
    text: str = ""
    """What a reader of the document sees in its place (`%s`, a number, a name): it then stands
    for a word, and the search carries it. Empty: markup only, placed by word alignment."""
    is_break: bool = False
    """It ends a sentence: a line break, a tab, a paragraph."""
    is_style: bool = False
    """Half of a pair around text of other properties, which is no element of the file: when that is
    read again, neighbours that look alike are one pair, and there is none around nothing."""


Content = tuple[str | Code, ...]
"""Text and codes in order, well nested: text as people read it, entities and escapes resolved."""


class State(StrEnum):
    """What a unit holds before it is translated, and so whether it is."""

    EMPTY = "empty"
    """No target: it is filled."""
    FILLED = "filled"
    """A target that nobody doubts: it is kept unless told otherwise."""
    DOUBTFUL = "doubtful"
    """A target that waits for a person (fuzzy, needs review): kept unless told otherwise."""
    LOCKED = "locked"
    """Locked, approved, not to be translated: it is never touched."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A piece of text that is translated by itself, unless it flows on into the next."""

    name: str
    """Where it is: a key, an id, a line; for messages and reports."""
    source: Content
    target: Content | None = None
    """What the file holds for it; None: nothing."""
    state: State = State.EMPTY
    flow: str = ""
    """Neighbours of one flow are running text: sentences go on from unit to unit (cues, wrapped
    lines, runs) and are translated whole. Empty: it stands alone."""
    most_characters: int | None = None
    """How long a target may be, where the file says so."""


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """What a reader is told about the documents of a command."""

    source_language: str = ""
    """Tags as of BCP 47, of the model: for plural forms, attributes and the choice of a text."""
    target_language: str = ""
    columns: tuple[str, str] | None = None
    """Names or numbers of the columns of source and target in a table."""


class Document(Protocol):
    """A file whose text can be replaced. It is read whole when it is made.

    Making one raises DataError, in one line with the place, for a file that is broken, hostile or
    not of the format.
    """

    @property
    def units(self) -> Sequence[Unit]:
        """All units in the order of the file, those that are kept or locked among them."""
        ...

    @property
    def skipped(self) -> Mapping[str, int]:
        """Pieces of text that are not units, counted by the reason."""
        ...

    def fill(self, index: int, target: Content, *, marked: bool) -> None:
        """Put a target into `units[index]`, over what is there.

        `marked`: as one that a person should look at, in the way of the format, where it has one.
        Raises ValueError for codes that are not those of the source, each as often.
        """
        ...

    def write(self, file: BinaryIO) -> None:
        """Write the file with the targets that were filled; the rest stays byte by byte."""
        ...
