"""What is taken from the corpus, and how text becomes tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from mt.errors import require

SubwordKind = Literal["unigram", "bpe"]
TrainedTokenizer = Literal[SubwordKind, "symbols"]
TokenizerKind = Literal[TrainedTokenizer, "imported"]
Droppable = Literal[
    "not_utf8",
    "long",
    "ratio",
    "duplicate",
    "overlap_source",
    "near_duplicate",
    "overlap_source_loose",
    "overlap_target",
    "overlap_target_loose",
    "copy",
    "script_source",
    "script_target",
    "language_source",
    "language_target",
    "serial",
    "markup",
    "numbers_differ",
    "mojibake",
    "replacement",
    "nul",
    "control",
    "separator",
    "carriage_return",
    "bom",
    "not_nfc",
]
"""Findings of `mt check` for which `mt train` can leave a pair out."""
DROPPABLE: tuple[str, ...] = get_args(Droppable)


@dataclass(frozen=True, kw_only=True)
class CorpusConfig:
    """What is taken from the corpus."""

    drop: tuple[Droppable, ...] = ("long", "ratio", "duplicate", "overlap_source")
    """Findings of `mt check` for which a pair is left out; --drop adds one, --keep removes one."""
    max_length: int = 256
    """Longest side of a pair in tokens, its end symbol not counted; beyond it a pair is "long"."""
    max_ratio: float = 9.0
    """Times the usual proportion of the sides in characters, beyond which they are a "ratio"."""
    held_out: int = 1000
    """Pairs held out for validation when no --dev is given (never over a tenth of the corpus)."""
    weights: tuple[float, ...] = ()
    """How often the pairs of each corpus come in an epoch, in the order given; none: once."""

    balance: float = 1.0
    """Of several directions: one with n pairs comes in proportion to n^(1/balance); 1 is as they
    are, and the larger it is, the more alike."""

    def __post_init__(self) -> None:
        require(1 <= self.balance < math.inf, f"corpus.balance must be at least 1: {self.balance}")
        require(self.max_length >= 1, f"corpus.max_length must be at least 1: {self.max_length}")
        require(self.max_ratio > 1, f"corpus.max_ratio must be above 1: {self.max_ratio}")
        require(self.held_out >= 1, f"corpus.held_out must be at least 1: {self.held_out}")
        require(
            all(0 <= weight < math.inf for weight in self.weights)
            and (not self.weights or max(self.weights) > 0),
            f"corpus.weights must not be negative, nor all zero: {list(self.weights)}",
        )


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """How text becomes tokens."""

    kind: TokenizerKind = "unigram"
    """Subwords by a unigram language model or byte-pair encoding, or space-separated symbols;
    "imported" is that of another program's model (`mt import`), which is not trained."""
    vocab_size: int | None = None
    """Most pieces of each tokenizer; without it by the number of pairs, or 32,000 for symbols."""
    min_count: int = 1
    """Of symbols: one that comes fewer times in training is unknown to the model."""
    joint: bool = True
    """One tokenizer for both languages, or one for each."""

    def __post_init__(self) -> None:
        size = self.vocab_size
        require(size is None or size >= 1, f"tokenizer.vocab_size must be at least 1: {size}")
        require(self.min_count >= 1, f"tokenizer.min_count must be at least 1: {self.min_count}")
        require(
            self.min_count == 1 or self.takes_symbols,
            f'tokenizer.min_count = {self.min_count} needs tokenizer.kind = "symbols"',
        )

    @property
    def takes_symbols(self) -> bool:
        """Whether tokens are symbols that stand between spaces, and not parts of text."""
        return self.kind == "symbols"
