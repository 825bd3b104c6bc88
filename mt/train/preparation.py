"""From readers to token stores: clean, hold out, train the tokenizers, tokenise.

Everything streams through Arrow files in the training folder; memory holds one block at a time,
and of the tokenizers' training text at most `_TOKENIZER_PAIRS` pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mt.config import Config
from mt.corpus import split
from mt.corpus.cleaning import TOO_LONG, Tally, usable_pairs
from mt.corpus.pair import Pair, Reader
from mt.corpus.store import read_pairs, write_pairs, write_tokens
from mt.errors import DataError
from mt.events import CorpusRead, Listener, Notice, StageStarted
from mt.text.normalise import is_blank, normalise
from mt.text.tokenizer import train_tokenizer
from mt.text.tokenizer_pair import TokenizerPair

_TOKENIZER_PAIRS = 200_000  # more do not change the pieces, but would not fit in memory

_T = TypeVar("_T")

PAIRS, TOKENS, DEV_TOKENS = "pairs.arrow", "tokens.arrow", "dev-tokens.arrow"


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Which pairs of a corpus are kept for validation: those whose hash lies below `threshold`."""

    threshold: float

    def holds(self, source: str) -> bool:
        """Whether pairs with this source are held out."""
        return self.threshold > 0.0 and _position(source) < self.threshold


def _position(source: str) -> float:
    return split.position(normalise(source).casefold())


def store_texts(readers: Iterable[Reader], folder: Path, *, listener: Listener) -> Tally:
    """Read and clean a corpus into `folder`; raises DataError when nothing is left."""
    listener(StageStarted(name="reading the corpus"))
    tally = Tally()
    pairs = usable_pairs(readers, is_blank=is_blank, tally=tally, listener=listener)
    if not write_pairs(folder / PAIRS, pairs):
        _refuse_nothing(tally)
    return tally


def hold_out(folder: Path, *, num_pairs: int, wanted: int) -> tuple[HeldOut, list[str], list[str]]:
    """Choose the held-out pairs of the stored corpus; gives the rule, their sources and targets.

    At least one pair is held out and one is left, or DataError is raised.
    """
    smallest = min(_position(pair.source) for pair in _stored(folder))
    threshold = split.held_out_threshold(num_pairs, wanted)
    held_out = HeldOut(threshold=max(threshold, smallest + 2**-53))
    pairs = [pair for pair in _stored(folder) if held_out.holds(pair.source)]
    if len(pairs) == num_pairs:
        raise DataError(
            f"a corpus of {num_pairs} usable pairs leaves nothing to train on "
            "once a validation set is held out",
            hint="Give more pairs, or a validation set with --dev",
        )
    return held_out, [pair.source for pair in pairs], [pair.target for pair in pairs]


