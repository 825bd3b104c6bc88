"""What the readers of files with both sides have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt.formats.fingerprint import file_content
from mt.formats.options import ReadingOptions
from mt.formats.standard_input import shown


class FileReader:
    """A file of both sides; a form adds how its pairs are read."""

    def __init__(self, path: Path, options: ReadingOptions) -> None:
        self._path = path
        self._options = options

    @property
    def name(self) -> str:
        """The file name."""
        return shown(self._path)

    @property
    def files(self) -> tuple[str, ...]:
        """The file name."""
        return (shown(self._path),)

    @property
    def languages(self) -> tuple[str, str] | None:
        """The codes of source and target in the file; most formats have none."""
        return None

    def content(self) -> Iterator[bytes] | None:
        """The bytes of the file and how it is read."""
        return file_content(type(self), self._options, [self._path])
