"""Parquet files and datasets of the Hub, in the columns of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mt.errors import ConfigError, DataError
from mt.formats.delimited import CommaSeparated, TabSeparated
from mt.formats.file_reader import FileReader
from mt.formats.fingerprint import described
from mt.formats.json_lines import Json, field_pair
from mt.formats.kind import Kind, kind_of_name
from mt.formats.options import ReadingOptions
from mt.formats.pair import Pair, Reader
from mt.formats.standard_input import shown

_ROWS = 1000  # at a time


class Parquet(FileReader):
    """A Parquet file with a column a side, or one of translations."""

    def codes(self) -> tuple[str, ...]:
        """The names of its columns, or of the fields of one of translations."""
        import pyarrow
        from pyarrow import parquet

        try:
            schema = parquet.read_schema(self._path)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"{shown(self._path)}: not a Parquet file, or damaged: {error}"
            ) from error
        fields = [*schema, *(inner for field in schema for inner in _inner(field.type))]
        return tuple(field.name for field in fields)

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError when it is no Parquet file, or lacks the columns."""
        import pyarrow
        from pyarrow import parquet

        number = 0
        try:
            with self._path.open("rb") as opened, parquet.ParquetFile(opened) as file:
                for block in file.iter_batches(batch_size=_ROWS):
                    for record in block.to_pylist():
                        number += 1
                        yield field_pair(record, self._options, shown(self._path), number)
        # Names of columns that are not UTF-8 are a UnicodeDecodeError.
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"{shown(self._path)}: not a Parquet file, or damaged: {error}"
            ) from error


def _inner(kind: Any) -> list[Any]:
    """The fields of a struct of Arrow; of another type none."""
    return [kind.field(i) for i in range(kind.num_fields)] if hasattr(kind, "field") else []


class HubDataset:
    """`hf:NAME[:CONFIG][@SPLIT]`: a dataset of the Hub, a local folder of one, or a saved one.

    NAME is what `datasets.load_dataset` takes, or a folder that `save_to_disk` wrote. The split is
    "train" unless it is named. A column of translations gives the languages.
    """

    def __init__(self, spec: str, options: ReadingOptions) -> None:
        self._spec = spec
        self._options = options
        address, _, self._split = spec.removeprefix("hf:").partition("@")
        self._name, _, self._config = address.partition(":")
        self._dataset: Any = None
        self._found_files: list[Path] | None = None
        if not self._name:
            raise ConfigError(f"{spec!r} names no dataset", hint="Write hf:NAME[:CONFIG][@SPLIT]")

    @property
    def name(self) -> str:
        """The argument as it was given."""
        return self._spec

    @property
    def files(self) -> tuple[str, ...]:
        """The argument as it was given."""
        return (self._spec,)

    @property
    def languages(self) -> tuple[str, str] | None:
        """The two languages of a translation feature, if there is one."""
        from datasets import Translation

        if self._files() is not None:
            return None
        for feature in self._load().features.values():
            if isinstance(feature, Translation) and len(feature.languages) == 2:
                return feature.languages[0], feature.languages[1]
        return None

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; raises DataError when the dataset or its columns cannot be found."""
        readers = self._files()
        if readers is not None:
            for reader in readers:
                yield from reader
            return
        number = 0
        for block in self._load().iter(batch_size=_ROWS):
            names = list(block)
            for values in zip(*block.values(), strict=True):
                number += 1
                record = dict(zip(names, values, strict=True))
                yield field_pair(record, self._options, self._spec, number)

    def content(self) -> Iterator[bytes]:
        """The rows as a stream of Arrow, whichever files they come from; of a folder its files."""
        readers = self._files()
        if readers is not None:
            for reader in readers:
                yield from reader.content() or ()
            return
        import pyarrow

        dataset = self._load()
        yield described(type(self), self._options, len(dataset))
        for table in dataset.with_format("arrow").iter(batch_size=_ROWS):
            sink = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(sink, table.schema.remove_metadata()) as writer:
                writer.write_table(table.combine_chunks().replace_schema_metadata())
            yield sink.getvalue().to_pybytes()

    def _files(self) -> list[Reader] | None:
        """Readers of the files of a folder on disk; None of what is none, or of other files.

        They are read as all files are: `datasets` takes null for missing and a date for no text,
        and gives the rows of before where a file has new content of the same size and time.
        """
        folder = Path(self._name)
        if not folder.is_dir() or _is_saved(folder):
            return None
        if self._found_files is None:
            from datasets import load_dataset_builder

            split = self._split or "train"
            with self._loading():
                config = load_dataset_builder(self._name, self._config or None).config
                files = dict(config.data_files or {})
                if split not in files:
                    raise ValueError(f"it has no split {split!r}, but {', '.join(map(str, files))}")
                self._found_files = [Path(str(file)) for file in files[split]]
        found = [(path, _BY_KIND.get(kind_of_name(path))) for path in self._found_files]
        if not all(reader for _, reader in found):
            return None
        return [reader(path, self._options) for path, reader in found if reader is not None]

    def _load(self) -> Any:
        if self._dataset is None:
            with self._loading():
                self._dataset = self._found()
        return self._dataset

    @contextmanager
    def _loading(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError, ConnectionError) as error:
            first = str(error).strip().split("\n")[0]
            raise DataError(f"{self._spec} cannot be loaded: {first}") from error

    def _found(self) -> Any:
        from datasets import DatasetDict, load_dataset, load_from_disk

        folder = Path(self._name)
        split = self._split or "train"
        if not _is_saved(folder):
            return load_dataset(self._name, self._config or None, split=split)
        saved = load_from_disk(str(folder))
        if not isinstance(saved, DatasetDict):
            return saved
        if split not in saved:
            raise ValueError(f"it has no split {split!r}, but {', '.join(saved)}")
        return saved[split]


_BY_KIND: dict[Kind, Callable[[Path, ReadingOptions], Reader]] = {
    Kind.CSV: CommaSeparated,
    Kind.TSV: TabSeparated,
    Kind.JSON: Json,
    Kind.PARQUET: Parquet,
}


def _is_saved(folder: Path) -> bool:
    """Whether `save_to_disk` wrote a folder."""
    return (folder / "state.json").exists() or (folder / "dataset_dict.json").exists()
