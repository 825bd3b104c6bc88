"""What a model made of a line, as the journal keeps it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mt.config import SearchConfig
from mt.corpus.keys import key_of
from mt.search.penalty import length_penalty
from mt.translation.translation import TranslatedText, Translation

_DIGITS = 6  # of a score
TOO_LONG = "too_long"
FACTS = ("split", "recased", TOO_LONG)
"""What can be known of a line as a whole: it was translated in parts, or read in usual case, or is
too long to be translated."""


class Made(NamedTuple):
    """One translation."""

    text: str
    score: float
    """Natural-log probability per token, the end symbols counted; larger is better."""
    hit_limit: bool
    """It was ended at the length bound."""


NOTHING = Made("", 0.0, False)


class MadeLine(NamedTuple):
    """The translations of one line."""

    key: int
    """Of the line that was translated."""
    made: tuple[Made, ...]
    facts: tuple[str, ...]
    """The names in `FACTS` that hold of it."""


def made_line(translation: Translation, search: SearchConfig) -> MadeLine:
    """What is kept of a translation that was found with these settings."""
    holds = (translation.was_split, translation.recased is not None, translation.error is not None)
    return MadeLine(
        key=key_of(translation.source),
        made=tuple(
            Made(each.text, round(_per_token(each, search), _DIGITS), each.hit_limit)
            for each in translation.hypotheses
        ),
        facts=tuple(name for name, held in zip(FACTS, holds, strict=True) if held),
    )


def _per_token(text: TranslatedText, search: SearchConfig) -> float:
    """The score of a text, whatever its length penalty, by token; each part has an end symbol."""
    length = len(text.tokens) + max(1, len(text.parts))
    if text.score == -math.inf:
        return text.score
    return text.score * length_penalty(search.length_penalty, search.alpha, length) / length


def to_block(lines: Iterable[MadeLine]) -> bytes:
    """Lines as bytes: a JSON list each."""
    return b"".join(f"{json.dumps(line, ensure_ascii=False)}\n".encode() for line in lines)


def from_block(block: bytes) -> Iterator[MadeLine]:
    """The lines of a block."""
    for line in block.split(b"\n")[:-1]:
        key, made, facts = json.loads(line)
        yield MadeLine(key, tuple(Made(*each) for each in made), tuple(facts))
