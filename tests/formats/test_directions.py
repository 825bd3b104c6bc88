"""Corpora of several directions: what each file holds, and how it is read in each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt.directions import Direction, parse_directions
from mt.errors import ConfigError, DataError
from mt.formats.directions import open_directions
from mt.formats.options import ReadingOptions

ROWS = [("a en", "a de", "a sw"), ("b en", "b de", "b sw")]
DIRECTIONS = parse_directions("en-de,de-en,sw-en,de-sw")


def aligned(folder: Path) -> list[str]:
    for column, language in enumerate(("en", "de", "sw")):
        text = "".join(f"{row[column]}\n" for row in ROWS)
        (folder / f"x.{language}").write_text(text, "utf-8")
    names = ["en", "de", "en", "sw", "sw", "de"]
    return [str(folder / f"x.{name}") for name in names]


def separated(folder: Path, suffix: str, between: str) -> list[str]:
    path = folder / f"x.{suffix}"
    rows = [("en", "deu", "sw"), *ROWS]
    path.write_text("".join(f"{between.join(row)}\n" for row in rows), "utf-8")
    return [str(path)]


def json_lines(folder: Path) -> list[str]:
    path = folder / "x.jsonl"
    rows = [dict(zip(("en", "de", "sw"), row, strict=True)) for row in ROWS]
    path.write_text("".join(f"{json.dumps({'translation': row})}\n" for row in rows), "utf-8")
    return [str(path)]


def memory(folder: Path) -> list[str]:
    path = folder / "x.tmx"
    units = [
        "<tu>"
        + "".join(
            f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>'
            for code, text in zip(("en-GB", "de", "sw"), row, strict=True)
        )
        + "</tu>"
        for row in ROWS
    ]
    path.write_text(f'<tmx version="1.4"><header/><body>{"".join(units)}</body></tmx>', "utf-8")
    return [str(path)]


def parquet(folder: Path) -> list[str]:
    import pyarrow
    from pyarrow import parquet

    rows = [dict(zip(("en", "de", "sw"), row, strict=True)) for row in ROWS]
    path = folder / "x.parquet"
    parquet.write_table(pyarrow.table({"translation": rows}), path)
    return [str(path)]


FORMS = {
    "aligned": aligned,
    "tsv": lambda folder: separated(folder, "tsv", "\t"),
    "csv": lambda folder: separated(folder, "csv", ","),
    "jsonl": json_lines,
    "tmx": memory,
    "parquet": parquet,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_is_read_in_each_direction_that_it_holds(form: str, tmp_path: Path) -> None:
    readers = open_directions(FORMS[form](tmp_path), DIRECTIONS, ReadingOptions())
    assert [each.direction for each in readers] == list(DIRECTIONS)
    for reader in readers:
        columns = [("en", "de", "sw").index(code) for code in reader.direction]
        pairs = [(pair.source, pair.target) for pair in reader]
        assert pairs == [(row[columns[0]], row[columns[1]]) for row in ROWS]
    contents = [b"".join(reader.content() or ()) for reader in readers]
    assert len(set(contents)) == len(readers)


def test_a_unit_of_other_languages_is_a_pair_with_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    rows = [{"en": "a", "de": "b"}, {"en": "c", "sw": "d"}, {"de": "e", "sw": "f"}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (reader,) = open_directions([str(path)], [Direction("en", "de")], ReadingOptions())
    assert [(each.source, each.target, each.fault) for each in reader] == [
        ("a", "b", ""),
        ("", "", "no target"),
        ("", "", "no source"),
    ]


@pytest.mark.parametrize("turns", [True, False])
def test_a_name_says_the_direction_of_source_and_target(tmp_path: Path, *, turns: bool) -> None:
    path = tmp_path / "news.en-de.jsonl"
    path.write_text('{"source": "a", "target": "b", "score": -1}\n', "utf-8")
    readers = open_directions([str(path)], DIRECTIONS, ReadingOptions(), turns=turns)
    found = {str(each.direction): [pair[:2] for pair in each] for each in readers}
    expected = {"en-de": [("a", "b")], "de-en": [("b", "a")]}
    assert found == (expected if turns else {"en-de": [("a", "b")]})


def test_what_says_no_language_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\n", "utf-8")
    with pytest.raises(DataError, match="holds none of the directions en-de"):
        open_directions([str(path)], DIRECTIONS, ReadingOptions())
    with pytest.raises(ConfigError, match="standard input"):
        open_directions(["-"], DIRECTIONS, ReadingOptions())
