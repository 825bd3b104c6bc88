"""White space around marks: one space where the source or the translation has one, none lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mt.documents.passage import Mark
from mt.formats.documents.unit import CodeForm


@dataclass(frozen=True, kw_only=True)
class Around:
    """Whether white space stands right before and right behind a mark in the source."""

    before: bool
    behind: bool
    holds: str = ""
    """Of an opening whose pair holds white space and nothing else: that."""


@dataclass(frozen=True, kw_only=True)
class Between:
    """What stands in the source between two words, without its marks: at the end of a sentence."""

    pieces: tuple[tuple[str, str], ...]
    """Texts, each with what tells the mark before it (`key_of`), or ""."""
    is_first: bool = False
    """No word comes before."""
    is_last: bool = False


def key_of(mark: Mark) -> str:
    """What tells one mark of a passage from the others."""
    return f"{mark.form} {mark.name}"


def at_end_of_sentence(
    marks: Sequence[Mark], between: Between, around: dict[str, Around], *, least: str
) -> list[str | Mark]:
    """Marks with the white space that the source has among them; or else `least` beside them."""
    slots = [""] * (len(marks) + 1)
    numbers = {key_of(mark): number for number, mark in enumerate(marks, start=1)}
    for key, text in between.pieces:
        number = numbers.get(key, 0)
        is_double = key not in numbers and slots[0][-1:].isspace() and text.isspace()
        slots[number] += "" if is_double else text
    if not between.pieces and not any(mark.is_break for mark in marks):
        slots[_slot(marks, around)] = least
    _set_apart(marks, slots, around, first=between.is_first, last=between.is_last)
    return _mixed(marks, slots, around)


def inside_sentence(
    marks: Sequence[Mark], space: str, around: dict[str, Around], *, may_add: bool
) -> list[str | Mark]:
    """Marks with the white space that the translation has there, on the side where they need it.

    Where it `may_add` spaces, marks that stood between two of them stand so again.
    """
    if not marks:
        return [space]
    slots = [""] * (len(marks) + 1)
    slots[_slot(marks, around)] = space
    _set_apart(marks, slots, around, first=not may_add, last=not (may_add and space))
    return _mixed(marks, slots, around)


def _set_apart(
    marks: Sequence[Mark],
    slots: list[str],
    around: dict[str, Around],
    *,
    first: bool = False,
    last: bool = False,
) -> None:
    """Let marks by themselves have the spaces again that they stood beside.

    `first`, `last`: no word comes before them, or none behind that needs a space.
    """
    for index, mark in enumerate(marks):
        sides = around.get(key_of(mark))
        if sides is None or mark.form is not CodeForm.ISOLATED or mark.is_break:
            continue
        if sides.before and not (first and index == 0):
            slots[index] = slots[index] or " "
        if sides.behind and not (last and index == len(marks) - 1):
            slots[index + 1] = slots[index + 1] or " "


def _mixed(marks: Sequence[Mark], slots: list[str], around: dict[str, Around]) -> list[str | Mark]:
    _keep_inside(marks, slots, around)
    mixed: list[str | Mark] = [slots[0]]
    for mark, text in zip(marks, slots[1:], strict=True):
        mixed += [mark, text]
    return mixed


def _keep_inside(marks: Sequence[Mark], slots: list[str], around: dict[str, Around]) -> None:
    """Put white space into pairs that held nothing else, from beside them if it is there."""
    for index, (opening, closing) in enumerate(pairwise(marks)):
        sides = around.get(key_of(opening))
        is_pair = opening.name == closing.name and opening.form is CodeForm.OPENING
        if sides is None or not is_pair or not sides.holds or slots[index + 1]:
            continue
        slots[index + 1] = sides.holds
        for beside in (index, index + 2):
            if slots[beside].isspace() and "\n" not in slots[beside]:
                slots[beside] = ""
                break


def _slot(marks: Sequence[Mark], around: dict[str, Around]) -> int:
    """Before which of the marks white space stands best."""

    def wish(index: int, slot: int) -> int:
        mark = marks[index]
        is_before = slot <= index
        sides = around.get(key_of(mark), Around(before=False, behind=True))
        if mark.form is not CodeForm.ISOLATED:
            as_found = sides.before if is_before else sides.behind
            return as_found + (2 if is_before == (mark.form is CodeForm.OPENING) else -2)
        if sides.before == sides.behind:
            return 0 if sides.before else int(not is_before)
        return 1 if sides.before == is_before else -1

    scores = [
        sum(wish(index, slot) for index in range(len(marks))) for slot in range(len(marks) + 1)
    ]
    return max(range(len(scores)), key=scores.__getitem__)
