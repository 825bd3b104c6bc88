"""Random tokens in the place of a corpus and of a trained tokenizer: no file, no other package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mt.corpus.store import TokenStore
from mt.text.symbols import SymbolTokenizer
from mt.text.tokenizer import RESERVED, UNKNOWN


def random_numbers(
    lengths: Iterable[int] | NDArray[Any], *, vocabulary: int
) -> list[NDArray[np.int32]]:
    """Token ids of texts of these lengths, reserved ids left out."""
    random = np.random.default_rng(1)
    return [
        random.integers(UNKNOWN + 1, vocabulary, size=int(length), dtype=np.int32)
        for length in lengths
    ]


class RandomStore(TokenStore):
    """Pairs of random tokens in lengths as sentences have them: 5 to 60, about 28 a side."""

    def __init__(self, *, num_pairs: int, vocabulary: int) -> None:
        random = np.random.default_rng(3)
        lengths = np.clip(random.gamma(4.0, 7.0, size=num_pairs), 5, 60)
        others = np.clip(lengths + random.integers(-3, 4, size=num_pairs), 5, 60)
        self._lengths: list[NDArray[np.int32]] = [
            side.astype(np.int32) for side in (lengths, others)
        ]
        self._numbers = [random_numbers(each, vocabulary=vocabulary) for each in self._lengths]

    def __len__(self) -> int:
        return len(self._lengths[0])

    @property
    def source_lengths(self) -> NDArray[np.int32]:
        """Tokens of each source."""
        return self._lengths[0]

    @property
    def target_lengths(self) -> NDArray[np.int32]:
        """Tokens of each target."""
        return self._lengths[1]

    @property
    def origins(self) -> NDArray[np.uint16]:
        """All of one corpus."""
        return np.zeros(len(self), dtype=np.uint16)

    def sources(self, indices: Sequence[int]) -> list[NDArray[Any]]:
        """The sources at `indices`."""
        return [self._numbers[0][index] for index in indices]

    def targets(self, indices: Sequence[int]) -> list[NDArray[Any]]:
        """The targets at `indices`."""
        return [self._numbers[1][index] for index in indices]


def number_tokenizer(vocabulary: int) -> SymbolTokenizer:
    """Text is token ids written as numbers: it stands in for a trained tokenizer."""
    return SymbolTokenizer(str(number) for number in range(len(RESERVED), vocabulary))
