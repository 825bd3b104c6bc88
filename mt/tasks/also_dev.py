"""Further validation sets (`--also-dev`): what a run with `--from` forgets of another domain.

Each is scored at every validation, the one before the first update included, on the same lines. It
decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config
from mt.corpus.cleaning import TextRules
from mt.errors import ModelFolderError
from mt.events import Listener, Notice
from mt.files import write_text
from mt.formats.pair import Reader
from mt.model_folder.facts import read_facts
from mt.model_folder.folder import read_dev_pairs
from mt.preparation.dev_set import read_dev
from mt.tasks.dev_lines import fixed_sample

_FILES = ("also-dev.source", "also-dev.target")
_MOST = 500  # pairs of a set: of a larger one a sample, since none is cut where time is short


@dataclass(frozen=True, kw_only=True)
class AlsoSet:
    """A set that is scored."""

    name: str
    sources: list[str]
    references: list[str]


def store_also_dev(
    training: Path, readers: Iterable[Reader], rules: TextRules, listener: Listener
) -> tuple[tuple[str, int], ...]:
    """Keep sets in the training folder; gives name and number of pairs of each.

    Of a larger set than 500 pairs a fixed sample is kept, which its name tells.
    """
    sets: list[tuple[str, int]] = []
    sides: tuple[list[str], list[str]] = [], []
    for reader in readers:
        read = read_dev([reader], rules=rules, listener=listener)
        lines = fixed_sample(len(read.sources), _MOST)
        name = reader.files[0]
        if len(lines) < len(read.sources):
            name += f" ({len(lines)} of {len(read.sources):,} pairs)"
        sets.append((name, len(lines)))
        for side, texts in zip(sides, (read.sources, read.targets), strict=True):
            side += [texts[i] for i in lines]
    if sets:
        for name, side in zip(_FILES, sides, strict=True):
            write_text(training / name, "".join(f"{line}\n" for line in side))
    return tuple(sets)


def read_also_dev(training: Path, sets: Sequence[tuple[str, int]]) -> list[AlsoSet]:
    """What `store_also_dev` kept; raises ModelFolderError where it is not there any more."""
    pairs = read_dev_pairs(training, _FILES) if sets else []
    if len(pairs) != sum(count for _, count in sets):
        raise ModelFolderError(f"{training}: {' or '.join(_FILES)} is missing or damaged")
    found, start = [], 0
    for name, count in sets:
        mine = pairs[start : start + count]
        sources, references = ([pair[side] for pair in mine] for side in (0, 1))
        found.append(AlsoSet(name=name, sources=sources, references=references))
        start += count
    return found


def tell_forgetting(folder: Path, config: Config, listener: Listener) -> None:
    """Say what each set scores by the weights in the folder, and did before the first update."""
    facts = read_facts(folder, config)
    if facts.best is None or facts.best.update == 0:
        return
    for name, scores in facts.best.also.items():
        before = facts.starting_also.get(name, {})
        changes = [
            f"{score_name} {before[score_name]:.2f} → {score:.2f}"
            for score_name, score in scores.items()
            if score_name in before
        ]
        if changes:
            listener(Notice(text=f"{name}, before this run → now: {', '.join(changes)}"))
