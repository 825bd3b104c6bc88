"""The corpus on disk as Arrow files, through `datasets`: written in a stream, memory-mapped.

Two stores: the cleaned text, which the tokenizer is trained on, and its token ids, which training
reads. Memory holds one block while writing and the lengths of the pairs while training. The files
are opened by their own names, so that no cache outside the folder is read or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mt.atomic import replaced_file
from mt.corpus.pair import Pair
from mt.errors import ModelFolderError

_BLOCK = 10_000  # pairs

TokenBlock = tuple[list[list[int]], list[list[int]]]
"""Token ids of the sources and targets of some pairs."""

_PAIR_COLUMNS = {"source": "string", "target": "string", "origin": "string", "line": "int64"}


def _write(path: Path, features: Any, blocks: Iterable[dict[str, list[Any]]]) -> int:
    """Write blocks of columns of equal lengths; returns the number of rows."""
    from datasets.arrow_writer import ArrowWriter

    path.parent.mkdir(parents=True, exist_ok=True)
    num_rows = 0
    with replaced_file(path) as temporary:
        writer = ArrowWriter(features=features, path=str(temporary))
        for block in blocks:
            size = len(next(iter(block.values())))
            if size:
                writer.write_batch(block)
                num_rows += size
        writer.write_table(writer.schema.empty_table())  # a store without rows is a store too
        writer.finalize()
    return num_rows


def _table(path: Path) -> Any:
    """The memory-mapped table of a file; raises ModelFolderError when it is missing or damaged."""
    from datasets import Dataset
    from pyarrow import ArrowException

    try:
        return Dataset.from_file(str(path)).data
    except (ArrowException, OSError, ValueError) as error:
        raise ModelFolderError(f"{path} is missing or damaged: {type(error).__name__}") from error


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs with their places; returns their number."""
    from datasets import Features, Value

    def blocks() -> Iterator[dict[str, list[Any]]]:
        stream = iter(pairs)
        while block := list(islice(stream, _BLOCK)):
            yield {name: [getattr(pair, name) for pair in block] for name in _PAIR_COLUMNS}

    features = Features({name: Value(kind) for name, kind in _PAIR_COLUMNS.items()})
    return _write(path, features, blocks())


def read_pairs(path: Path) -> Iterator[list[Pair]]:
    """Read what `write_pairs` wrote, block by block."""
    table = _table(path)
    chunks = [table.column(name).chunks for name in _PAIR_COLUMNS]
    for columns in zip(*chunks, strict=True):
        yield [Pair(*row) for row in zip(*(column.to_pylist() for column in columns), strict=True)]


def write_tokens(path: Path, blocks: Iterable[TokenBlock]) -> int:
    """Write token ids; returns the number of pairs."""
    from datasets import Features, List, Value

    features = Features({"source": List(Value("int32")), "target": List(Value("int32"))})
    named = ({"source": source, "target": target} for source, target in blocks)
    return _write(path, features, named)


class _Side:
    """One side of a token store: sequence i without copying."""

    def __init__(self, column: Any) -> None:
        chunks = [chunk for chunk in column.chunks if len(chunk)]
        self._values = [chunk.values.to_numpy() for chunk in chunks]
        self._offsets = [chunk.offsets.to_numpy() for chunk in chunks]
        sizes = [len(chunk) for chunk in chunks]
        self._first = np.cumsum([0, *sizes])
        self.lengths: NDArray[np.int32] = np.concatenate(
            [np.zeros(0, np.int32), *(np.diff(offsets) for offsets in self._offsets)]
        ).astype(np.int32)

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        chunk = int(np.searchsorted(self._first, index, side="right")) - 1
        place = index - int(self._first[chunk])
        start, end = self._offsets[chunk][place : place + 2]
        sequence: NDArray[np.int32] = self._values[chunk][start:end]
        return sequence


class TokenStore:
    """Token ids of a corpus, memory-mapped."""

    def __init__(self, path: Path) -> None:
        table = _table(path)
        try:
            self._source, self._target = (_Side(table.column(n)) for n in ("source", "target"))
        except (KeyError, AttributeError) as error:
            raise ModelFolderError(f"{path} holds no tokens") from error

    def __len__(self) -> int:
        return len(self._source.lengths)

    @property
    def source_lengths(self) -> NDArray[np.int32]:
        """Tokens of each source, without end symbols."""
        return self._source.lengths

    @property
    def target_lengths(self) -> NDArray[np.int32]:
        """Tokens of each target, without start and end symbols."""
        return self._target.lengths

    def sources(self, indices: Sequence[int]) -> list[NDArray[np.int32]]:
        """The sources at `indices`."""
        return [self._source[index] for index in indices]

    def targets(self, indices: Sequence[int]) -> list[NDArray[np.int32]]:
        """The targets at `indices`."""
        return [self._target[index] for index in indices]
