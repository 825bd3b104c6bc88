"""The corpus on disk as Arrow files, through `datasets`: written in a stream, memory-mapped.

Two stores: the cleaned text, which the tokenizer is trained on, and its token ids, which training
reads. Memory holds one block while writing and the lengths of the pairs while training. The files
are opened by their own names, so that no cache outside the folder is read or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mt.errors import ModelFolderError
from mt.files import replaced_file
from mt.files.library_paths import library_path
from mt.formats.pair import Pair

_BLOCK = 10_000  # pairs


@dataclass(frozen=True, kw_only=True)
class Sequences:
    """Token ids of many texts, one after the other."""

    ids: NDArray[np.int32]
    lengths: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> Sequences:
        """From a list for each text."""
        lengths = np.fromiter(map(len, texts), dtype=np.int32, count=len(texts))
        ids = np.fromiter(chain.from_iterable(texts), dtype=np.int32, count=int(lengths.sum()))
        return cls(ids=ids, lengths=lengths)

    def led_by(self, leads: Sequence[Sequence[int]], which: NDArray[np.uint16]) -> Sequences:
        """With tokens before each text: those of `leads` that `which` names, one a text."""
        more = np.fromiter(map(len, leads), dtype=np.int32)[which]
        parts = np.column_stack([more, self.lengths]).ravel()
        is_more = np.repeat(np.tile([True, False], len(which)), parts)
        ids = np.empty(len(is_more), dtype=np.int32)
        ids[~is_more] = self.ids
        ids[is_more] = np.fromiter(
            chain.from_iterable(leads[i] for i in which), dtype=np.int32, count=int(more.sum())
        )
        return Sequences(ids=ids, lengths=self.lengths + more)

    def only(self, keep: NDArray[np.bool_]) -> Sequences:
        """Those where `keep` is true."""
        return Sequences(ids=self.ids[np.repeat(keep, self.lengths)], lengths=self.lengths[keep])


@dataclass(frozen=True, kw_only=True)
class TokenBlock:
    """Some pairs in token ids, and the number of the corpus that each comes from."""

    source: Sequences
    target: Sequences
    origins: NDArray[np.uint16]

    @classmethod
    def of(cls, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> TokenBlock:
        """From a list for each text, all of the first corpus."""
        return cls(
            source=Sequences.of(sources),
            target=Sequences.of(targets),
            origins=np.zeros(len(sources), dtype=np.uint16),
        )


_PAIR_COLUMNS = {"source": "string", "target": "string", "origin": "string", "line": "int64"}


def _write(path: Path, features: Any, tables: Iterable[Any]) -> int:
    """Write tables of one schema; returns the number of rows."""
    from datasets.arrow_writer import ArrowWriter

    path.parent.mkdir(parents=True, exist_ok=True)
    num_rows = 0
    with replaced_file(path) as temporary:
        writer = ArrowWriter(features=features, path=str(library_path(temporary)))
        for table in tables:
            writer.write_table(table, writer_batch_size=_BLOCK)
            num_rows += len(table)
        writer.write_table(writer.schema.empty_table())  # a store without rows is a store too
        writer.finalize()
    return num_rows


def _table(path: Path) -> Any:
    """The memory-mapped table of a file; raises ModelFolderError when it is missing or damaged."""
    from datasets import Dataset
    from pyarrow import ArrowException

    try:
        return Dataset.from_file(str(library_path(path))).data
    except (ArrowException, OSError, ValueError) as error:
        raise ModelFolderError(f"{path} is missing or damaged: {type(error).__name__}") from error


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs with their locations; returns their number."""
    import pyarrow as pa
    from datasets import Features, Value

    features = Features({name: Value(kind) for name, kind in _PAIR_COLUMNS.items()})

    def tables() -> Iterator[Any]:
        stream = iter(pairs)
        while block := list(islice(stream, _BLOCK)):
            columns = list(zip(*(pair[: len(_PAIR_COLUMNS)] for pair in block), strict=True))
            yield pa.table([list(column) for column in columns], schema=features.arrow_schema)

    return _write(path, features, tables())


def read_pairs(path: Path) -> Iterator[list[Pair]]:
    """Read what `write_pairs` wrote, block by block."""
    table = _table(path)
    chunks = [table.column(name).chunks for name in _PAIR_COLUMNS]
    for columns in zip(*chunks, strict=True):
        yield [Pair(*row) for row in zip(*(column.to_pylist() for column in columns), strict=True)]


def write_tokens(path: Path, blocks: Iterable[TokenBlock], *, vocab_size: int) -> int:
    """Write token ids below `vocab_size`, in two bytes each if they fit; returns the pairs."""
    import pyarrow as pa
    from datasets import Features, List, Value

    kind = "uint16" if vocab_size <= 1 << 16 else "int32"
    features = Features(
        {"source": List(Value(kind)), "target": List(Value(kind)), "origin": Value("uint16")}
    )

    def tables() -> Iterator[Any]:
        for block in blocks:
            columns = [_list_array(side, kind) for side in (block.source, block.target)]
            yield pa.table([*columns, pa.array(block.origins)], schema=features.arrow_schema)

    return _write(path, features, tables())


def _list_array(side: Sequences, kind: str) -> Any:
    import pyarrow as pa

    offsets = np.concatenate([[0], side.lengths.cumsum()]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(side.ids.astype(kind)))


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

    def __getitem__(self, index: int) -> NDArray[Any]:
        chunk = int(np.searchsorted(self._first, index, side="right")) - 1
        offset = index - int(self._first[chunk])
        start, end = self._offsets[chunk][offset : offset + 2]
        sequence: NDArray[Any] = self._values[chunk][start:end]
        return sequence


class TokenStore:
    """Token ids of a corpus, memory-mapped."""

    def __init__(self, path: Path) -> None:
        table = _table(path)
        try:
            self._source, self._target = (_Side(table.column(n)) for n in ("source", "target"))
            self._origins = table.column("origin")
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

    @property
    def origins(self) -> NDArray[np.uint16]:
        """The number of the corpus that each pair comes from."""
        numbers: NDArray[np.uint16] = self._origins.to_numpy()
        return numbers

    def sources(self, indices: Sequence[int]) -> list[NDArray[Any]]:
        """The sources at `indices`."""
        return [self._source[index] for index in indices]

    def targets(self, indices: Sequence[int]) -> list[NDArray[Any]]:
        """The targets at `indices`."""
        return [self._target[index] for index in indices]
