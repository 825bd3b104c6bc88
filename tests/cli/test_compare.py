"""`mt compare`: what is told of two systems and more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.runs import run_here
from tests.cases.toy import as_bytes

REFERENCE = ["the red boat sails north", "we sold two small lamps today", "rain fell"]
OLD = ["the red boat sails north", "we sold two lamps", "rain fell hard today"]
NEW = ["the red boat sails north", "we sold two small lamps today", "snow fell over there"]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "ref": REFERENCE,
        "old": OLD,
        "new": NEW,
        "source": ["eins", "zwei", "drei"],
        "train": ["the boat", "the lamps"],
        "origins": ["news", "web", "news"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_bytes(as_bytes(lines))
    return {name: tmp_path / name for name in texts}


def arguments(files: dict[str, Path]) -> tuple[str | Path, ...]:
    return "compare", files["ref"], "--sys", files["old"], "--sys", files["new"]


def test_all_that_differs_is_told(files: dict[str, Path]) -> None:
    run = run_here(
        *arguments(files),
        *("--source", files["source"], "--train", files["train"], "--origins", files["origins"]),
    ).check()
    text = "\n".join(run.lines)
    assert f"A: {files['old']}\nB: {files['new']}\n" in text
    assert "chrF2 by sentence: B is better in 1, as good in 1, worse in 1" in text
    assert "1–4" in text
    assert "\nweb" in text
    assert "F1 of words by occurrences in training" in text
    better, worse = text.split("Where B is better by most")[1].split("Where B is worse by most")
    assert "line 2:" in better
    assert "source     zwei" in better
    assert "A          we sold two lamps" in better
    assert "line 3:" in worse
    assert run.err == ""


def test_json_holds_it_for_each_system_after_the_first(files: dict[str, Path]) -> None:
    run = run_here(
        *arguments(files), *("--sys", files["ref"], "--json", "--origins", files["origins"])
    ).check()
    one, two = json.loads(run.out)
    assert one["systems"] == [str(files["old"]), str(files["new"])]
    assert two["systems"] == [str(files["old"]), str(files["ref"])]
    assert two["sentences"] == {"wins": 2, "ties": 1, "losses": 0}
    assert [row["name"] for row in one["scores"]] == ["BLEU", "chrF2", "chrF2++", "TER", "exact"]
    assert all(0 < row["p_value"] <= 1 for row in one["scores"])
    evaluated = json.loads(
        run_here("eval", "--hyp", files["old"], files["ref"], "--json").check().out
    )
    assert [row["scores"][0] for row in one["scores"]] == [
        row["score"] for row in evaluated["scores"]
    ]
    lengths = one["groups"]["words of the reference"]
    assert [(row["group"], row["sentences"]) for row in lengths] == [("1–4", 1), ("5–9", 2)]
    assert [row["group"] for row in one["groups"]["origin"]] == ["news", "web"]
    assert [each["line"] for each in one["gains"]] == [2]
    assert "source" not in one["gains"][0]


def test_files_that_do_not_fit_are_refused(files: dict[str, Path]) -> None:
    files["origins"].write_bytes(b"news\n")
    run = run_here(*arguments(files), "--origins", files["origins"])
    assert f"{files['origins']} has 1 lines, the references have 3" in run.check_refusal()
    run = run_here("compare", files["ref"], "--sys", files["old"])
    assert "give two --sys" in run.check(2).err
    run = run_here("compare", files["ref"], "--sys", files["old"], "--sys", files["old"])
    assert "--sys" in run.check_refusal(status=2)
