"""The corpora of docs/sequences.md and docs/tutorial.md: symbol sequences, and no language.

    python benchmarks/sequences_data.py copy FOLDER
    python benchmarks/sequences_data.py reverse FOLDER
    python benchmarks/sequences_data.py rewriting FOLDER
    python benchmarks/sequences_data.py clicks FOLDER [--distance 50]

Each writes train, dev and test as aligned text, `.source` and `.target`. The same arguments write
the same files.

- `copy` and `reverse` have 1 to 12 of the letters a to h as a source, which the target repeats, or
  has the other way round.
- `rewriting` is like letters to sounds. A source is a made-up word, a letter a symbol; its target
  follows from rules that look at the neighbours: `s h` is one sound, `c` is soft before `e` and
  `i`, a vowel is long where one consonant and a final `e` follow, and that `e` is silent.
- `clicks` is like a log of a shop. A source is the last 60 actions of a visitor, each drawn from 32
  alike; the target is the next one, which follows from the action `distance` steps back alone:
  `view:7` brings `buy:7` then. Nothing else in the window tells of it, so that who cannot look back
  so far is right one time in 32.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path

Pair = tuple[str, str]
"""A source and its target, symbols with spaces between."""

WINDOW = 60
"""Actions of a source."""
NUM_ITEMS = 32
NUM_PAIRS = {"train": 20_000, "dev": 200, "test": 500}

_TWO_LETTERS = {"sh": "ʃ", "ch": "tʃ", "th": "θ", "ng": "ŋ", "ee": "iː", "oo": "uː"}
_SHORT = {"a": "æ", "e": "ɛ", "i": "ɪ", "o": "ɒ", "u": "ʌ"}
_LONG = {"a": "eɪ", "e": "iː", "i": "aɪ", "o": "əʊ", "u": "juː"}
_CONSONANTS = {"c": "k", "g": "ɡ", "j": "dʒ", "x": "k s", "q": "k", "y": "j"}
_ONSETS = [*"bcdfghjklmnprstvwyz", "sh", "ch", "th", "st", "tr", "pl", "gr"]
_CODAS = ["", "", *"bdgklmnprstx", "sh", "ng", "ck"]


def sounds_of(word: str) -> list[str]:
    """The sounds of a made-up word, by the rules."""
    found: list[str] = []
    place = 0
    while place < len(word):
        rest = word[place:]
        if rest[:2] in _TWO_LETTERS:
            found.append(_TWO_LETTERS[rest[:2]])
            place += 2
            continue
        if rest[0] in _SHORT:
            if rest == "e" and found:
                break  # silent at the end
            is_long = len(rest) == 3 and rest[1] not in "aeiouxy" and rest[2] == "e"
            found.append((_LONG if is_long else _SHORT)[rest[0]])
        elif rest[0] == "c" and rest[1:2] in ("e", "i"):
            found.append("s")
        elif rest[:2] != "ck":
            found += _CONSONANTS.get(rest[0], rest[0]).split()
        place += 1
    return found


def letter_pairs(count: int, *, seed: str, is_reversed: bool) -> list[Pair]:
    """So many sources of 1 to 12 letters, with the same letters or their reverse as a target."""
    draw = random.Random(seed)
    sources = [draw.choices("abcdefgh", k=draw.randint(1, 12)) for _ in range(count)]
    step = -1 if is_reversed else 1
    return [(" ".join(source), " ".join(source[::step])) for source in sources]


def rewriting_pairs(count: int, *, seed: str) -> list[Pair]:
    """So many different words of one to three syllables with their sounds."""
    draw = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = (
            draw.choice(_ONSETS) + draw.choice([*"aeiou", "ee", "oo"]) + draw.choice(_CODAS)
            for _ in range(draw.randint(1, 3))
        )
        words["".join(syllables) + draw.choice(["", "", "e"])] = None
    return [(" ".join(word), " ".join(sounds_of(word))) for word in words]


def click_pairs(count: int, *, distance: int, seed: str) -> list[Pair]:
    """So many windows of a log with the action that comes next.

    Raises ValueError for a distance beyond the window.
    """
    if not 1 <= distance <= WINDOW:
        raise ValueError(f"distance must lie between 1 and {WINDOW}, but is {distance}")
    draw = random.Random(f"{seed} {distance}")
    pairs = []
    for _ in range(count):
        items = draw.choices(range(NUM_ITEMS), k=WINDOW)
        source = " ".join(f"view:{item}" for item in items)
        pairs.append((source, f"buy:{items[-distance]}"))
    return pairs


def write_corpus(folder: Path, make: Callable[[int, str], Sequence[Pair]]) -> None:
    """Write train, dev and test of what `make` gives for a number of pairs and a seed."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in NUM_PAIRS.items():
        pairs = make(count, part)
        for side, name in enumerate(("source", "target")):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / f"{part}.{name}").write_text(text, "utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("task", choices=["copy", "reverse", "rewriting", "clicks"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--distance", type=int, default=50, help="of clicks: steps back")
    arguments = parser.parse_args()
    if arguments.task in ("copy", "reverse"):
        is_reversed = arguments.task == "reverse"
        write_corpus(
            arguments.folder,
            lambda count, part: letter_pairs(count, seed=part, is_reversed=is_reversed),
        )
    elif arguments.task == "rewriting":
        write_corpus(arguments.folder, lambda count, part: rewriting_pairs(count, seed=part))
    else:
        distance = arguments.distance
        write_corpus(
            arguments.folder, lambda count, part: click_pairs(count, distance=distance, seed=part)
        )


if __name__ == "__main__":
    main()
