"""`mt check --write`: the pairs that training would take, in the form that is wanted."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from tests.cases.runs import SMALL, run_here
from tests.cases.toy import toy_pairs, write_files

Pair = tuple[str, str]
TEXT = 'a < b & "c"  ]]> \U0001f600\u2028x', "d\x0be"


def read_tsv(path: Path) -> list[Pair]:
    lines = path.read_text("utf-8").split("\n")[:-1]
    rows = list(csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE))
    assert rows[0] == ["source", "target"]
    return [(first, second) for first, second in rows[1:]]


def read_jsonl(path: Path) -> list[Pair]:
    records = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    return [(record["source"], record["target"]) for record in records]


def read_tmx(path: Path) -> list[Pair]:
    units = etree.parse(str(path)).getroot().iter("tu")
    return [tuple(segment.text for segment in unit.iter("seg")) for unit in units]


def read_text(path: Path) -> list[Pair]:
    packed = (path.with_name(f"c.{side}.gz").read_bytes() for side in ("de", "en"))
    sides = (gzip.decompress(each).decode("utf-8").split("\n")[:-1] for each in packed)
    return list(zip(*sides, strict=True))


@pytest.mark.parametrize(
    ("names", "read"),
    [
        (["c.tsv"], read_tsv),
        (["c.jsonl"], read_jsonl),
        (["c.tmx"], read_tmx),
        (["c.de.gz", "c.en.gz"], read_text),
    ],
)
def test_what_is_written_is_what_another_parser_reads(
    tmp_path: Path, names: list[str], read: Callable[[Path], list[Pair]]
) -> None:
    pairs = toy_pairs(8, seed="c")
    corpus = write_files(tmp_path, "a", [pairs[0], *pairs, TEXT, (pairs[1][0], " ")])
    outputs = [word for name in names for word in ("--write", tmp_path / name)]
    checked = run_here("check", *corpus.arguments, *outputs, "--langs", "de-en").check()
    assert "11 pairs read, 9 used, 2 dropped (blank side: 1, duplicate: 1)" in checked.err
    expected = [*pairs, TEXT]
    if read is read_tmx:  # XML has no control characters
        expected[-1] = TEXT[0], "d e"
    assert read(tmp_path / names[0]) == expected


def test_pairs_written_are_the_pairs_trained_on(tmp_path: Path) -> None:
    pairs = toy_pairs(40, seed="t")
    corpus = write_files(tmp_path, "a", [*pairs, *pairs[:5]])
    dev = write_files(tmp_path, "dev", [*pairs[:2], *toy_pairs(3, seed="dev")])
    against = [word for path in dev.arguments for word in ("--against", path)]
    clean = tmp_path / "clean.tsv"
    run_here("check", *corpus.arguments, *against, "--write", clean).check(1)  # an overlap
    rejected = tmp_path / "rejected.tsv"
    flags = ("--rejected", rejected, "--updates", "1", *SMALL)
    run_here("train", *corpus.arguments, *dev.as_dev, "-o", tmp_path / "m", *flags).check()
    left_out = {line.split("\t")[2] for line in rejected.read_text("utf-8").split("\n")[:-1]}
    duplicates = {source for source, _ in pairs[2:5]}
    assert {source for source, _ in read_tsv(clean)} == {
        source for source, _ in pairs if source not in left_out or source in duplicates
    }


def test_findings_are_dropped_or_kept_as_told(tmp_path: Path) -> None:
    pairs = toy_pairs(6, seed="k")
    corpus = write_files(tmp_path, "a", [*pairs, pairs[0], ("Same", "Same")])
    out = tmp_path / "c.tsv"
    flags = ("--keep", "duplicate", "--drop", "copy")
    run_here("check", *corpus.arguments, "--write", out, *flags).check()
    assert read_tsv(out) == [*pairs, pairs[0]]


def test_what_cannot_be_written_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    corpus = write_files(tmp_path, "a", toy_pairs(3, seed="r"))
    first, second = corpus.arguments
    for names, told in (
        (["c.po"], "pairs are not written in this form"),
        (["c.de"], "pairs are not written in this form"),
        (["c.tsv", "d.tsv"], "pairs are not written in this form"),
        ([first, second], "is what is checked"),
    ):
        outputs = [word for name in names for word in ("--write", tmp_path / name)]
        assert told in run_here("check", first, second, *outputs).check_refusal(status=2)
    assert "--write only" in run_here("check", first, second, "--drop", "copy").check(2).err
    before = Path(first).read_bytes()
    (tmp_path / "empty.de").write_text("\n\n", "utf-8")
    (tmp_path / "empty.en").write_text("\n\n", "utf-8")
    out = tmp_path / "none.tsv"
    empty = (tmp_path / "empty.de", tmp_path / "empty.en")
    assert "0 usable pairs" in run_here("check", *empty, "--write", out).check(1).err
    assert not out.exists()
    assert Path(first).read_bytes() == before
