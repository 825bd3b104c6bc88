"""Faults in files of both sides that fuzzing found (tests/fuzz): each is told by its line."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from mt.errors import DataError
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions


def read(
    path: Path, content: bytes, *, columns: tuple[str, str] | None = None
) -> list[tuple[str, str]]:
    path.write_bytes(content)
    (reader,) = open_corpora([str(path)], ReadingOptions(columns=columns)).readers
    return [(pair.source, pair.target) for pair in reader]


@pytest.mark.parametrize("content", [b"one\ntwo\n", b"a,b\nc,d\n"])
def test_a_csv_file_without_the_numbered_columns_is_refused_by_its_line(
    tmp_path: Path, content: bytes
) -> None:
    with pytest.raises(DataError, match=r"a\.csv:1: \d columns?, but there must be at least 3"):
        read(tmp_path / "a.csv", content, columns=("1", "3"))


def test_numbered_columns_of_a_csv_file_are_those_of_its_rows(tmp_path: Path) -> None:
    rows = read(tmp_path / "a.csv", b"1,eins,one\n2,zwei,two\n", columns=("3", "2"))
    assert rows == [("one", "eins"), ("two", "zwei")]


def test_a_csv_row_of_another_width_than_the_first_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.csv:2: 2 columns, but there must be 3"):
        read(tmp_path / "a.csv", b"1,eins,one\nzwei,two\n", columns=("1", "2"))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_digit_that_is_no_number_names_a_column(tmp_path: Path, name: str) -> None:
    r"""str.isdigit holds for a superscript two, of which int makes nothing."""
    separator = "," if name == "a.csv" else "\t"
    content = f"²{separator}³\neins{separator}one\n".encode()
    assert read(tmp_path / name, content, columns=("²", "³")) == [("eins", "one")]


def test_json_that_is_nested_too_deeply_is_refused_by_its_line(tmp_path: Path) -> None:
    content = b'{"source": "a", "target": "b"}\n' + b"[" * 100_000 + b"\n"
    with pytest.raises(DataError, match=r"a\.jsonl:2: not JSON: nested too deeply"):
        read(tmp_path / "a.jsonl", content)


@pytest.mark.parametrize(
    ("suffix", "start"), [(".gz", b"\x1f\x8b"), (".xz", b"\xfd7zXZ\x00"), (".bz2", b"BZh")]
)
def test_a_compressed_file_that_was_cut_within_its_first_bytes_is_refused(
    tmp_path: Path, suffix: str, start: bytes
) -> None:
    path = tmp_path / f"a.tsv{suffix}"
    for length in range(len(start)):
        with pytest.raises(DataError, match="damaged or cut short"):
            read(path, start[:length])
    assert read(path, b"eins\tone\n") == [("eins", "one")]  # named so, and not compressed


def test_a_catalogue_that_ends_within_a_plural_is_refused_by_its_line(tmp_path: Path) -> None:
    content = b'msgid "a"\nmsgstr "b"\n\nmsgid "pear"\nmsgid_plural "pears"\n'
    with pytest.raises(DataError, match=r"a\.po:4: broken PO syntax"):
        read(tmp_path / "a.po", content)


def test_a_parquet_file_whose_columns_are_not_utf8_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pyarrow.table({"source": ["eins"], "target": ["one"]})
    parquet.write_table(table, path)
    path.write_bytes(path.read_bytes().replace(b"source", b"s\xd3urce"))
    (reader,) = open_corpora([str(path)]).readers
    with pytest.raises(DataError, match="not a Parquet file, or damaged"):
        list(reader)
