"""Writing the model card of a folder, and what of it stays when it is written anew.

Front matter stays, since somebody may have named a license there, and so does all below the last
comment of the card. The rest is written anew when there is something new to say; `mt eval --card`
changes only the part on test sets.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from mt.config import Config
from mt.events import CorpusRead, Event, TrainingEnded, TrainingStarted, Validated
from mt.files import write_text
from mt.model_folder.card import BEGIN, END, NOTES, model_card, test_set_scores
from mt.model_folder.facts import CardFacts, read_facts
from mt.model_folder.folder import CARD
from mt.model_folder.scores import current_results


@dataclasses.dataclass(frozen=True, kw_only=True)
class CardWriter:
    """A listener that keeps the card of a run up to date, by what `metrics.jsonl` has recorded."""

    folder: Path
    config: Config
    corpus: CorpusRead
    dev: tuple[tuple[str, int], ...]
    """Name and number of pairs of each corpus of the validation set."""

    def __call__(self, event: Event) -> None:
        """Write the card anew when there is something new to say."""
        match event:
            case TrainingEnded() | Validated(is_best=True):
                pass
            case TrainingStarted() if not (self.folder / CARD).exists():
                pass
            case _:
                return
        facts = read_facts(self.folder, self.config)
        write_card(self.folder, dataclasses.replace(facts, corpus=self.corpus, dev=self.dev))


def write_card(folder: Path, facts: CardFacts) -> None:
    """Write the card into a folder; the front matter and the notes of one that is there stay."""
    old = _old(folder)
    fresh, body = _split(model_card(facts))
    kept, _ = _split(old)
    _, line, notes = old.partition(NOTES)
    body, _, _ = body.partition(NOTES)
    _write(folder, f"{kept or fresh}{body}{NOTES}{notes if line else chr(10)}")


def add_test_scores(folder: Path) -> None:
    """Bring the part on test sets of a card up to date, and leave the rest as it is.

    Raises ModelFolderError where the results are damaged.
    """
    card, part = _old(folder), test_set_scores(current_results(folder))
    start, begin, rest = card.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        start, line, notes = card.partition(NOTES)
        start, after = f"{start.rstrip()}\n\n## Scores\n\n", f"\n\n{line}{notes}" if line else "\n"
    _write(folder, f"{start}{part}{after}")


def _old(folder: Path) -> str:
    """The card that is there, empty without one; bytes that are not UTF-8 are spelt out."""
    path = folder / CARD
    return path.read_text("utf-8", "backslashreplace") if path.exists() else ""


def _write(folder: Path, text: str) -> None:
    # Names of files need not be UTF-8.
    write_text(folder / CARD, text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _split(card: str) -> tuple[str, str]:
    """Front matter, empty where there is none, and the rest."""
    end = card.find("\n---\n", 3)
    if not card.startswith("---\n") or end < 0:
        return "", card
    return card[: end + 5], card[end + 5 :]
