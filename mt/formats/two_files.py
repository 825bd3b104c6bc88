"""What the readers of two files, one for each side, have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt.formats.fingerprint import file_content
from mt.formats.kind import is_form
from mt.formats.options import ReadingOptions
from mt.formats.standard_input import shown
from mt.formats.text import language_suffix


class TwoFiles:
    """A file of each language; a form adds how they are aligned."""

    _has_form = True
    """Whether the last suffix names the form, and no language."""

    def __init__(self, source: Path, target: Path, options: ReadingOptions) -> None:
        self._source = source
        self._target = target
        self._options = options

    @property
    def name(self) -> str:
        """Both file names."""
        return f"{shown(self._source)} + {shown(self._target)}"

    @property
    def files(self) -> tuple[str, ...]:
        """Both file names, source first."""
        return (shown(self._source), shown(self._target))

    @property
    def languages(self) -> tuple[str, str] | None:
        """The suffixes of the files, where they differ."""
        source, target = (
            "" if self._has_form and is_form(suffix) else suffix
            for suffix in map(language_suffix, (self._source, self._target))
        )
        return (source, target) if source and target and source != target else None

    def content(self) -> Iterator[bytes] | None:
        """The bytes of both files and how they are read."""
        return file_content(type(self), self._options, [self._source, self._target])
