"""Corpora of several directions: each file is read in each direction that it holds.

A file of many languages names them: by columns or keys that are codes, or by its variants (TMX).
One of two languages is known by the suffixes of its names, by what it declares, or by a direction
in its name (news.sw-en.jsonl), and is turned round where it must be.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from mt.directions import Direction
from mt.errors import ConfigError, DataError
from mt.formats import open_corpora
from mt.formats.kind import PACKED
from mt.formats.options import ReadingOptions, matching
from mt.formats.pair import NO_SOURCE, NO_TARGET, Pair, Reader

_TURNED = {NO_SOURCE: NO_TARGET, NO_TARGET: NO_SOURCE}


@runtime_checkable
class _OfMany(Protocol):
    """A reader of a file that may hold more than two languages."""

    def codes(self) -> Sequence[str]:
        """Codes of languages, and perhaps other names."""
        ...


@dataclass(frozen=True, kw_only=True)
class Directed:
    """A corpus as it is read in one direction."""

    reader: Reader
    direction: Direction
    is_turned: bool = False
    """Whether source and target change places."""

    @property
    def name(self) -> str:
        """That of the corpus, with the direction."""
        return f"{self.reader.name} ({self.direction})"

    @property
    def files(self) -> tuple[str, ...]:
        """Those of the corpus."""
        return self.reader.files

    @property
    def languages(self) -> tuple[str, str]:
        """The direction."""
        return self.direction

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs."""
        for pair in self.reader:
            if self.is_turned:
                fault = _TURNED.get(pair.fault, pair.fault)
                pair = pair._replace(source=pair.target, target=pair.source, fault=fault)
            yield pair

    def content(self) -> Iterator[bytes] | None:
        """The bytes of the corpus and the direction; None where it can be read only once."""
        content = self.reader.content()
        return None if content is None else self._with_direction(content)

    def _with_direction(self, content: Iterator[bytes]) -> Iterator[bytes]:
        yield f"{self.direction} {self.is_turned}\n".encode()
        yield from content


def open_directions(
    paths: Sequence[str],
    directions: Sequence[Direction],
    options: ReadingOptions,
    *,
    turns: bool = True,
) -> tuple[Directed, ...]:
    """The corpora of each direction, in their order.

    Without `turns`, files of two languages are read as they stand only. Raises ConfigError for
    standard input, which is no file of a name, and what `open_corpora` does; DataError for a file
    that holds none of the directions.
    """
    if "-" in paths:
        raise ConfigError(
            "standard input does not say its languages", hint="Give files, of several directions"
        )
    found: list[Directed] = []
    options = dataclasses.replace(options, languages=None)
    for group in _arguments(paths, options):
        (reader,) = open_corpora(group, options).readers
        held = _held(reader, group, directions, options, turns=turns)
        if not held:
            raise DataError(
                f"{reader.name} holds none of the directions {', '.join(map(str, directions))}",
                hint="Languages are columns, keys or variants of a file, or suffixes of its name: "
                "train.sw train.en, or news.sw-en.jsonl",
            )
        found += held
    return tuple(sorted(found, key=lambda each: directions.index(each.direction)))


def _arguments(paths: Sequence[str], options: ReadingOptions) -> list[list[str]]:
    """The paths by corpus: one, or two that go together."""
    rest = list(paths)
    readers = open_corpora(paths, options).readers
    return [[rest.pop(0) for _ in reader.files] for reader in readers]


def _held(
    reader: Reader,
    paths: Sequence[str],
    directions: Sequence[Direction],
    options: ReadingOptions,
    *,
    turns: bool,
) -> list[Directed]:
    """The readers of a corpus in each of the directions that it holds."""
    if isinstance(reader, _OfMany) and options.columns is None:
        codes = reader.codes()
        held = [each for each in directions if _has(codes, each)]
        if held:
            return [
                Directed(reader=_reopened(paths, each, options), direction=each) for each in held
            ]
    pair = (len(paths) == 1 and _named(Path(paths[0]))) or reader.languages
    if not pair:
        return []
    found = []
    for direction in directions:
        places = [matching(code, pair) for code in direction]
        is_turned = places == [[1], [0]]
        if places == [[0], [1]] or (is_turned and turns):
            found.append(Directed(reader=reader, direction=direction, is_turned=is_turned))
    return found


def _reopened(paths: Sequence[str], direction: Direction, options: ReadingOptions) -> Reader:
    options = dataclasses.replace(options, languages=direction, of_several=True)
    (reader,) = open_corpora(paths, options).readers
    return reader


def _has(codes: Sequence[str], direction: Direction) -> bool:
    """Whether both sides of a direction are among codes, and not the same."""
    source, target = (set(matching(code, codes)) for code in direction)
    return bool(source and target and source | target != source & target)


def _named(path: Path) -> Direction | None:
    """The direction that a name says before its last suffix, as news.sw-en.jsonl does."""
    names = path.name.split(".")[1:]
    names = [name for name in names if f".{name.lower()}" not in PACKED]
    if len(names) < 2:
        return None
    try:
        return Direction.parse(names[-2])
    except ValueError:
        return None
