"""Shortlists: which target pieces the pieces of a source are likely to give, as a table."""

from __future__ import annotations

import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mt.config import Config
from mt.corpus.store import TokenStore
from mt.errors import ConfigError, DataError, ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.model_folder.folder import TRAINING, load_tokenizers, read_config, read_dev_pairs
from mt.model_folder.shortlist import SHORTLIST, Shortlist
from mt.preparation.pipeline import TOKENS
from mt.tasks.requests import ShortlistRequest
from mt.text.tokenizer import UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair
from mt.training.ibm_model1 import learn_lexicon

_SEED = 1  # of the sample of a corpus
_Sides = tuple[Sequence[NDArray[np.integer]], Sequence[NDArray[np.integer]]]


@dataclass(frozen=True, kw_only=True)
class ShortlistResult:
    """A table that was learnt."""

    path: Path
    num_known: int
    """Source pieces that it knows."""


def learn_shortlist(request: ShortlistRequest, listener: Listener = ignore) -> ShortlistResult:
    """Learn a table from a corpus, or from a model's training tokens, into the model folder.

    Raises ConfigError, DataError and ModelFolderError for what cannot be learnt from.
    """
    folder = Path(request.model)
    config = read_config(folder)
    tokenizers = load_tokenizers(folder, config)
    if request.corpus:
        sources, targets = _of_corpus(request, config, tokenizers, listener)
    elif request.languages or request.columns:
        raise ConfigError("--langs and --columns have an effect with CORPUS only")
    else:
        sources, targets = _of_training(folder, most=request.pairs, listener=listener)
    # No translation holds the unknown symbol, though a rare one may stand for it in training.
    targets = [ids[ids != UNKNOWN] for ids in targets]
    lexicon = learn_lexicon(
        sources,
        targets,
        source_vocab=tokenizers.source.vocab_size,
        target_vocab=tokenizers.target.vocab_size,
    )
    counts = np.bincount(np.concatenate(targets), minlength=tokenizers.target.vocab_size)
    counts[:4] = 0  # no text holds the symbols
    frequent = np.argsort(-counts, kind="stable")[: request.frequent]
    first, pieces = lexicon.likeliest(request.per_piece)
    shortlist = Shortlist.of(
        first=first,
        pieces=pieces,
        frequent=frequent[counts[frequent] > 0].astype(np.int32),
        tokenizers=tokenizers,
    )
    shortlist.save(folder, tokenizers)
    _report_coverage(folder, shortlist, tokenizers, listener)
    return ShortlistResult(path=folder / SHORTLIST, num_known=shortlist.num_known)


def _of_training(folder: Path, *, most: int, listener: Listener) -> _Sides:
    """Pairs from the token store of a model folder, evenly over it."""
    path = folder / TRAINING / TOKENS
    if not path.exists():
        raise ModelFolderError(
            f"{folder} holds no tokens of its training: {path} is not there",
            hint=f"Give a corpus: mt shortlist -m {shlex.quote(str(folder))} CORPUS",
        )
    store = TokenStore(path)
    count = min(len(store), most)
    rows = np.linspace(0, len(store) - 1, count).round().astype(int).tolist()
    listener(Notice(text=f"learning from {count} of {len(store)} pairs of {path}"))
    return store.sources(rows), store.targets(rows)


def _of_corpus(
    request: ShortlistRequest, config: Config, tokenizers: TokenizerPair, listener: Listener
) -> _Sides:
    """Pairs from corpora, a random sample of them."""
    known = config.source_language, config.target_language
    languages = request.languages or (known if all(known) else None)
    options = ReadingOptions(languages=languages, columns=request.columns)
    draw = random.Random(_SEED)
    sample: list[tuple[str, str]] = []
    num_usable = num_faulty = 0
    for reader in open_corpora(request.corpus, options).readers:
        for pair in reader:
            is_blank = tokenizers.source.is_blank(pair.source) or tokenizers.target.is_blank(
                pair.target
            )
            if pair.fault or is_blank:
                num_faulty += 1
                continue
            index = num_usable
            num_usable += 1
            if index >= request.pairs:
                index = draw.randrange(num_usable)  # reservoir sampling
            if index < len(sample):
                sample[index] = pair.source, pair.target
            elif index < request.pairs:
                sample.append((pair.source, pair.target))
    if not sample:
        raise DataError(f"no pair to learn from: {num_faulty} read, all blank or faulty")
    sources = tokenizers.source.encode_batch([source for source, _ in sample])
    targets = tokenizers.target.encode_batch([target for _, target in sample])
    longest = config.corpus.max_length
    fits = [max(len(s), len(t)) <= longest for s, t in zip(sources, targets, strict=True)]
    text = (
        f"learning from {sum(fits)} of {num_usable} pairs ({num_faulty} more are blank or faulty, "
        f"{len(fits) - sum(fits)} longer than {longest} tokens)"
    )
    listener(Notice(text=text))
    if not any(fits):
        raise DataError(f"no pair to learn from: all are longer than {longest} tokens")
    left, right = (
        [np.array(ids, dtype=np.int32) for ids, fit in zip(side, fits, strict=True) if fit]
        for side in (sources, targets)
    )
    return left, right


def _report_coverage(
    folder: Path, shortlist: Shortlist, tokenizers: TokenizerPair, listener: Listener
) -> None:
    """Report how the table does on the validation set, if there is one."""
    pairs = [
        (source, target)
        for source, target in read_dev_pairs(folder)
        if not tokenizers.source.is_blank(source) and not tokenizers.target.is_blank(target)
    ]
    if not pairs:
        return
    sources = tokenizers.source.encode_batch([source for source, _ in pairs])
    targets = tokenizers.target.encode_batch([target for _, target in pairs])
    lists = [shortlist.candidates(source) for source in sources]
    num_held = [
        sum(token in found for token in target)
        for target, found in zip(targets, (set(each.tolist()) for each in lists), strict=True)
    ]
    num_whole = sum(num == len(target) for num, target in zip(num_held, targets, strict=True))
    share = sum(num_held) / sum(map(len, targets))
    text = (
        f"of {len(pairs)} validation pairs: lists of {sum(map(len, lists)) / len(lists):.0f} of "
        f"{shortlist.target_vocab} pieces, which hold {share:.1%} of the pieces of the references, "
        f"all of them {num_whole} times"
    )
    listener(Notice(text=text))
