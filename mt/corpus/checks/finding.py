"""Kinds of trouble, each with an id that stays stable, and findings of them with locations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mt.config import DROPPABLE, CorpusConfig

Level = Literal["fault", "doubt", "note"]
"""fault: do not train or score on this; doubt: look at it; note: good to know, `mt` copes."""

_MAX_EXAMPLES = 3
_MAX_EXAMPLE_LENGTH = 100  # characters


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of trouble."""

    title: str
    level: Level
    treatment: str
    """What `mt train` does about it, or what to do."""


def _kind(title: str, level: Level, treatment: str) -> Kind:
    return Kind(title=title, level=level, treatment=treatment)


def flag_of(finding: str) -> str:
    """The flag by which `mt train` treats a finding otherwise than by default; often empty."""
    if finding not in DROPPABLE:
        return ""
    return f"--keep {finding}" if finding in CorpusConfig().drop else f"--drop {finding}"


_OVERLAP = "kept; a score on them says less than it seems"

KINDS: dict[str, Kind] = {
    "unreadable": _kind("the corpus breaks off", "fault", "mend the file"),
    "empty": _kind("corpora without a single pair", "fault", "is it the right file?"),
    "misaligned": _kind(
        "the lengths of the sides agree up to here, and not after",
        "fault",
        "look there for a line that one side lacks",
    ),
    "not_utf8": _kind(
        "sides that are not UTF-8",
        "fault",
        "refused; convert the file",
    ),
    "overlap_source": _kind(
        "--against sources that occur in the corpus",
        "fault",
        "left out, where mt train has the same --against; so are those of --dev",
    ),
    "overlap_target": _kind("--against targets that occur in the corpus", "fault", _OVERLAP),
    "overlap_pair": _kind(
        "--against pairs that occur in the corpus", "fault", "left out with their sources"
    ),
    "overlap_source_loose": _kind(
        "--against sources that occur but for case, digits, marks, spaces", "fault", _OVERLAP
    ),
    "overlap_target_loose": _kind(
        "--against targets that occur but for case, digits, marks, spaces", "fault", _OVERLAP
    ),
    "overlap_pair_loose": _kind(
        "--against pairs that occur but for case, digits, marks, spaces",
        "fault",
        "as their sources",
    ),
    "serial": _kind(
        "serial numbers stuck to the lines of a side", "doubt", "kept; remove them from the text"
    ),
    "blank": _kind("pairs with a blank side", "doubt", "left out"),
    "ratio": _kind(
        "pairs whose lengths are over 4 times out of the usual proportion",
        "doubt",
        "left out beyond corpus.max_ratio, 9 times",
    ),
    "script_source": _kind("sources in another script than most", "doubt", "kept; look at them"),
    "script_target": _kind("targets in another script than most", "doubt", "kept; look at them"),
    "language_source": _kind(
        "sources in another language than most", "doubt", "kept; look at them"
    ),
    "language_target": _kind(
        "targets in another language than most", "doubt", "kept; look at them"
    ),
    "unexpected_language": _kind(
        "sides in another language than asked for", "doubt", "are the files in the right order?"
    ),
    "numbers_differ": _kind("pairs whose numbers differ by value", "doubt", "kept; look at them"),
    "nul": _kind("NUL characters", "doubt", "read as spaces; is the file UTF-16?"),
    "replacement": _kind(
        "replacement characters: text broken before it came here",
        "doubt",
        "read as spaces; better fetch the text anew",
    ),
    "mojibake": _kind(
        "UTF-8 that was read in another encoding", "doubt", "kept; mend it at its source"
    ),
    "segments_that_do_not_fit": _kind(
        "units cut into other numbers of segments on their sides", "doubt", "left out"
    ),
    "unreadable_character": _kind(
        "units with a character that XML forbids, or an entity that is not declared",
        "doubt",
        "left out; mend them",
    ),
    "no_source": _kind("units without a source", "note", "left out"),
    "no_target": _kind("units without a target", "note", "left out"),
    "fuzzy_entry": _kind("fuzzy entries", "note", "left out"),
    "obsolete_entry": _kind("obsolete entries", "note", "left out"),
    "marked_as_not_translated": _kind("units marked as not translated", "note", "left out"),
    "not_confirmed": _kind(
        "units whose translation is a draft, was rejected or is not confirmed", "note", "left out"
    ),
    "text_outside_of_verses": _kind(
        "titles, headings and introductions of scripture", "note", "left out"
    ),
    "rows_of_a_sheet_without_the_columns": _kind(
        "rows of further sheets without the columns", "note", "left out"
    ),
    "other_languages": _kind("units in other languages", "note", "left out"),
    "copy": _kind(
        "pairs whose target is the source",
        "note",
        "kept; right for names, wrong for text that nobody translated",
    ),
    "duplicate": _kind("pairs that came before", "note", "left out"),
    "near_duplicate": _kind(
        "pairs that came before but for case, digits, marks, spaces", "note", "kept"
    ),
    "long": _kind(
        "pairs with a side of more than 200 words",
        "note",
        "left out beyond corpus.max_length, 256 tokens",
    ),
    "markup": _kind("sides with tags or entities", "note", "kept; remove them if unwanted"),
    "separator": _kind("line separators that end no line", "note", "read as spaces"),
    "carriage_return": _kind("carriage returns inside a line", "note", "read as spaces"),
    "control": _kind("control characters", "note", "read as spaces"),
    "bom": _kind("byte order marks inside the text", "note", "left out of the text"),
    "not_nfc": _kind("sides that are not in Unicode's form NFC", "note", "brought into NFC"),
}
"""Every kind by its id, the gravest first."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """One case of a finding."""

    place: str
    """The location, as file:line."""
    text: str


@dataclass(kw_only=True)
class Finding:
    """How often a kind of trouble was met, and where."""

    id: str
    count: int = 0
    out_of: int | None = None
    """What the count is a part of, where that is not the corpus."""
    examples: list[Example] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """Title, level and treatment."""
        return KINDS[self.id]

    @property
    def flag(self) -> str:
        """The flag that makes `mt train` treat it otherwise; empty where there is none."""
        return flag_of(self.id)

    def add(self, location: str, text: str, *, is_whole: bool = False) -> None:
        """Count a case; the first few are kept as examples, with what cannot be seen spelled.

        A long text is cut, unless `is_whole` says that it says what is wrong.
        """
        self.count += 1
        if len(self.examples) < _MAX_EXAMPLES:
            if len(text) > _MAX_EXAMPLE_LENGTH and not is_whole:
                text = f"{text[:_MAX_EXAMPLE_LENGTH]}…"
            shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
            self.examples.append(Example(place=location, text=shown))


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """What was read and what was found, the gravest first."""

    num_pairs: int
    files: dict[str, int]
    """Pairs by file."""
    findings: list[Finding]

    @property
    def is_at_fault(self) -> bool:
        """Whether something must be mended before training or scoring."""
        return any(finding.kind.level == "fault" for finding in self.findings)
