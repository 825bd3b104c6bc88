"""The pairs of a corpus that training would take, without training."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config
from mt.events import CorpusRead, Listener, ignore
from mt.formats.pair import Pair, Reader
from mt.preparation.dev_set import DevSet
from mt.preparation.pipeline import PAIRS, clean, store_texts
from mt.preparation.tokenizers import StoredPairs

_NO_DEV = DevSet(sources=[], targets=[], origins=())


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """What is left of a corpus."""

    pairs: Iterator[Pair]
    """In the order of the files, to be read once, while the context lasts."""
    corpus: CorpusRead
    """How many were read and left out, by reason."""


@contextmanager
def cleaned(
    readers: Iterable[Reader],
    against: Iterable[Reader],
    config: Config,
    *,
    listener: Listener = ignore,
) -> Iterator[Cleaned]:
    """Clean a corpus as `mt train` does with these settings, but for the length in tokens.

    Nothing is held out. What is stored on the way lies in a temporary folder. Raises DataError for
    corpora at fault, and when nothing is left.
    """
    with tempfile.TemporaryDirectory(prefix="mt-check-") as name:
        folder = Path(name)
        cleaner = store_texts(readers, folder, config, listener=listener)
        clean(cleaner, _NO_DEV, against, num_held_out=0)
        yield Cleaned(
            pairs=StoredPairs(folder / PAIRS).rows(cleaner.kept),
            corpus=CorpusRead(origins=cleaner.summary()),
        )
