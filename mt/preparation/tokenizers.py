"""The tokenizers of a run, and the case of its words, learnt from the stored corpus."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mt.config import Config
from mt.corpus.store import read_pairs
from mt.events import Listener, Notice, StageStarted
from mt.formats.pair import Pair
from mt.text.normalise import normalise
from mt.text.subwords import train_subwords
from mt.text.symbols import learn_symbols
from mt.text.tokenizer import Tokenizer
from mt.text.tokenizer_pair import TokenizerPair
from mt.text.truecase_table import learn_truecaser, merged

_MOST_PAIRS = 200_000  # more do not change the pieces, but would not fit in memory


@dataclass(frozen=True)
class StoredPairs:
    """The pairs of a corpus in a file on the disk."""

    path: Path

    def rows(self, rows: NDArray[np.bool_]) -> Iterator[Pair]:
        """The stored pairs of the `rows` that are true."""
        start = 0
        for block in read_pairs(self.path):
            yield from compress(block, rows[start : start + len(block)])
            start += len(block)


def train_tokenizers(
    pairs: StoredPairs,
    config: Config,
    rows: NDArray[np.bool_],
    *,
    how_often: NDArray[np.int64] | None = None,
    listener: Listener,
) -> TokenizerPair:
    """Train the tokenizers on the `rows` of the stored corpus, an even sample of very many.

    With `how_often`, each row comes as often as it says.
    """
    size = config.tokenizer.vocab_size
    if size is None:
        raise ValueError("the vocabulary size must be settled before")
    listener(StageStarted(name="training the tokenizer"))
    kind = config.tokenizer.kind
    if kind == "imported":
        raise ValueError("an imported tokenizer is given, not trained")
    # Symbols are counted one by one, in little memory.
    if kind != "symbols":
        num_pairs = int(rows.sum())
        rows, stride = _sampled(rows)
        if stride > 1:
            text = f"the tokenizer is trained on every {stride}th pair: {num_pairs // stride} pairs"
            listener(Notice(text=text))

    if how_often is not None:
        rows = rows & (how_often > 0)

    def texts(*sides: int) -> Iterator[str]:
        counts = repeat(1) if how_often is None else iter(how_often[rows].tolist())
        for pair, count in zip(pairs.rows(rows), counts, strict=False):
            for side in sides:
                yield from [pair.source if side == 0 else pair.target] * count

    def learnt(name: str, *sides: int) -> Tokenizer:
        if kind == "symbols":
            return learn_symbols(
                texts(*sides),
                vocab_size=size,
                min_count=config.tokenizer.min_count,
                listener=listener,
                name=name,
            )
        return train_subwords(
            texts(*sides), kind=kind, vocab_size=size, listener=listener, name=name
        )

    if config.tokenizer.joint:
        joint = learnt("tokenizer", 0, 1)
        return TokenizerPair(source=joint, target=joint)
    source, target = learnt("source tokenizer", 0), learnt("target tokenizer", 1)
    return TokenizerPair(source=source, target=target)


def with_truecaser(
    tokenizers: TokenizerPair, pairs: StoredPairs, config: Config, rows: NDArray[np.bool_]
) -> TokenizerPair:
    """`tokenizers` with the case of the sources of the `rows`; what they knew before stays known.

    Symbols have no case.
    """
    if config.tokenizer.takes_symbols:
        return tokenizers
    sources = (normalise(pair.source) for pair in pairs.rows(_sampled(rows)[0]))
    learnt = learn_truecaser(sources, language=config.source_language)
    return dataclasses.replace(tokenizers, truecaser=merged(learnt, tokenizers.truecaser))


def _sampled(rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
    """An even sample of at most `_MOST_PAIRS` of the `rows`, and the step between them."""
    stride = -(-int(rows.sum()) // _MOST_PAIRS)
    return (rows & (rows.cumsum() % stride == 0), stride) if stride > 1 else (rows, 1)
