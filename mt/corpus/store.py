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
from mt.errors import ModelFolderError

_BLOCK = 10_000  # pairs

TextBlock = tuple[list[str], list[str]]
"""Sources and targets of some pairs."""
TokenBlock = tuple[list[list[int]], list[list[int]]]


def _write(path: Path, blocks: Iterable[tuple[list[Any], list[Any]]], *, of_text: bool) -> int:
    from datasets import Features, List, Value
    from datasets.arrow_writer import ArrowWriter

    kind = Value("string") if of_text else List(Value("int32"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_file(path) as temporary:
        writer = ArrowWriter(
            features=Features({"source": kind, "target": kind}), path=str(temporary)
        )
        num_pairs = 0
        for source, target in blocks:
            if source:
                writer.write_batch({"source": source, "target": target})
                num_pairs += len(source)
        writer.write_table(writer.schema.empty_table())  # a store without pairs is a store too
        writer.finalize()
    return num_pairs


def _columns(path: Path) -> tuple[Any, Any]:
    from datasets import Dataset
    from pyarrow import ArrowException

    try:
        table = Dataset.from_file(str(path)).data
        return table.column("source"), table.column("target")
    except (ArrowException, OSError, KeyError, ValueError) as error:
        raise ModelFolderError(f"{path} is missing or damaged: {type(error).__name__}") from error


def write_texts(path: Path, pairs: Iterable[tuple[str, str]]) -> int:
    """Write (source, target) texts; returns their number."""

    def blocks() -> Iterator[TextBlock]:
        stream = iter(pairs)
        while block := list(islice(stream, _BLOCK)):
            yield [source for source, _ in block], [target for _, target in block]

    return _write(path, blocks(), of_text=True)


def read_texts(path: Path) -> Iterator[TextBlock]:
    """Read a text store block by block."""
    source, target = _columns(path)
    for left, right in zip(source.chunks, target.chunks, strict=True):
        yield left.to_pylist(), right.to_pylist()


def write_tokens(path: Path, blocks: Iterable[TokenBlock]) -> int:
    """Write token ids; returns the number of pairs."""
    return _write(path, blocks, of_text=False)


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
        source, target = _columns(path)
        self._source = _Side(source)
        self._target = _Side(target)

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
