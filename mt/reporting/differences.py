"""Where two texts differ, word by word, for people to see."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby
from typing import Literal

from mt.scripts import is_written_without_spaces

Kind = Literal["same", "moved", "only"]
"""In both texts in the same order; in both, but elsewhere; in one text only."""

_JOINERS = "'’-‐·_"
_PIECE = re.compile(r"s+|um*|w[wm]*(?:j[wm]+)*|.m*", re.DOTALL)
"""Over the classes of characters: runs of spaces, letters by themselves, words, all else."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A part of a text, of one kind."""

    text: str
    kind: Kind


def pieces_of(text: str, *, of_symbols: bool = False) -> list[str]:
    """What is compared, and the spaces between: joined, they are the text again.

    A piece is a word, a mark of punctuation, or a letter of a script without spaces; of symbols it
    is what stands between spaces.
    """
    if of_symbols:
        return re.findall(r"\s+|\S+", text)
    classes = "".join(map(_class_of, text))
    return [text[match.start() : match.end()] for match in _PIECE.finditer(classes)]


@lru_cache(maxsize=4096)
def _class_of(character: str) -> str:
    if character.isspace():
        return "s"
    if character in _JOINERS:
        return "j"
    category = unicodedata.category(character)
    if category[0] == "M" or category == "Cf":
        return "m"
    if category[0] in "PS":
        return "p"
    return "u" if is_written_without_spaces(character) else "w"


def differences(
    one: str, other: str, *, of_symbols: bool = False, lowercase: bool = False
) -> tuple[list[Span], list[Span]]:
    """Both texts in spans; the texts of the spans of each, joined, are that text.

    What is the same in order are the longest runs of pieces that both have (Ratcliff and Obershelp
    1988). Of the other pieces those that the other text has left as well are moved.
    """
    sides = [pieces_of(text, of_symbols=of_symbols) for text in (one, other)]
    indices = [[i for i, piece in enumerate(side) if not piece.isspace()] for side in sides]
    words = [
        [side[i].lower() if lowercase else side[i] for i in where]
        for side, where in zip(sides, indices, strict=True)
    ]
    is_same = [[False] * len(each) for each in words]
    matcher = SequenceMatcher(a=words[0], b=words[1], autojunk=False)
    for left, right, size in matcher.get_matching_blocks():
        is_same[0][left : left + size] = is_same[1][right : right + size] = [True] * size
    left_over = [
        Counter(word for word, same in zip(each, found, strict=True) if not same)
        for each, found in zip(words, is_same, strict=True)
    ]
    shared = left_over[0] & left_over[1]
    first, second = (
        _spans(side, dict(zip(where, _kinds(each, found, shared.copy()), strict=True)))
        for side, where, each, found in zip(sides, indices, words, is_same, strict=True)
    )
    return first, second


def _kinds(words: Sequence[str], is_same: Sequence[bool], shared: Counter[str]) -> list[Kind]:
    kinds: list[Kind] = []
    for word, same in zip(words, is_same, strict=True):
        if same:
            kinds.append("same")
        elif shared[word]:
            shared[word] -= 1
            kinds.append("moved")
        else:
            kinds.append("only")
    return kinds


def _spans(pieces: Sequence[str], kinds: dict[int, Kind]) -> list[Span]:
    """Pieces of one kind in a row as one span; spaces between them are of their kind."""
    labelled = []
    for index, piece in enumerate(pieces):
        around = (kinds.get(index - 1, "same"), kinds.get(index + 1, "same"))
        between = around[0] if around[0] == around[1] else "same"
        labelled.append((kinds.get(index, between), piece))
    return [
        Span(kind=kind, text="".join(piece for _, piece in group))
        for kind, group in groupby(labelled, key=lambda pair: pair[0])
    ]
