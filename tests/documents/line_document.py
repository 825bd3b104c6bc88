"""A format for tests: a unit a line, its source, its target, `?` where a person should look."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from mt.errors import DataError
from mt.formats.documents.unit import Content, DocumentOptions, State, Unit
from tests.documents.memory_document import content, shown


class LineDocument:
    """`source<TAB>target<TAB>?`; a line that begins with # is no unit."""

    damages = ""
    """What each target is written with beside itself, to see that it is found out."""

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        self.options = options
        self._rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        if any(len(row) != 3 and not row[0].startswith("#") for row in self._rows):
            raise DataError(f"{path} is broken")
        self._places = [i for i, row in enumerate(self._rows) if not row[0].startswith("#")]
        self.units = [
            Unit(
                name=f"line {place + 1}",
                source=content(source),
                target=content(target) if target else None,
                state=(State.DOUBTFUL if mark else State.FILLED) if target else State.EMPTY,
            )
            for place, (source, target, mark) in ((i, self._rows[i]) for i in self._places)
        ]

    @property
    def skipped(self) -> Mapping[str, int]:
        return {"comments": len(self._rows) - len(self._places)}

    def fill(self, index: int, target: Content, *, marked: bool) -> None:
        row = self._rows[self._places[index]]
        row[1:] = [shown(target) + self.damages, "?" if marked else ""]

    def write(self, file: BinaryIO) -> None:
        file.write("".join("\t".join(row) + "\n" for row in self._rows).encode())
