"""`mt check`: a table for people, an object for programs, a status for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt.corpus.checks.finding import KINDS
from tests.cli.starter import DE, EN, STARTER, status_of


def test_the_starter_corpus_is_clean_of_its_test_set(capfd: pytest.CaptureFixture[str]) -> None:
    train = [str(STARTER / f"train.{language}") for language in ("de", "en")]
    assert status_of("check", *train, "--against", DE, "--against", EN, "--json") == 0
    report = json.loads(capfd.readouterr().out)
    assert report["pairs"] == 14_000
    assert not [finding for finding in report["findings"] if finding["level"] == "fault"]


def test_an_overlap_is_a_fault_with_count_examples_and_status(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert status_of("check", DE, EN, "--against", DE, "--against", EN, "--json") == 1
    report = json.loads(capfd.readouterr().out)
    finding = next(f for f in report["findings"] if f["id"] == "overlap_pair")
    assert (finding["count"], finding["out_of"], len(finding["examples"])) == (500, 500, 3)
    assert set(finding["examples"][0]) == {"place", "text"}
    assert status_of("check", DE, EN, "--against", DE, "--against", EN) == 1
    text = capfd.readouterr().out
    assert "500 of 500 --against pairs that occur in the corpus  [overlap_pair]" in text


def test_unequal_sides_and_bad_bytes_are_findings_not_ends(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.de").write_bytes(b"eins\nzw\xffei\ndrei\n")
    (tmp_path / "a.en").write_bytes(b"one\ntwo\n")
    assert status_of("check", "a.de", "a.en", "--json") == 1
    report = json.loads(capfd.readouterr().out)
    found = {finding["id"]: finding for finding in report["findings"]}
    assert set(found) == {"unreadable", "not_utf8"}
    assert "has 3 lines" in found["unreadable"]["examples"][0]["text"]
    assert found["not_utf8"]["examples"][0]["place"].endswith("a.de:2")


def test_the_reason_is_whole_and_names_the_file_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """F12."""
    path = tmp_path / ("long" * 20) / "a.csv"
    path.parent.mkdir()
    path.write_text("source,target\na,b\nc,d,e\n")
    assert status_of("check", str(path)) == 1
    out = capfd.readouterr().out
    (line,) = [line for line in out.split("\n") if "3 columns" in line]
    assert line.strip() == (
        f"{path}: 3: 3 columns, but there must be 2. "
        "Each line holds source, one tab, target; or choose with --columns"
    )
    files = [tmp_path / "b.de", tmp_path / "b.en"]
    for file, text in zip(files, ("a\nb\n", "c\n"), strict=True):
        file.write_text(text)
    assert status_of("check", *map(str, files)) == 1
    assert "must translate line n of the other" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["a.tsv", "a.po", "a.jsonl", "a.csv"])
def test_a_corpus_without_a_pair_is_a_fault(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """F12."""
    (tmp_path / name).write_bytes(b"")
    assert status_of("check", str(tmp_path / name), "--json") == 1
    (finding,) = json.loads(capfd.readouterr().out)["findings"]
    assert (finding["id"], finding["level"]) == ("empty", "fault")


def test_languages_in_three_letters_are_those_in_two(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Swapped files are reported whichever code the languages have, by flag or by file name."""
    for code, side in zip(("en", "de"), (DE, EN), strict=True):
        (tmp_path / f"c.{code}").write_bytes(Path(side).read_bytes())
    swapped = str(tmp_path / "c.en"), str(tmp_path / "c.de")
    assert status_of("check", *swapped, "--langs", "en-de", "--json") == 0
    report = json.loads(capfd.readouterr().out)
    (finding,) = [each for each in report["findings"] if each["id"] == "unexpected_language"]
    assert [each["text"] for each in finding["examples"]] == [
        "most is de, not en",
        "most is en, not de",
    ]
    for langs in ("eng-deu", "eng-ger", "ENG:deu_Latn", "en_GB:de-AT"):
        for paths in (swapped, swapped[::-1]):
            assert status_of("check", *paths, "--langs", langs, "--json") == 0
            assert json.loads(capfd.readouterr().out) == report
    named = [tmp_path / "c.eng", tmp_path / "c.ger"]
    for path, old in zip(named, swapped, strict=True):
        Path(old).rename(path)
    assert status_of("check", *map(str, named), "--json") == 0
    assert json.loads(capfd.readouterr().out)["findings"][0]["examples"] == finding["examples"]


def test_every_fault_that_a_reader_gives_is_a_kind() -> None:
    from mt.formats import pair, po, spreadsheet, usfm, xliff, xliff_states, xml

    faults = [
        *(pair.INVALID, pair.NO_SOURCE, pair.NO_TARGET, po.FUZZY, po.OBSOLETE, usfm.OUTSIDE),
        *(xliff.OTHER_LANGUAGES, xliff.UNEQUAL_SEGMENTS, xml.UNREADABLE_CHARACTER),
        *(xliff_states.UNTRANSLATED, xliff_states.UNCONFIRMED, spreadsheet.OTHER_SHEET),
    ]
    for fault in faults:
        assert fault.lower().replace(" ", "_").replace("-", "") in KINDS
