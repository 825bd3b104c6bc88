"""What a vocabulary takes over from that of a parent, piece by piece.

A piece that both have stays what it is; another one is spelt by pieces of the parent. Reserved
symbols have the same ids everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt.text.tokenizer import RESERVED, Tokenizer


@dataclass(frozen=True, kw_only=True)
class Inheritance:
    """For each id of a vocabulary the ids of the parent that stand for it."""

    ids: Sequence[Sequence[int]]
    """One where the parent has the same piece, several that spell it, none where none do."""
    num_kept: int
    """Pieces, reserved ones not counted, that the parent has, too."""
    num_new: int
    """Pieces that it has not."""


def inherit(child: Tokenizer, *parents: Tokenizer) -> Inheritance:
    """What `child` takes over from the vocabulary of `parents`.

    Several parents have one vocabulary and cut text differently: the cut counts that spells most
    of a piece, in the fewest parts.
    """
    first = parents[0]
    known = {piece: i for i, piece in enumerate(first.pieces(range(first.vocab_size)))}
    own = range(len(RESERVED), child.vocab_size)
    kept = [known.get(piece, -1) for piece in child.pieces(own)]
    new = [i for i, place in zip(own, kept, strict=True) if place < len(RESERVED)]
    texts = [_text_of(child, i) for i in new]
    cuts = zip(*(parent.parts(texts) for parent in parents), strict=True)
    parts = {i: _best(first, each) for i, each in zip(new, cuts, strict=True)}
    ids = [[i] for i in range(len(RESERVED))]
    ids += [parts.get(i, [place]) for i, place in zip(own, kept, strict=True)]
    return Inheritance(ids=ids, num_kept=len(own) - len(new), num_new=len(new))


def _text_of(tokenizer: Tokenizer, number: int) -> str:
    """What a token spells; nothing where that is a part of a character."""
    try:
        return tokenizer.spell([number])[0].decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _best(tokenizer: Tokenizer, cuts: Sequence[list[int]]) -> list[int]:
    """Of several cuts the one that spells most, in the fewest parts."""
    return min(cuts, key=lambda ids: (-len(b"".join(tokenizer.spell(ids))), len(ids)))
