"""Reading corpora: forms, compression, and faults named with file and line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from mt.errors import ConfigError, DataError
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.formats.text import language_suffix

Write = Callable[[str, bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, data: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write_file


def pairs_of(*paths: str) -> list[tuple[str, str]]:
    opened = open_corpora(paths)
    return [(pair.source, pair.target) for reader in opened.readers for pair in reader]


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_compressed_file_reads_like_the_plain_one(write: Write, kind: str) -> None:
    data = "".join(f"line {i} é\n" for i in range(20_000)).encode()
    plain = pairs_of(write("a.de", data), write("a.en", data))
    packed = COMPRESSORS[kind](data)
    assert pairs_of(write(f"a.de.{kind}", packed), write("b.en", data)) == plain
    assert pairs_of(write("nameless.de", packed), write("b.en", data)) == plain
    # Files that were packed in parts and put together are whole files too.
    parts = COMPRESSORS[kind](data[:1000]) + COMPRESSORS[kind](data[1000:])
    assert pairs_of(write("parts.de", parts), write("b.en", data)) == plain


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_cut_compressed_file_is_an_error_that_names_it(write: Write, kind: str) -> None:
    data = b"".join(b"%d %d\n" % (i, i * i) for i in range(50_000))
    packed = COMPRESSORS[kind](data)
    path = write(f"cut.de.{kind}", packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"cut\.de\.\w+ is damaged or cut short"):
        pairs_of(path, write("a.en", data))


@pytest.mark.parametrize(("left", "right"), [(3, 2), (2, 3), (5, 0), (0, 1), (1, 400)])
def test_unequal_sides_are_refused_with_both_counts(write: Write, left: int, right: int) -> None:
    paths = write("a.de", b"x\n" * left), write("a.en", b"y\n" * right)
    with pytest.raises(DataError) as caught:
        pairs_of(*paths)
    assert f"a.de has {left} lines" in str(caught.value)
    assert f"a.en has {right} lines" in str(caught.value)


def test_a_byte_that_is_not_utf8_is_named_with_file_and_line(write: Write) -> None:
    paths = write("a.de", b"a\nb\nnor\xe9a\n"), write("a.en", b"a\nb\nc\n")
    with pytest.raises(DataError, match=r"a\.de:3: byte 0xe9 at position 4 is not UTF-8"):
        pairs_of(*paths)
    (reader,) = open_corpora(paths, ReadingOptions(keep_invalid=True)).readers
    assert [(pair.source, pair.fault) for pair in reader] == [
        ("a", ""),
        ("b", ""),
        ("", "not UTF-8"),
    ]


def test_tab_separated_text_has_no_quotes_and_no_missing_values(write: Write) -> None:
    path = write("q.tsv", b'"Go now\tva ya\nnull\tNA\nsay "hi" x\tdi\nend"\tnan\n007\tTrue\n')
    assert pairs_of(path) == [
        ('"Go now', "va ya"),
        ("null", "NA"),
        ('say "hi" x', "di"),
        ('end"', "nan"),
        ("007", "True"),
    ]


@pytest.mark.parametrize(("row", "count"), [("lema", "1 column"), ("a\tb\tc", "3 columns")])
def test_another_number_of_columns_is_named(write: Write, row: str, count: str) -> None:
    path = write("c.tsv", f"kilo\tadun\n{row}\n".encode())
    with pytest.raises(DataError, match=rf"c\.tsv:2: {count}, but"):
        pairs_of(path)


def test_languages_come_from_suffixes_or_from_the_user(write: Write) -> None:
    german, english = write("train.de.gz", b""), write("train.en", b"")
    opened = open_corpora([german, english])
    assert (opened.source_language, opened.target_language) == ("de", "en")
    turned = open_corpora([german, english], ReadingOptions(languages=("en", "de")))
    assert (turned.source_language, turned.target_language) == ("en", "de")
    assert turned.readers[0].name == f"{english} + {german}"
    assert language_suffix(Path("x/train.DE.zst")) == "de"


def test_mixtures_are_read_in_order(write: Write) -> None:
    both = write("m.tsv", b"1\ta\n")
    left, right = write("x.de", b"2\n3\n"), write("x.en", b"b\nc\n")
    assert pairs_of(both, left, right) == [("1", "a"), ("2", "b"), ("3", "c")]
    assert pairs_of(left, both, right) == [("1", "a"), ("2", "b"), ("3", "c")]


def test_paths_are_no_patterns(write: Write) -> None:
    write("a1.tsv", b"wrong\tfile\n")
    assert pairs_of(write("a[1].tsv", b"right\tfile\n")) == [("right", "file")]


def test_what_cannot_be_read_is_refused_at_once(write: Write, tmp_path: Path) -> None:
    one = write("a.de", b"x\n")
    with pytest.raises(ConfigError, match="has no partner"):
        open_corpora([one])
    with pytest.raises(DataError, match="does not exist"):
        open_corpora([one, str(tmp_path / "b.en")])
    with pytest.raises(DataError, match="is a folder"):
        open_corpora([one, str(tmp_path)])
    with pytest.raises(ConfigError, match=r"PDF is not supported\. Give .*\.tmx"):
        open_corpora([write("m.pdf", b"%PDF-1.7")])
    with pytest.raises(DataError, match=r"m\.de is PDF, not plain text"):
        open_corpora([write("m.de", b"%PDF-1.7"), one])
