"""Directions: from which language into which, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mt.languages import base_code, is_same_language, normal_code

_CODE = re.compile(r"[\w@-]+")


class Direction(NamedTuple):
    """Codes of the source and of the target language."""

    source: str
    target: str

    def __str__(self) -> str:
        """As `--langs` takes it: de-en, or de:en-GB where a code has a hyphen."""
        return (":" if "-" in f"{self.source}{self.target}" else "-").join(self)

    @classmethod
    def parse(cls, text: str) -> Direction:
        """Read de-en or de:en; raises ValueError for what is none."""
        for separator in (":", "-"):
            parts = text.split(separator)
            if len(parts) == 2 and all(map(_CODE.fullmatch, parts)):
                return cls(*parts)
        raise ValueError(f"{text!r} is not of the form SOURCE-TARGET, for example de-en")


def parse_directions(text: str) -> tuple[Direction, ...]:
    """Read directions with commas between; a code alone shares the other side.

    "de,sw-en" are de-en and sw-en, "en-de,sw" are en-de and en-sw. Raises ValueError for what is
    none, and for a direction that comes twice or goes nowhere.
    """
    found: list[Direction] = []
    sources: list[str] = []
    for part in map(str.strip, text.split(",")):
        if ":" in part or "-" in part:
            last = Direction.parse(part)
            found += [*(Direction(source, last.target) for source in sources), last]
            sources = []
        elif not _CODE.fullmatch(part):
            raise ValueError(f"{part!r} is no direction, for example de-en")
        elif not found or sources:
            sources.append(part)
        else:
            found.append(Direction(found[-1].source, part))
    if sources:
        raise ValueError(f"{text!r} is not of the form SOURCE-TARGET, for example de-en")
    for number, direction in enumerate(found):
        if direction in found[:number]:
            raise ValueError(f"{direction} is asked for twice")
        if len(found) > 1 and normal_code(direction.source) == normal_code(direction.target):
            raise ValueError(f"{direction} goes from a language into itself")
    return tuple(found)


def targets_of(directions: Iterable[Direction]) -> tuple[str, ...]:
    """The target languages, each once, in order."""
    return tuple(dict.fromkeys(each.target for each in directions))


def known_code(wanted: str, known: Sequence[str]) -> str | None:
    """Which of the `known` codes means `wanted`: exactly that one, else by the language alone.

    None where none does, or several that differ by region or script alone.
    """
    found = (
        [code for code in known if normal_code(code) == normal_code(wanted)]
        or [code for code in known if base_code(code) == base_code(wanted)]
        or [code for code in known if is_same_language(code, wanted)]
    )
    return found[0] if len(found) == 1 else None
