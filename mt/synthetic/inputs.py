"""The lines that are to be translated: what they are, which of them need it, which do not and why.

They are read three times (counted, translated, written with their translations), and must be the
same each time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mt.corpus.cleaning import BLANK, TextRules
from mt.corpus.keys import key_of
from mt.errors import DataError
from mt.files.digests import blake2b_of_lines
from mt.formats.pair import Reader
from mt.formats.text import read_lines

REPEATED = "repeated"


class InputLine(NamedTuple):
    """One line as it was read."""

    text: str
    origin: str
    """The file it comes from."""
    number: int
    """Its line there, from 1."""
    fault: str = ""
    """Why the reader itself rules it out."""


@dataclass(frozen=True)
class Inputs:
    """The sources of corpora, and then the lines of files of text."""

    readers: tuple[Reader, ...]
    paths: tuple[Path, ...]

    def __iter__(self) -> Iterator[InputLine]:
        """Read all lines, in order; raises DataError where a file is at fault."""
        for reader in self.readers:
            for pair in reader:
                fault = "" if pair.source else pair.fault
                yield InputLine(pair.source, pair.origin, pair.line, fault)
        for path in self.paths:
            for number, line in enumerate(read_lines(path), start=1):
                assert line is not None  # what is not UTF-8 was refused
                yield InputLine(line, str(path), number)


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What is known of all lines before any is translated."""

    digest: str
    """BLAKE2b of all lines."""
    reasons: tuple[str, ...]
    """Why lines are not translated; the first, "", is that of those which are."""
    codes: NDArray[np.uint8]
    """Of each line, the index of its reason."""

    @property
    def num_lines(self) -> int:
        """Lines that were read."""
        return len(self.codes)

    @property
    def num_wanted(self) -> int:
        """Lines that are to be translated."""
        return int((self.codes == 0).sum())

    @property
    def skipped(self) -> Mapping[str, int]:
        """Lines that are not, by reason."""
        counts = np.bincount(self.codes, minlength=len(self.reasons)).tolist()
        return {name: n for name, n in zip(self.reasons[1:], counts[1:], strict=True) if n}

    def judged(self, lines: Iterable[InputLine]) -> Iterator[tuple[InputLine, str]]:
        """The lines, read again, each with the reason why it is not translated, or "".

        Raises DataError where they are fewer or more than before.
        """
        codes = iter(self.codes.tolist())
        for line in lines:
            code = next(codes, None)
            if code is None:
                raise changed(line.origin)
            yield line, self.reasons[code]
        if next(codes, None) is not None:
            raise changed("the text")

    def wanted(self, lines: Iterable[InputLine]) -> Iterator[InputLine]:
        """The lines that are to be translated."""
        return (line for line, reason in self.judged(lines) if not reason)


def changed(where: str) -> DataError:
    """The error for text that is not what was read before."""
    return DataError(
        f"{where} changed while it was translated", hint="Start again when it is complete"
    )


def survey(lines: Iterable[InputLine], rules: TextRules) -> Survey:
    """Read all lines: a blank one, and one that came before, need no translation."""
    keys, faults = array("Q"), array("B")
    reasons = {"": 0, BLANK: 1, REPEATED: 2}

    def texts() -> Iterator[str]:
        for line in lines:
            fault = line.fault or (BLANK if rules.is_blank(line.text) else "")
            faults.append(reasons.setdefault(fault, len(reasons)))
            keys.append(0 if fault else key_of(rules.normalise(line.text)))
            yield line.text

    digest = blake2b_of_lines(texts())
    codes = np.array(faults, dtype=np.uint8)
    rows = np.flatnonzero(codes == 0)
    _, first = np.unique(np.asarray(keys)[rows], return_index=True)
    codes[np.delete(rows, first)] = reasons[REPEATED]
    return Survey(digest=digest, reasons=tuple(reasons), codes=codes)
