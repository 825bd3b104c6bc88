"""The table of usual case in model folders, and what commands say of lines that are recased."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt.text.truecase_table import FILE, load_truecaser
from tests.cases.runs import UNTRAINED, Run, run_here

GERMAN = (
    "Heute kauft die Frau ein Haus.",
    "Morgen schläft der Mann in dem Garten.",
    "Wir sehen die Katze in der Straße.",
    "Ich gebe dem Kind ein Brot.",
) * 10
CAPITALS = "DIE FRAU SCHLÄFT IN DEM GARTEN."
RECASED = "Die Frau schläft in dem Garten."


def train(folder: Path, sources: tuple[str, ...], *options: str | Path) -> Run:
    pairs = [(f"{line} {i}.", f"{line} {i}!") for i, line in enumerate(sources)]
    folder.parent.mkdir(exist_ok=True)
    files = [folder.with_suffix(".de"), folder.with_suffix(".en")]
    for path, side in zip(files, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), "utf-8")
    held_out = ("--set", "corpus.held_out=4")
    return run_here("train", *files, *held_out, *options, "-o", folder).check()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("case")
    train(place / "one", GERMAN, *UNTRAINED)
    return place


def test_commands_say_which_lines_they_recased(place: Path, tmp_path: Path) -> None:
    model = place / "one"
    text = f"{RECASED}\n{CAPITALS}\n{CAPITALS.lower()}\n".encode()
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(text)
    target.write_text("Gut!\n" * 3, "utf-8")
    command = ("translate", "-m", model, "--json", "--prefix", target)  # it has learnt no text yet
    run = run_here(*command, stdin=text).check()
    assert [json.loads(line).get("recased") for line in run.lines] == [None, RECASED, RECASED]
    assert (
        "mt: 2 lines in capitals or without any read in usual case (the first: line 2)" in run.err
    )
    kept = run_here(*command, "--keep-case", stdin=text).check()
    assert not any("recased" in json.loads(line) for line in kept.lines)
    assert "usual case" not in kept.err
    run = run_here("score", "-m", model, "--json", source, target).check()
    assert [json.loads(line).get("recased") for line in run.lines] == [None, RECASED, RECASED]
    run = run_here("score", "-m", model, "--json", "--keep-case", source, target).check()
    assert not any("recased" in json.loads(line) for line in run.lines)
    # Without a prefix the model writes nothing, which mt eval refuses to score.
    run = run_here("eval", "-m", model, source, target)
    assert "2 lines in capitals or without any" in run.err
    kept = run_here("eval", "-m", model, "--keep-case", source, target)
    assert "translates all 3 lines" in kept.err
    assert "usual case" not in kept.err


def test_a_prepared_corpus_is_taken_over_with_its_table(place: Path) -> None:
    run = train(place / "two", GERMAN, *UNTRAINED)
    assert "is taken over" in run.err
    assert (place / "two" / FILE).read_bytes() == (place / "one" / FILE).read_bytes()
    # The language decides about the capitals of i, which Turkish has two of.
    run = train(place / "turkish", GERMAN, *UNTRAINED, "--langs", "tr-en")
    assert "is taken over" not in run.err


def test_a_fine_tuned_model_knows_the_words_of_both_corpora(place: Path) -> None:
    sources = ("Hier ist ein Hund und eine Katze.", "Dort ist das Haus.") * 20
    options = ("--from", place / "one", "--updates", "1")
    for name in ("tuned", "taken-over"):
        run = train(place / name, sources, *options)
        assert ("is taken over" in run.err) is (name == "taken-over")
        truecaser = load_truecaser(place / name)
        assert truecaser is not None
        assert {"Hund", "Katze", "Garten", "schläft"} <= set(truecaser.forms)


def test_an_average_keeps_the_table(place: Path) -> None:
    train(place / "other", GERMAN, *UNTRAINED, "--seed", "2")
    run_here("average", place / "one", place / "other", "-o", place / "mean").check()
    assert (place / "mean" / FILE).read_bytes() == (place / "one" / FILE).read_bytes()


def test_a_damaged_table_is_refused(place: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for path in (place / "one").iterdir():
        if path.is_file():
            (model / path.name).write_bytes(path.read_bytes())
    (model / FILE).write_bytes((model / FILE).read_bytes()[:-2])
    message = run_here("translate", "-m", model, stdin=b"Haus\n").check_refusal()
    assert FILE in message
    assert "damaged" in message


def test_a_model_of_symbols_has_no_table(tmp_path: Path) -> None:
    train(tmp_path / "symbols", GERMAN, *UNTRAINED, "--tokenizer", "symbols")
    assert not (tmp_path / "symbols" / FILE).exists()
