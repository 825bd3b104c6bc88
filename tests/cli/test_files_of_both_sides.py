"""`mt eval` and `mt score` on test sets that are one file with both sides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import polib
import pytest

from tests.cases.runs import SMALL, run_here
from tests.cases.toy import toy_pairs, write_files

PAIRS = toy_pairs(5, seed="test")
ON = ("--device", "cpu", "--precision", "float32")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("both")
    train = write_files(place, "train", toy_pairs(40, seed="train"))
    dev = write_files(place, "dev", toy_pairs(3, seed="dev"))
    arguments = (*train.arguments, *dev.as_dev, "--langs", "de-en")
    run_here("train", *arguments, "-o", place / "m", "--updates", "2", *SMALL).check()
    return place / "m"


def tmx(path: Path) -> None:
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{escape(target)}</seg></tuv>'
        f'<tuv xml:lang="de"><seg>{escape(source)}</seg></tuv></tu>'
        for source, target in PAIRS
    )
    path.write_text(f'<tmx version="1.4"><header/><body>{units}</body></tmx>', "utf-8")


def tsv(path: Path) -> None:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), "utf-8")


def po(path: Path) -> None:
    entries = polib.POFile()
    entries.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    for number, (source, target) in enumerate(PAIRS):
        entries.append(polib.POEntry(msgid=source, msgstr=target, msgctxt=str(number)))
    entries.save(str(path))


def plain(place: Path) -> tuple[Path, Path]:
    sides = place / "test.de", place / "test.en"
    for path, lines in zip(sides, zip(*PAIRS, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return sides


@pytest.mark.parametrize("write", [tmx, tsv, po])
def test_scores_are_those_of_plain_text(
    model: Path, tmp_path: Path, write: Callable[[Path], None]
) -> None:
    source, target = plain(tmp_path)
    both = tmp_path / f"both.{write.__name__}"
    write(both)
    expected = run_here("eval", "-m", model, source, target, "--json", *ON).check().out
    assert run_here("eval", "-m", model, both, "--json", *ON).check().out == expected
    turned = ("--target-language", "en")  # TMX has English first
    given = run_here("eval", "--hyp", target, both, "--json", *turned).check().out
    assert json.loads(given)["scores"][0]["score"] == pytest.approx(100.0)
    lines = run_here("score", "-m", model, source, target, *ON).check().out
    assert run_here("score", "-m", model, both, *ON).check().out == lines


def test_a_unit_without_a_pair_is_told_and_never_shifts_lines(model: Path, tmp_path: Path) -> None:
    both, short = tmp_path / "a.po", tmp_path / "hyp.en"
    po(both)
    entries = polib.pofile(str(both))
    entries[1].msgstr = ""
    entries.save()
    scored = run_here("score", "-m", model, both, *ON).check()
    assert f"{both}: units left out: 1 (no target: 1)" in scored.err
    assert len(scored.lines) == 4
    short.write_text("".join(f"{target}\n" for _, target in PAIRS), "utf-8")
    refused = run_here("eval", "--hyp", short, both)
    assert refused.status == 1
    assert "has 5 lines" in refused.err
    assert "has 4 pairs and others without one (no target: 1)" in refused.err


def test_what_is_missing_or_too_much_is_said(model: Path, tmp_path: Path) -> None:
    source, target = plain(tmp_path)
    both = tmp_path / "both.tmx"
    tmx(both)
    alone = run_here("eval", "-m", model, source)
    assert (alone.status, "REFERENCE" in alone.err) == (2, True)
    alone = run_here("score", "-m", model, source)
    assert (alone.status, "TARGET" in alone.err) == (2, True)
    mixed = run_here("eval", "-m", model, both, target)
    assert mixed.status == 1
    assert f"{both} is TMX, not plain text" in mixed.err
