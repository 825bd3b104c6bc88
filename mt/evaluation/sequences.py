"""Scores of symbol sequences: exact match and symbol error rate. Both know nothing of language.

Symbols are those of `mt.text.symbols`: what stands between spaces, character by character.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mt.errors import DataError
from mt.text.symbols import symbols_of

BLEU_TOKENIZER = "none"
"""The tokenizer of sacreBLEU for symbols: it leaves them as they are."""


def symbol_errors(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> NDArray[np.int64]:
    """(N, 2) the edit distance d(h, r) of each line to its reference, and |r|, the symbols of that.

    hypotheses: N lines; references: one or more lists of N lines. Of several references the one
    that is nearest counts, and of equally near ones the longest. Raises DataError when lengths
    differ.
    """
    if not references:
        raise ValueError("there must be one list of references at least")
    for number, reference in enumerate(references, start=1):
        if len(reference) != len(hypotheses):
            raise DataError(
                f"{len(hypotheses)} hypotheses, but reference {number} has {len(reference)} lines"
            )
    counts = np.zeros((len(hypotheses), 2), dtype=np.int64)
    for line, (hypothesis, *others) in enumerate(zip(hypotheses, *references, strict=True)):
        given = _symbols(hypothesis, lowercase)
        wanted = (_symbols(reference, lowercase) for reference in others)
        errors, size = min((edit_distance(given, each), -len(each)) for each in wanted)
        counts[line] = errors, -size
    return counts


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The fewest symbols to insert, delete or replace to make `other` of `one` (Levenshtein 1966).

    By rows of the table of Wagner and Fischer 1974, in O(len(one) * len(other)).
    """
    if list(one) == list(other):
        return 0
    numbers = {symbol: i for i, symbol in enumerate(dict.fromkeys((*one, *other)))}
    columns = np.array([numbers[symbol] for symbol in other], dtype=np.int64)
    indices = np.arange(len(columns) + 1)
    row: NDArray[np.int64] = indices  # distances of the empty sequence to each start of `other`
    for symbol in one:
        below = row + 1
        below[1:] = np.minimum(below[1:], row[:-1] + (columns != numbers[symbol]))
        # Insertions run along the row: the least of below[j] + (i - j) over all j up to i.
        row = np.minimum.accumulate(below - indices) + indices
    return int(row[-1])


def _symbols(text: str, lowercase: bool) -> list[str]:
    return symbols_of(text.lower() if lowercase else text)
