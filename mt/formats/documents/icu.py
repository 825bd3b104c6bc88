"""Messages of ICU: the texts in `{count, plural, one {…} other {…}}`, and where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BEGIN = re.compile(
    r"\{\s*[\w.-]+\s*,\s*(?P<type>plural|select|selectordinal)\s*,(?:\s*offset\s*:\s*\d+)?"
)
_ARM = re.compile(r"\s*(?P<name>=\d+|[\w.-]+)\s*\{")
_END = re.compile(r"\s*\}")
_QUOTED = re.compile(r"'[{}][^']*(?:'|$)")


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One of the texts of an argument; start and end of it in the message."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Argument:
    """An argument that chooses between texts; start and end of it in the message."""

    start: int
    end: int
    counts: bool
    """Whether `#` stands for a number in its texts."""
    arms: tuple[Arm, ...]


def arguments(message: str) -> list[Argument]:
    """The outermost arguments of a message that choose between texts.

    What is not complete is none.
    """
    found = []
    place = 0
    while begin := _BEGIN.search(message, place):
        argument = _argument(message, begin)
        if argument is None:
            place = begin.end()
            continue
        found.append(argument)
        place = argument.end
    return found


def _argument(message: str, begin: re.Match[str]) -> Argument | None:
    arms: list[Arm] = []
    place = begin.end()
    while arm := _ARM.match(message, place):
        end = _closing(message, arm.end())
        if end is None:
            return None
        arms.append(Arm(name=arm["name"], start=arm.end(), end=end))
        place = end + 1
    closing = _END.match(message, place)
    if closing is None or not arms:
        return None
    return Argument(
        start=begin.start(),
        end=closing.end(),
        counts=begin["type"] != "select",
        arms=tuple(arms),
    )


def _closing(message: str, place: int) -> int | None:
    """Where the brace is closed that opens before `place`."""
    depth = 1
    while place < len(message):
        quoted = _QUOTED.match(message, place)
        if quoted:
            place = quoted.end()
            continue
        depth += {"{": 1, "}": -1}.get(message[place], 0)
        if depth == 0:
            return place
        place += 1
    return None