def train_tokenizers(
    folder: Path, config: Config, held_out: HeldOut, *, num_pairs: int, listener: Listener
) -> TokenizerPair:
    """Train the tokenizers on the stored corpus, an even sample of it if it is very large."""
    size = config.tokenizer.vocab_size
    if size is None:
        raise ValueError("the vocabulary size must be settled before")
    listener(StageStarted(name="training the tokenizer"))
    stride = -(-num_pairs // _TOKENIZER_PAIRS)
    if stride > 1:
        text = f"the tokenizer is trained on every {stride}th pair: {num_pairs // stride} pairs"
        listener(Notice(text=text))

    def texts(*sides: int) -> Iterator[str]:
        for number, pair in enumerate(_stored(folder)):
            if number % stride == 0 and not held_out.holds(pair.source):
                for side in sides:
                    yield pair.source if side == 0 else pair.target

    kind = config.tokenizer.kind
    if config.tokenizer.joint:
        joint = train_tokenizer(texts(0, 1), kind=kind, vocab_size=size, listener=listener)
        return TokenizerPair(source=joint, target=joint)
    source, target = (
        train_tokenizer(
            texts(side), kind=kind, vocab_size=size, listener=listener, name=f"{name} tokenizer"
        )
        for side, name in enumerate(("source", "target"))
    )
    return TokenizerPair(source=source, target=target)


def store_tokens(
    folder: Path,
    tokenizers: TokenizerPair,
    held_out: HeldOut,
    tally: Tally,
    *,
    max_length: int,
    listener: Listener,
) -> int:
    """Tokenise the stored corpus, dropping pairs with a side of more than `max_length` tokens.

    Reports the whole tally as CorpusRead and returns the number of pairs to train on; raises
    DataError when there is none.
    """

    def blocks() -> Iterator[tuple[list[list[int]], list[list[int]]]]:
        for block in read_pairs(folder / PAIRS):
            pairs = [pair for pair in block if not held_out.holds(pair.source)]
            left = tokenizers.source.encode_batch([pair.source for pair in pairs])
            right = tokenizers.target.encode_batch([pair.target for pair in pairs])
            fits = [max(len(s), len(t)) <= max_length for s, t in zip(left, right, strict=True)]
            for pair, is_kept in zip(pairs, fits, strict=True):
                if not is_kept:
                    tally.drop(pair, TOO_LONG, listener)
            yield _only(left, fits), _only(right, fits)

    listener(StageStarted(name="tokenising the corpus"))
    num_pairs = write_tokens(folder / TOKENS, blocks())
    listener(
        CorpusRead(
            name="corpus",
            num_read=tally.num_read,
            num_used=tally.num_used,
            dropped=dict(tally.dropped),
        )
    )
    if not num_pairs:
        _refuse_nothing(tally)
    return num_pairs


def store_dev_tokens(
    folder: Path, tokenizers: TokenizerPair, sources: list[str], targets: list[str]
) -> None:
    """Tokenise the validation pairs that have text on both sides, for the validation loss."""
    pairs = [
        (source, target)
        for source, target in zip(sources, targets, strict=True)
        if not is_blank(source) and not is_blank(target)
    ]
    left = tokenizers.source.encode_batch([source for source, _ in pairs])
    right = tokenizers.target.encode_batch([target for _, target in pairs])
    write_tokens(folder / DEV_TOKENS, [(left, right)])


def read_dev(readers: Iterable[Reader], *, listener: Listener) -> tuple[list[str], list[str]]:
    """Read a validation set whole; blank lines stay, so that its score is that of its files.

    Raises DataError when no pair has text on both sides.
    """
    sources: list[str] = []
    targets: list[str] = []
    num_blank = 0
    for reader in readers:
        for pair in reader:
            if pair.fault:
                text = f"{pair.origin}:{pair.line}: left out of the validation set: {pair.fault}"
                listener(Notice(text=text, is_warning=True))
                continue
            sources.append(pair.source)
            targets.append(pair.target)
            if is_blank(pair.source) or is_blank(pair.target):
                num_blank += 1
    if num_blank == len(sources):
        raise DataError(f"the validation set has no usable pair: {len(sources)} read, all blank")
    if num_blank:
        text = f"{num_blank} of {len(sources)} validation pairs have a blank side"
        listener(Notice(text=text, is_warning=True))
    return sources, targets


def warn_of_overlap(folder: Path, dev_sources: list[str], *, listener: Listener) -> None:
    """Say how many validation sources occur in the stored corpus, if any do."""
    wanted = {source.strip() for source in dev_sources}
    met = {source for pair in _stored(folder) if (source := pair.source.strip()) in wanted}
    count = sum(source.strip() in met for source in dev_sources)
    if count:
        text = (
            f"{count} of {len(dev_sources)} validation sources occur in the training corpus: "
            "scores on them say nothing (mt check --against shows where)"
        )
        listener(Notice(text=text, is_warning=True))


def _stored(folder: Path) -> Iterator[Pair]:
    for block in read_pairs(folder / PAIRS):
        yield from block


def _only(values: list[_T], keep: list[bool]) -> list[_T]:
    return [value for value, kept in zip(values, keep, strict=True) if kept]


def _refuse_nothing(tally: Tally) -> None:
    reasons = ", ".join(f"{reason}: {count}" for reason, count in tally.dropped.items())
    raise DataError(
        f"0 usable pairs: {tally.num_read} read, {tally.dropped.total()} dropped"
        + (f" ({reasons})" if reasons else ""),
        hint="Check that the files hold text and the length limit fits it",
    )
