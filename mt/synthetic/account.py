"""What became of every line: counts that add up, kept beside the file of pairs."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.files import write_text
from mt.files.digests import blake2b, blocks_of_file
from mt.synthetic.made import FACTS


@dataclass(frozen=True, kw_only=True)
class Account:
    """What became of the lines: read = not translated + translated; made = left out + written."""

    num_read: int
    skipped: Mapping[str, int]
    """Lines that were not translated, by reason."""
    num_made: int
    """Translations: one a line, or as many as were drawn; of a line too long, one without text."""
    dropped: Mapping[str, int]
    """Translations that were left out, by reason."""
    facts: Mapping[str, int]
    """Lines that were translated in parts, read in usual case, or too long (`FACTS`)."""

    @property
    def num_translated(self) -> int:
        """Lines that were translated."""
        return self.num_read - sum(self.skipped.values())

    @property
    def num_written(self) -> int:
        """Pairs in the file."""
        return self.num_made - sum(self.dropped.values())

    def lines(self) -> list[str]:
        """The counts for a person."""
        skipped = sum(self.skipped.values())
        dropped = sum(self.dropped.values())
        texts = [
            f"{self.num_read:,} lines read, {self.num_translated:,} translated, {skipped:,} not"
            f"{_reasons(self.skipped)}",
            f"{self.num_made:,} translations, {self.num_written:,} pairs written, {dropped:,} left "
            f"out{_reasons(self.dropped)}",
        ]
        told = {"split": "translated in parts", "recased": "read in usual case"}
        facts = [
            f"{self.facts[name]:,} lines {text}"
            for name, text in told.items()
            if self.facts.get(name)
        ]
        return [*texts, *facts]

    @property
    def record(self) -> dict[str, object]:
        """The counts as JSON."""
        return {
            "read": self.num_read,
            "skipped": dict(self.skipped),
            "translated": self.num_translated,
            "made": self.num_made,
            "dropped": dict(self.dropped),
            "written": self.num_written,
            **{name: self.facts.get(name, 0) for name in FACTS},
        }


def _reasons(counts: Mapping[str, int]) -> str:
    ranked = Counter(counts).most_common()
    return f" ({', '.join(f'{name}: {count:,}' for name, count in ranked)})" if ranked else ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a finished file of pairs came from."""

    request: str
    """Digest of all that the pairs follow from."""
    pairs: str
    """BLAKE2b of the file."""
    models: tuple[str, ...]
    command: str
    account: Account

    def save(self, output: Path) -> None:
        """Write it beside the file of pairs."""
        text = json.dumps(dataclasses.asdict(self), indent=1)  # in ASCII: names need not be UTF-8
        write_text(summary_file(output), f"{text}\n")

    @classmethod
    def load(cls, output: Path) -> Summary | None:
        """Read what `save` wrote; None where there is none.

        Raises DataError where it is damaged, or the file of pairs is not what was written.
        """
        path = summary_file(output)
        try:
            record = json.loads(path.read_bytes())
            account = Account(**record.pop("account"))
            summary = cls(**{**record, "models": tuple(record["models"]), "account": account})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DataError(
                f"{path} cannot be read: {error}", hint=f"Remove it and {output} to begin anew"
            ) from error
        if not output.exists() or blake2b(blocks_of_file(output)) != summary.pairs:
            raise DataError(
                f"{output} is not the file that {path.name} tells of",
                hint="Put it back, or remove both to begin anew",
            )
        return summary


def summary_file(output: Path) -> Path:
    """Where the summary of a file of pairs stands."""
    return output.with_name(f"{output.name}.summary.json")
