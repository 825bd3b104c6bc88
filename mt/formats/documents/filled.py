"""What all documents of spans share: their units, what was filled, and how they are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar

from mt.errors import DataError
from mt.formats.compressed import read_blocks
from mt.formats.documents.codes import require_codes
from mt.formats.documents.splices import Edit
from mt.formats.documents.unit import Content, Unit
from mt.formats.documents.xml_tree import XmlFile
from mt.formats.standard_input import shown
from mt.languages import is_same_language

WITHOUT_TEXT = "without text"
NOT_TRANSLATED = "not to be translated"
OTHER_LANGUAGES = "other languages"


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A target as it was given."""

    target: Content
    marked: bool


class FilledDocument(ABC):
    """A document that holds what it is filled with until it is written."""

    in_place: ClassVar[bool] = False
    """Targets take the place of their sources: what is filled with its source stays as it is."""

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._skipped: Counter[str] = Counter()
        self._filled: dict[int, Filled] = {}

    @property
    def units(self) -> Sequence[Unit]:
        """All units in the order of the file."""
        return self._units

    @property
    def skipped(self) -> Mapping[str, int]:
        """Pieces of text that are not units, by the reason."""
        return self._skipped

    def fill(self, index: int, target: Content, *, marked: bool) -> None:
        """Put a target into a unit; raises ValueError unless it has the codes of its source."""
        require_codes(self._units[index].source, target)
        if self.in_place and target == self._units[index].source:
            self._filled.pop(index, None)
        else:
            self._filled[index] = Filled(target=target, marked=marked)

    @abstractmethod
    def write(self, file: BinaryIO) -> None:
        """Write the file with the targets that were filled."""


class XmlDocument(FilledDocument):
    """A document that is one XML file."""

    def __init__(self, path: Path, *, root: str) -> None:
        super().__init__()
        self._raw = whole_file(path)
        self._xml = XmlFile(self._raw, name=shown(path))
        found = self._xml.root.name
        if found != root:
            raise DataError(f"{self._xml.name}: its root is {found}, and not {root}")

    def write(self, file: BinaryIO) -> None:
        """Write the file with the targets that were filled."""
        file.write(self._xml.edited(self._edits()) if self._filled else self._raw)

    @abstractmethod
    def _edits(self) -> Iterable[Edit]:
        """What changes by the targets that were filled."""


_LARGEST = 1 << 29  # bytes


def whole_file(path: Path) -> bytes:
    """The bytes of a file, unpacked; raises DataError for one that is far too large."""
    blocks: list[bytes] = []
    size = 0
    for block in read_blocks(path):
        blocks.append(block)
        size += len(block)
        if size > _LARGEST:
            raise DataError(f"{shown(path)}: more than {_LARGEST >> 20} MB, which is too large")
    return b"".join(blocks)


def is_of(language: str, asked: str) -> bool:
    """Whether a language that a file declares may be the one that is asked for."""
    return not language or not asked or is_same_language(language, asked)
