"""Tokenizers of both kinds, trained on the same sentences."""

from __future__ import annotations

import random
from functools import cache

from mt.config import SubwordKind
from mt.text.subwords import train_subwords
from mt.text.tokenizer import Tokenizer


@cache
def sentences() -> tuple[str, ...]:
    draw = random.Random(1)
    words = ["haus", "straße", "geht", "über", "die", "katze", "Größe", "nicht", "läuft", "und"]
    return tuple(" ".join(draw.choices(words, k=draw.randint(2, 9))) + "." for _ in range(400))


@cache
def tokenizer(kind: SubwordKind) -> Tokenizer:
    return train_subwords(sentences(), kind=kind, vocab_size=330)
