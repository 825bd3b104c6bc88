"""A document read again after it was written, and compared with what was meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO

from mt.formats.documents.unit import Code, Content, Document, Unit
from mt.text.normalise import normalise


class RecordedDocument:
    """A document that keeps what is put into it."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.filled: dict[int, Content] = {}

    @property
    def units(self) -> Sequence[Unit]:
        """Those of the document, as they were."""
        return self._document.units

    @property
    def skipped(self) -> Mapping[str, int]:
        """What is in no unit."""
        return self._document.skipped

    def fill(self, index: int, target: Content, *, marked: bool) -> None:
        """Put a target into a unit."""
        self._document.fill(index, target, marked=marked)
        self.filled[index] = target

    def write(self, file: BinaryIO) -> None:
        """Write the document."""
        self._document.write(file)


def first_difference(meant: RecordedDocument, found: Sequence[Unit]) -> str | None:
    """Where units that were read again are not what was written, as a clause; None: nowhere."""
    if len(found) != len(meant.units):
        return f"it has {len(found)} units, and not {len(meant.units)}"
    for index, (before, after) in enumerate(zip(meant.units, found, strict=True)):
        expected = meant.filled.get(index)
        if expected is None:
            is_same = _is_same(before.source, after.source) and _is_same(
                before.target or (), after.target or ()
            )
        elif after.target is None:  # a format of one language
            is_same = _is_same(expected, after.source)
        else:
            is_same = _is_same(before.source, after.source) and _is_same(expected, after.target)
        if not is_same:
            return f"unit {before.name} is not read as it was written"
    return None


def _is_same(one: Content, other: Content) -> bool:
    """Whether two contents are the same but for white space and the names of codes."""
    return _as_text(one) == _as_text(other)


def _as_text(content: Content) -> str:
    return normalise("".join(map(_shown, content))).replace(" ", "")


def _shown(part: str | Code) -> str:
    """Text, or a code by its markup; nothing of one that is a property of text.

    Where two of these that are alike stand side by side, they are read as one.
    """
    if isinstance(part, str):
        return part
    return "" if part.is_style else f"⟦{part.markup}⟧"
