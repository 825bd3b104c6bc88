"""Writing the model card of a folder, and what of it stays when it is written anew.

Front matter stays, since somebody may have named a license there, and so does all below the last
comment of the card. The rest is written anew when there is something new to say; `mt eval --card`
changes nothing but the part on test sets.
"""

from __future__ import annotations

from pathlib import Path

from mt.files import write_text
from mt.model_folder.card import NOTES, CardFacts, model_card
from mt.model_folder.folder import CARD
from mt.model_folder.scores import current_results, with_test_scores


def write_card(folder: Path, facts: CardFacts) -> None:
    """Write the card into a folder; the front matter and the notes of one that is there stay."""
    path = folder / CARD
    _write(path, _keeping(_old(path), model_card(facts)))


def add_test_scores(folder: Path) -> None:
    """Bring the part on test sets of a card up to date, and leave the rest as it is.

    Raises ModelFolderError where the results are damaged.
    """
    path = folder / CARD
    _write(path, with_test_scores(_old(path), current_results(folder), before=NOTES))


def _old(path: Path) -> str:
    """The card that is there, empty without one; bytes that are not UTF-8 are spelt out."""
    return path.read_text("utf-8", "backslashreplace") if path.exists() else ""


def _write(path: Path, text: str) -> None:
    # Names of files need not be UTF-8.
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _keeping(old: str, new: str) -> str:
    """The new card with the front matter of the old one and what stands below its last comment."""
    fresh, body = _parted(new)
    kept, _ = _parted(old)
    _, line, notes = old.partition(NOTES)
    start, _, _ = body.partition(NOTES)
    return f"{kept or fresh}{start}{NOTES}{notes if line else chr(10)}"


def _parted(card: str) -> tuple[str, str]:
    """Front matter, empty where there is none, and the rest."""
    end = card.find("\n---\n", 3)
    if not card.startswith("---\n") or end < 0:
        return "", card
    return card[: end + 5], card[end + 5 :]
