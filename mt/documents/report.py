"""What became of the units of a document, in numbers."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_NUMBERS = (
    *("units", "words", "filled", "copied", "kept", "locked", "left", "codes", "fallbacks"),
    *("doubtful", "marked"),
)
_WIDTH = 9


@dataclass(frozen=True, kw_only=True)
class DocumentReport:
    """The units of a document, each in one of `filled`, `copied`, `kept`, `locked` and `left`."""

    units: int
    words: int
    """Of the units that were filled."""
    filled: int
    """Translated."""
    copied: int
    """Put into the target as they are: there is no letter to translate."""
    kept: int
    """They had a target."""
    locked: int
    left: int
    """Without a translation; `reasons` says why."""
    codes: int
    """Codes and tags put into targets."""
    fallbacks: int
    """Units with their codes at their ends, or a placeholder that had to be mended."""
    doubtful: int
    """Filled units that a person has to look at; `reasons` says why."""
    marked: int
    """Units that were to be marked, where the format can."""
    reasons: Mapping[str, int]
    """Why units are left or doubtful, and how many."""
    skipped: Mapping[str, int]
    """Text that is in no unit, by the reason."""


@dataclass(kw_only=True)
class Counts:
    """A report while it is made."""

    units: int = 0
    words: int = 0
    filled: int = 0
    copied: int = 0
    kept: int = 0
    locked: int = 0
    left: int = 0
    codes: int = 0
    fallbacks: int = 0
    doubtful: int = 0
    marked: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def report(self, skipped: Mapping[str, int]) -> DocumentReport:
        """The report as it is now."""
        return DocumentReport(
            **{name: value for name, value in vars(self).items() if name != "reasons"},
            reasons=dict(self.reasons),
            skipped=dict(skipped),
        )


@dataclass(frozen=True, kw_only=True)
class TranslatedDocument:
    """A document that was translated, and what became of its units."""

    path: Path
    output: Path
    form: str
    report: DocumentReport


def report_lines(found: TranslatedDocument) -> list[str]:
    """The numbers of a document as a table, and the reasons behind them."""
    numbers = [f"{getattr(found.report, name):,}" for name in _NUMBERS]
    lines = [f"{found.path} -> {found.output} ({found.form})", _row(_NUMBERS), _row(numbers)]
    for title, counts in (("units", found.report.reasons), ("in no unit", found.report.skipped)):
        ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        if ordered:
            lines.append(f"  {title}: " + ", ".join(f"{why} {count:,}" for why, count in ordered))
    return lines


def report_record(found: TranslatedDocument) -> dict[str, object]:
    """The report of a document for JSON."""
    return {
        "file": str(found.path),
        "output": str(found.output),
        "format": found.form,
        **dataclasses.asdict(found.report),
    }


def _row(cells: Sequence[str]) -> str:
    return " ".join(f"{cell:>{_WIDTH}}" for cell in cells)
