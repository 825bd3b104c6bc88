"""Glossaries that clients bring, in memory, each seen only by the key that brought it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mt.serving.fields import invalid
from mt.serving.refusal import RefusalError
from mt.serving.service import Terms
from mt.text.glossary import Glossary
from mt.text.normalise import is_blank

_MOST_TERMS = 10_000
Entry = tuple[str, str]
"""A term and its translation."""


@dataclass(frozen=True, kw_only=True)
class StoredGlossary:
    """A glossary as it was brought."""

    number: str
    """A random name that nobody guesses."""
    name: str
    source: str
    target: str
    entries: Sequence[Entry]
    created: datetime
    terms: Terms

    def record(self) -> dict[str, object]:
        """What its owner is told."""
        return {
            "glossary_id": self.number,
            "name": self.name,
            "ready": True,
            "source_lang": self.source,
            "target_lang": self.target,
            "creation_time": self.created.isoformat(),
            "entry_count": len(self.entries),
        }

    def as_tsv(self) -> str:
        """A term, a tab and its translation a line."""
        return "\n".join("\t".join(entry) for entry in self.entries)


@dataclass
class Glossaries:
    """All glossaries by owner."""

    most: int
    _by_owner: dict[str, dict[str, StoredGlossary]] = field(default_factory=dict)

    def of(self, owner: str) -> list[StoredGlossary]:
        """Those of an owner, oldest first."""
        return list(self._by_owner.get(owner, {}).values())

    def get(self, owner: str, number: str) -> StoredGlossary:
        """A glossary of an owner; raises RefusalError where there is none."""
        found = self._by_owner.get(owner, {}).get(number)
        if found is None:
            raise RefusalError(404, "Glossary not found")
        return found

    def add(
        self, owner: str, name: str, pair: tuple[str, str], entries: Sequence[Entry]
    ) -> StoredGlossary:
        """Keep a glossary; raises RefusalError where the owner has too many."""
        theirs = self._by_owner.setdefault(owner, {})
        if len(theirs) >= self.most:
            raise RefusalError(456, f"There may be {self.most} glossaries: delete one first")
        number = str(uuid.uuid4())
        glossary = StoredGlossary(
            number=number,
            name=name,
            source=pair[0],
            target=pair[1],
            entries=tuple(entries),
            created=datetime.now(UTC),
            terms=Terms(name=number, glossary=Glossary(entries)),
        )
        theirs[number] = glossary
        return glossary

    def remove(self, owner: str, number: str) -> None:
        """Forget a glossary; raises RefusalError where there is none."""
        self.get(owner, number)
        del self._by_owner[owner][number]


def entries_of(text: str, form: str) -> list[Entry]:
    """The entries of a glossary in TSV or CSV; raises RefusalError for one that is none."""
    rows = _csv_rows(text) if form == "csv" else [line.split("\t") for line in text.split("\n")]
    entries = []
    for number, row in enumerate(rows, start=1):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < 2 or any(map(is_blank, row[:2])):
            raise invalid(f"entry {number} of the glossary is not a term and a translation")
        entries.append((row[0].strip(), row[1].strip()))
    if not entries:
        raise invalid("the glossary has no entries")
    if len(entries) > _MOST_TERMS:
        raise invalid(f"the glossary has {len(entries)} entries, but at most {_MOST_TERMS} may be")
    if len({source for source, _ in entries}) < len(entries):
        raise invalid("the glossary has a source term twice")
    return entries


def _csv_rows(text: str) -> list[list[str]]:
    import csv

    try:
        return list(csv.reader(text.splitlines(keepends=True), strict=True))
    except csv.Error:
        raise invalid("the glossary is not CSV") from None
