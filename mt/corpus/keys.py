"""Keys by which lines and pairs are recognised: exactly, and loosely.

A key is a 64-bit hash that is the same on every machine. Among n lines two different ones share a
key with a probability of about n² / 2^65: once in 4,000 corpora of 100 million lines.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mt.files.digests import key_of_bytes

_NOT_LETTERS = re.compile(r"[\W\d_]+")

KeyArray = NDArray[np.uint64]


class Keys(NamedTuple):
    """The keys of one pair."""

    source: int
    target: int
    source_loose: int
    """Of the source without case, space, digits and marks; 0 where no letter is left."""
    target_loose: int


def key_of(text: str) -> int:
    """The key of a text."""
    return key_of_bytes(text.encode("utf-8", "surrogatepass"))


def loose_text(text: str) -> str:
    """`text` without case, space, digits and marks, for likeness."""
    return _NOT_LETTERS.sub("", text.casefold())


def keys_of(
    source: str, target: str, normalise: Callable[[str], str], *, loose: bool = True
) -> Keys:
    """The keys of a pair; texts that are the same to the model have the same exact key.

    Where nobody asks for them, the loose ones are 0.
    """
    source, target = normalise(source), normalise(target)
    if not loose:
        return Keys(key_of(source), key_of(target), 0, 0)
    texts = loose_text(source), loose_text(target)
    left, right = (key_of(text) if text else 0 for text in texts)
    return Keys(key_of(source), key_of(target), left, right)


class KeyTable:
    """The keys of many pairs, 32 bytes each."""

    def __init__(self) -> None:
        self._columns = tuple(array("Q") for _ in Keys._fields)

    def __len__(self) -> int:
        return len(self._columns[0])

    def append(self, keys: Keys) -> None:
        """Add the keys of a pair."""
        for column, key in zip(self._columns, keys, strict=True):
            column.append(key)

    def column(self, name: str) -> KeyArray:
        """One kind of key of all pairs; the table must not grow while it is held."""
        return np.asarray(self._columns[Keys._fields.index(name)])

    def pairs(self, *, loose: bool = False) -> KeyArray:
        """A key of each pair as a whole; 0 where `loose` and a side has no letters."""
        suffix = "_loose" if loose else ""
        source, target = self.column(f"source{suffix}"), self.column(f"target{suffix}")
        mixed = source * np.uint64(0x9E3779B97F4A7C15) + (target ^ (source >> np.uint64(31)))
        return np.where((source != 0) & (target != 0), mixed, 0) if loose else mixed
