"""Whether a target holds what its source holds: codes, their nesting, and placeholders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mt.documents.passage import Passage, read_passage
from mt.documents.words import word_spans
from mt.formats.documents.unit import Code, CodeForm, Content


def faults_of(source: Content, target: Content, *, has_number_sign: bool = False) -> list[str]:
    """What is wrong with the codes and placeholders of a target; nothing, if it is sound."""
    theirs = read_passage(source, protects_number_sign=has_number_sign)
    ours = read_passage(target, protects_number_sign=has_number_sign)
    checks = {
        "other codes": Counter(_codes(source)) == Counter(_codes(target)),
        "codes that cross": is_well_nested(target),
        "other tags": _tags(theirs) == _tags(ours),
        "other placeholders": _placeholders(theirs) == _placeholders(ours),
        "a code inside a word": not _has_mark_inside_word(ours),
    }
    return [fault for fault, is_sound in checks.items() if not is_sound]


def is_well_nested(content: Content) -> bool:
    """Whether each closing code follows its opening, and none of those between is left open."""
    opened: list[str] = []
    for code in _codes(content):
        if code.form is CodeForm.OPENING:
            opened.append(code.name)
        elif code.form is CodeForm.CLOSING and (not opened or opened.pop() != code.name):
            return False
    return not opened


def _codes(content: Content) -> Iterator[Code]:
    return (part for part in content if isinstance(part, Code))


def _tags(passage: Passage) -> Counter[str]:
    return Counter(mark.written for mark in passage.marks if isinstance(mark.written, str))


def _placeholders(passage: Passage) -> Counter[str]:
    return Counter(each.written for each in passage.protected if isinstance(each.written, str))


def _has_mark_inside_word(passage: Passage) -> bool:
    if not passage.marks:
        return False
    inside = {offset for start, end in word_spans(passage.text) for offset in range(start + 1, end)}
    borders = {end for each in passage.protected for end in (each.start, each.end)}
    borders |= {mark.offset for mark in passage.marks if mark.is_break}
    return any(mark.offset in inside - borders for mark in passage.marks)
