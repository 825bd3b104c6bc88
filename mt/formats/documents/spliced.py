"""A document of text whose targets go into spans of it; a format says which, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from mt.formats.documents.codes import require_codes
from mt.formats.documents.splice import Edit, splice
from mt.formats.documents.text_file import TextFile
from mt.formats.documents.unit import Content, Unit


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A target for a unit."""

    target: Content
    marked: bool


class Cell(Protocol):
    """A part of a file that is written anew when one of its units is filled."""

    @property
    def units(self) -> Sequence[Unit]:
        """Its units, in the order of the file."""
        ...

    def check(self, index: int, target: Content) -> None:
        """Raise ValueError for a target that cannot stand in `units[index]`."""
        ...

    def edits(self, filled: Mapping[int, Filled]) -> Iterable[Edit]:
        """What changes in the file, by the targets of its units, under their indices."""
        ...


class Span:
    """A cell of one unit and one span."""

    def __init__(self, unit: Unit, start: int, end: int, write: Callable[[Content], str]) -> None:
        self.units = [unit]
        self._place = start, end
        self._write = write

    def check(self, index: int, target: Content) -> None:
        """Raise ValueError for codes that are not those of the source."""
        require_codes(self.units[index].source, target)

    def edits(self, filled: Mapping[int, Filled]) -> Iterable[Edit]:
        """The span, with the target as the format writes it."""
        yield (*self._place, self._write(filled[0].target))


class SplicedDocument:
    """A file of text with the cells that were found in it."""

    def __init__(
        self,
        file: TextFile,
        cells: Iterable[Cell],
        skipped: Mapping[str, int],
        *,
        when_filled: Sequence[Edit] = (),
    ) -> None:
        """`when_filled`: what changes as well as soon as a unit is filled (a language's name)."""
        self._file = file
        self._places = [(cell, i) for cell in cells for i in range(len(cell.units))]
        self._filled: dict[int, Filled] = {}
        self._when_filled = when_filled
        self.units: Sequence[Unit] = [cell.units[i] for cell, i in self._places]
        self.skipped: Mapping[str, int] = skipped

    def fill(self, index: int, target: Content, *, marked: bool) -> None:
        """Put a target into `units[index]`; raises ValueError for codes other than its source's."""
        cell, i = self._places[index]
        cell.check(i, target)
        self._filled[index] = Filled(target=target, marked=marked)

    def write(self, file: BinaryIO) -> None:
        """Write the file with its targets; raises DataError for what its encoding lacks."""
        file.write(self._file.encoded(self.written()))

    def written(self, further: Sequence[Edit] = ()) -> str:
        """The text with its targets; `further` edits are made if there are any."""
        by_cell: dict[int, tuple[Cell, dict[int, Filled]]] = {}
        for index, filled in self._filled.items():
            cell, i = self._places[index]
            by_cell.setdefault(id(cell), (cell, {}))[1][i] = filled
        edits = [edit for cell, filled in by_cell.values() for edit in cell.edits(filled)]
        if edits:
            edits += [*self._when_filled, *further]
        return splice(self._file.text, edits)
