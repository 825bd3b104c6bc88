"""A value of a catalogue as a cell: its units, and how it is written with their targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mt.formats.documents.codes import require_codes
from mt.formats.documents.message import Message
from mt.formats.documents.splice import Edit
from mt.formats.documents.spliced import Filled
from mt.formats.documents.unit import Content, Unit


class MessageCell:
    """A string in a span of the file; several units if it chooses between texts (ICU)."""

    def __init__(
        self, name: str, message: Message, start: int, end: int, write: Callable[[str], str]
    ) -> None:
        self.units = [Unit(name=f"{name}{part}", source=each) for part, each in message.contents]
        self._message = message
        self._place = start, end
        self._write = write

    def check(self, index: int, target: Content) -> None:
        """Raise ValueError for codes that are not those of the source."""
        require_codes(self.units[index].source, target)

    def edits(self, filled: Mapping[int, Filled]) -> Iterable[Edit]:
        """The span, with the string as the format writes it."""
        targets = {index: each.target for index, each in filled.items()}
        yield (*self._place, self._write(self._message.written(targets)))
