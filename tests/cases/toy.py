"""A corpus in two invented languages: each source word maps to one target word, order kept.

Small enough to be learnt in seconds, regular enough that every translation is known beforehand.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Pair = tuple[str, str]
"""A source and its translation."""

NUM_WORDS = 16
NUM_TRAIN, NUM_DEV, NUM_TEST = 2000, 20, 20
_FEWEST_WORDS, _MOST_WORDS = 3, 8


def _lexicon() -> dict[str, str]:
    """Source words of two open syllables (`bako`), target words of two closed ones (`imsel`)."""
    random_state = random.Random("lexicon")
    words: dict[str, str] = {}
    while len(words) < NUM_WORDS:
        source = "".join(random_state.choice("bdfgkmz") + random_state.choice("aou") for _ in "12")
        target = "".join(random_state.choice("ei") + random_state.choice("hlnprst") for _ in "12")
        if source not in words and target not in words.values():
            words[source] = target
    return words


LEXICON = _lexicon()
WORDS = tuple(LEXICON)


def target_of(source: str) -> str:
    """The one right translation of a toy sentence."""
    return " ".join(LEXICON.get(word, word) for word in source.split(" "))


def sentence(*places: int) -> str:
    """The toy sentence of the words at these places of the lexicon."""
    return " ".join([*(WORDS[place] for place in places), "."])


def toy_sources(num: int, *, seed: str) -> list[str]:
    """Random toy sentences of three to eight words and a full stop, all different."""
    random_state = random.Random(seed)
    sources: dict[str, None] = {}
    while len(sources) < num:
        length = random_state.randint(_FEWEST_WORDS, _MOST_WORDS)
        sources[" ".join([*random_state.choices(WORDS, k=length), "."])] = None
    return list(sources)


def toy_pairs(num: int, *, seed: str) -> list[Pair]:
    """Random toy sentences and their translations."""
    return [(source, target_of(source)) for source in toy_sources(num, seed=seed)]


def as_bytes(lines: Sequence[str]) -> bytes:
    """The lines as a file of UTF-8 holds them."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def as_lines(text: bytes) -> list[str]:
    """The lines of a file that ends in LF, or of an empty one."""
    assert text == b"" or text.endswith(b"\n")
    return text.decode("utf-8").split("\n")[:-1]


@dataclass(frozen=True, kw_only=True)
class Files:
    """Two aligned files."""

    source: Path
    target: Path

    @property
    def arguments(self) -> tuple[str, str]:
        """Both paths, as a command line takes them."""
        return str(self.source), str(self.target)

    @property
    def as_dev(self) -> tuple[str, str, str, str]:
        """Both paths as `--dev` options."""
        return "--dev", str(self.source), "--dev", str(self.target)


def write_files(folder: Path, stem: str, pairs: Sequence[Pair]) -> Files:
    """Write pairs as `stem.src` and `stem.tgt`."""
    return write_bytes(
        folder,
        stem,
        source=as_bytes([source for source, _ in pairs]),
        target=as_bytes([target for _, target in pairs]),
    )


def write_bytes(folder: Path, stem: str, *, source: bytes, target: bytes) -> Files:
    """Write the two sides as they are."""
    files = Files(source=folder / f"{stem}.src", target=folder / f"{stem}.tgt")
    files.source.write_bytes(source)
    files.target.write_bytes(target)
    return files


@dataclass(frozen=True, kw_only=True)
class Toy:
    """The toy corpus on disk.

    The references of `dev` have the words of every fifth sentence in another order, so that the
    best of models has a score between nothing and all.
    """

    train: Files
    dev: Files
    test: Files

    @classmethod
    def write(cls, folder: Path) -> Toy:
        """Write all six files."""
        dev = toy_pairs(NUM_DEV, seed="validation")
        dev[::5] = [(source, " ".join(target.split()[::-1])) for source, target in dev[::5]]
        return cls(
            train=write_files(folder, "train", toy_pairs(NUM_TRAIN, seed="train")),
            dev=write_files(folder, "dev", dev),
            test=write_files(folder, "test", toy_pairs(NUM_TEST, seed="test")),
        )


SENTENCES = [sentence(0, 1, 2), sentence(3, 4, 5, 6), sentence(7, 8, 9), sentence(10, 11, 12, 13)]
PARAGRAPH = " ".join(SENTENCES * 3)
