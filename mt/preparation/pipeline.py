"""From the files of a corpus to token stores: clean, hold out, train the tokenizers, tokenise.

Everything streams through Arrow files in the training folder. Memory holds one block of text at a
time, some of it for the tokenizers (`mt.preparation.tokenizers`), and 35 bytes for each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from mt.config import Config
from mt.corpus.balance import times
from mt.corpus.cleaning import Cleaner, TextRules
from mt.corpus.keys import KeyTable, keys_of
from mt.corpus.store import TokenBlock, read_pairs, write_pairs, write_tokens
from mt.errors import DataError
from mt.events import CorpusRead, Listener, StageStarted
from mt.formats.pair import Pair, Reader
from mt.model_folder.seen_lines import FILE as SEEN
from mt.model_folder.seen_lines import SeenLines
from mt.preparation.dev_set import DevSet, read_dev, store_dev_tokens
from mt.preparation.marks import NO_MARKS, Marks
from mt.preparation.tokenise import encoded_blocks, report_unknown
from mt.preparation.tokenizers import StoredPairs, train_tokenizers, with_truecaser
from mt.text import symbols
from mt.text.normalise import is_blank, normalise
from mt.text.tokenizer import UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair

_MOST_BEYOND = 100  # so many pairs of a length teach it, however large the corpus is

PAIRS, TOKENS = "pairs.arrow", "tokens.arrow"
_SUBWORDS = TextRules(normalise=normalise, is_blank=is_blank)
_SYMBOLS = TextRules(normalise=symbols.with_single_spaces, is_blank=symbols.has_no_symbol)


def rules_of(config: Config) -> TextRules:
    """When texts are the same or blank to a model with these settings."""
    return _SYMBOLS if config.tokenizer.takes_symbols else _SUBWORDS


@dataclass(frozen=True, kw_only=True)
class CorpusInputs:
    """The corpora of a run, opened."""

    train: tuple[Reader, ...]
    dev: tuple[Reader, ...]
    against: tuple[Reader, ...]
    """Sets that the corpus must not hold; `also` is among them."""
    also: tuple[Reader, ...] = ()
    """Further validation sets."""
    marks: Marks = NO_MARKS


@dataclass(frozen=True, kw_only=True)
class PreparedText:
    """What came of a corpus; its tokens are in the training folder."""

    corpus: CorpusRead
    dev: DevSet
    tokenizers: TokenizerPair
    config: Config
    """With all sizes settled."""


def prepare(
    inputs: CorpusInputs,
    folder: Path,
    draft: Config,
    *,
    settle: Callable[[CorpusRead], Config],
    tokenizers: TokenizerPair | None,
    num_processes: int,
    listener: Listener,
) -> PreparedText:
    """Read, clean and tokenise the corpora of a run into the training folder.

    `settle` gives all settings once it is known how much is left of the corpus; `tokenizers` are
    those of the model that a run starts from, else they are trained.

    Raises DataError for text that cannot be read, for files that change meanwhile, and when nothing
    is left to train on.
    """
    dev = None
    if inputs.dev:
        dev = read_dev(inputs.dev, rules=rules_of(draft), listener=listener)
    stamps = _stamps(inputs.train)
    marks = inputs.marks
    cleaner = store_texts(inputs.train, folder, draft, marks=marks, listener=listener)
    if _stamps(inputs.train) != stamps:
        raise DataError(
            "the corpus changed while it was read", hint="Start again when it is complete"
        )
    clean(cleaner, dev, inputs.against, num_held_out=draft.corpus.held_out)
    dev = dev or held_out_set(folder, cleaner)
    config = settle(CorpusRead(origins=cleaner.summary()))
    rows = cleaner.for_training
    pairs = StoredPairs(folder / PAIRS)
    if tokenizers is None:
        counts = [origin.num_used for origin in cleaner.summary()]
        weights = marks.weights(counts, config.corpus.balance)
        how_often = None if set(weights) == {1.0} else times(rows, cleaner.origins, weights)
        tokenizers = train_tokenizers(pairs, config, rows, how_often=how_often, listener=listener)
        tokenizers = marks.with_tags(tokenizers)
    tokenizers = with_truecaser(tokenizers, pairs, config, rows)
    store_tokens(
        folder,
        tokenizers,
        cleaner,
        max_length=config.corpus.max_length if "long" in config.corpus.drop else None,
        marks=marks,
        num_processes=num_processes,
        listener=listener,
    )
    store_dev_tokens(folder, tokenizers, dev, marks=marks, listener=listener)
    _store_keys(folder / SEEN, cleaner)
    (folder / PAIRS).unlink()
    corpus = CorpusRead(origins=cleaner.summary())
    return PreparedText(corpus=corpus, dev=dev, tokenizers=tokenizers, config=config)


def _stamps(readers: Sequence[Reader]) -> list[tuple[int, int]]:
    """Size and time of the files of corpora, to see whether they change under the reader."""
    paths = (Path(file) for reader in readers for file in reader.files)
    stats = (path.stat() for path in paths if path.is_file())
    return [(stat.st_size, stat.st_mtime_ns) for stat in stats]


def store_texts(
    readers: Iterable[Reader],
    folder: Path,
    config: Config,
    *,
    marks: Marks = NO_MARKS,
    listener: Listener,
) -> Cleaner:
    """Read a corpus into `folder`; gives what is known of its rows."""
    listener(StageStarted(name="reading the corpus"))
    cleaner = Cleaner(
        config.corpus,
        rules_of(config),
        listener,
        groups=marks.groups,
        never_held_out=marks.synthetic,
    )
    write_pairs(folder / PAIRS, cleaner.pairs(readers))
    return cleaner


def clean(
    cleaner: Cleaner, dev: DevSet | None, against: Iterable[Reader], *, num_held_out: int
) -> None:
    """Drop duplicates and overlap with the test sets and `dev`; without `dev`, hold a set out.

    Raises DataError when nothing is left.
    """
    unwanted = KeyTable()
    for reader in against:
        for pair in reader:
            _add_keys(unwanted, pair.source, pair.target, cleaner.rules)
    if dev is not None:
        for source, target in zip(dev.sources, dev.targets, strict=True):
            _add_keys(unwanted, source, target, cleaner.rules)
    cleaner.drop_likenesses(unwanted)
    if dev is None:
        cleaner.hold_out(num_held_out)
    if not cleaner.for_training.any():
        _refuse_nothing(cleaner)


def held_out_set(folder: Path, cleaner: Cleaner) -> DevSet:
    """The held-out pairs of the stored corpus."""
    rows = cleaner.held_out
    pairs = list(StoredPairs(folder / PAIRS).rows(rows))
    names = [reader.name for reader in cleaner.summary()]
    counts = np.bincount(cleaner.origins[rows], minlength=len(names)).tolist()
    return DevSet(
        sources=[pair.source for pair in pairs],
        targets=[pair.target for pair in pairs],
        origins=tuple(zip(names, counts, strict=True)),
    )


def store_tokens(
    folder: Path,
    tokenizers: TokenizerPair,
    cleaner: Cleaner,
    *,
    max_length: int | None,
    marks: Marks = NO_MARKS,
    num_processes: int,
    listener: Listener,
) -> None:
    """Tokenise the stored corpus, dropping pairs with a side of more than `max_length` tokens.

    Every stored pair that is dropped is reported here. Raises DataError when nothing is left.
    """
    kept = cleaner.for_training
    dropped = ~cleaner.kept
    num_unknown = num_tokens = 0

    def blocks() -> Iterator[TokenBlock]:
        nonlocal num_unknown, num_tokens
        rows = iter(np.flatnonzero(kept))
        for pairs, source, target in encoded_blocks(
            _kept_blocks(folder, cleaner, kept, dropped), tokenizers, num_processes=num_processes
        ):
            block_rows = np.fromiter(rows, dtype=np.int64, count=len(pairs))
            fits = np.ones(len(pairs), dtype=np.bool_)
            if max_length is not None:
                fits = np.maximum(source.lengths, target.lengths) <= max_length
            for index in np.flatnonzero(~fits).tolist():
                cleaner.drop_long(pairs[index], int(block_rows[index]))
            source, target = source.only(fits), target.only(fits)
            origins = cleaner.origins[block_rows[fits]]
            num_tokens += len(source.ids) + len(target.ids)
            num_unknown += int((source.ids == UNKNOWN).sum() + (target.ids == UNKNOWN).sum())
            yield TokenBlock(
                source=marks.led(source, origins, tokenizers),
                target=target,
                origins=origins,
            )

    listener(StageStarted(name="tokenising the corpus"))
    size = max(tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    if not write_tokens(folder / TOKENS, blocks(), vocab_size=size):
        _refuse_nothing(cleaner)
    report_unknown("the training text", num_unknown, num_tokens, listener)


def _kept_blocks(
    folder: Path, cleaner: Cleaner, kept: NDArray[np.bool_], dropped: NDArray[np.bool_]
) -> Iterator[list[Pair]]:
    """The stored pairs that are kept, block by block; those dropped are reported on the way."""
    start = 0
    for block in read_pairs(folder / PAIRS):
        end = start + len(block)
        for index in np.flatnonzero(dropped[start:end]).tolist():
            cleaner.report_row(block[index], start + index)
        yield list(compress(block, kept[start:end]))
        start = end


def longest_usual(lengths: NDArray[np.int32]) -> int:
    """A length that one in a thousand, and 100 at most, are beyond: what training goes to."""
    num_beyond = min(len(lengths) // 1000, _MOST_BEYOND)
    index = len(lengths) - 1 - num_beyond
    return int(np.partition(lengths, index)[index])


def _store_keys(path: Path, cleaner: Cleaner) -> None:
    """Write which lines are trained on, by which test lines among them are known later."""
    rows = cleaner.for_training
    keys = (cleaner.keys.column(side)[rows] for side in ("source", "target"))
    SeenLines.of(*keys).save(path)


def _add_keys(table: KeyTable, source: str, target: str, rules: TextRules) -> None:
    """Add a pair to a table of unwanted ones; a blank side is no overlap."""
    keys = keys_of(source, target, rules.normalise)
    blank_source, blank_target = rules.is_blank(source), rules.is_blank(target)
    table.append(
        keys._replace(
            source=0 if blank_source else keys.source, target=0 if blank_target else keys.target
        )
    )


def _refuse_nothing(cleaner: Cleaner) -> NoReturn:
    corpus = CorpusRead(origins=cleaner.summary())
    reasons = ", ".join(f"{reason}: {count}" for reason, count in corpus.dropped.items())
    hint = "Check that the files hold text and the limits fit it; --keep turns a filter off"
    if next(iter(corpus.dropped), "").startswith("overlap"):
        hint = "Give other text to validate or test on, or --keep overlap_source to train on it"
    raise DataError(
        f"0 usable pairs: {corpus.num_read} read, {sum(corpus.dropped.values())} dropped"
        + (f" ({reasons})" if reasons else ""),
        hint=hint,
    )
