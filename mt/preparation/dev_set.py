"""The validation set: as raw text, and as tokens for its loss."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mt.corpus.cleaning import TextRules
from mt.corpus.store import TokenBlock, write_tokens
from mt.errors import DataError
from mt.events import Listener, Notice
from mt.formats.pair import Reader
from mt.preparation.marks import NO_MARKS, Marks
from mt.preparation.tokenise import report_unknown
from mt.text.tokenizer import UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair

DEV_TOKENS = "dev-tokens.arrow"


@dataclass(frozen=True, kw_only=True)
class DevSet:
    """A validation set, as raw text."""

    sources: list[str]
    targets: list[str]
    origins: tuple[tuple[str, int], ...]
    """Name and number of pairs of each corpus in it, in order."""


def read_dev(readers: Iterable[Reader], *, rules: TextRules, listener: Listener) -> DevSet:
    """Read a validation set whole; blank lines stay, so that its score is that of its files.

    Raises DataError when no pair has text on both sides.
    """
    sources: list[str] = []
    targets: list[str] = []
    origins: list[tuple[str, int]] = []
    num_blank = 0
    for reader in readers:
        before = len(sources)
        for pair in reader:
            if pair.fault:
                text = f"{pair.origin}:{pair.line}: left out of the validation set: {pair.fault}"
                listener(Notice(text=text, is_warning=True))
                continue
            sources.append(pair.source)
            targets.append(pair.target)
            if rules.is_blank(pair.source) or rules.is_blank(pair.target):
                num_blank += 1
        origins.append((reader.files[0], len(sources) - before))
    if num_blank == len(sources):
        raise DataError(f"the validation set has no usable pair: {len(sources)} read, all blank")
    if num_blank:
        text = f"{num_blank} of {len(sources)} validation pairs have a blank side"
        listener(Notice(text=text, is_warning=True))
    return DevSet(sources=sources, targets=targets, origins=tuple(origins))


def store_dev_tokens(
    folder: Path,
    tokenizers: TokenizerPair,
    dev: DevSet,
    *,
    marks: Marks = NO_MARKS,
    listener: Listener,
) -> None:
    """Tokenise the validation pairs that have text on both sides, for the validation loss."""
    numbers = (number for number, (_, count) in enumerate(dev.origins) for _ in range(count))
    found = [
        (number, (source, target))
        for number, source, target in zip(numbers, dev.sources, dev.targets, strict=True)
        if not tokenizers.source.is_blank(source) and not tokenizers.target.is_blank(target)
    ]
    pairs = [pair for _, pair in found]
    left = tokenizers.source.encode_batch([source for source, _ in pairs])
    right = tokenizers.target.encode_batch([target for _, target in pairs])
    size = max(tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    block = TokenBlock.of(left, right)
    origins = np.fromiter((number for number, _ in found), dtype=np.uint16, count=len(found))
    source_side = marks.led(block.source, origins, tokenizers, of_dev=True)
    block = dataclasses.replace(block, source=source_side)
    write_tokens(folder / DEV_TOKENS, [block], vocab_size=size)
    num_unknown = sum(ids.count(UNKNOWN) for ids in (*left, *right))
    num_tokens = sum(map(len, (*left, *right)))
    report_unknown("the validation set", num_unknown, num_tokens, listener)
