"""`mt train --from PARENT --also-dev SET`: what a run forgets of another domain is measured."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mt.reporting.curves import read_curves
from tests.cases.model_files import records, same_tensors
from tests.cases.runs import SMALL, Run, run_here
from tests.cli.starter import BRIEF, MACHINE, write_corpus

ROOT = Path(__file__).parents[2]
EACH = ("--set", "training.validate_every=1", "--set", "training.metric=loss")
FASTER = ("--set", "training.peak_rate=0.002", "--set", "training.warmup_updates=1")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of German to English; tests do not change it."""
    folder = tmp_path_factory.mktemp("base")
    corpus = write_corpus(folder, "train", 0)
    options = (*SMALL, "--vocab-size", "400", "--threads", "1", "--updates", "3")
    run_here("train", *corpus, "-o", folder / "old", *options).check()
    return folder / "old"


def train(base: Path, output: Path, *options: str | Path) -> Run:
    corpus = write_corpus(output.parent, "more", 100)
    old = [each for path in write_corpus(output.parent, "old", 0) for each in ("--also-dev", path)]
    start = ("--from", base, "-o", output)
    return run_here("train", *corpus, *start, *BRIEF, *EACH, *FASTER, *old, *options).check()


def test_the_other_set_is_scored_from_before_the_first_update_to_the_end(
    base: Path, tmp_path: Path
) -> None:
    run = train(base, tmp_path / "new")
    name = str(tmp_path / "old.de")
    found = records(tmp_path / "new", "Validated")
    assert [record["update"] for record in found] == [0, 1, 2]
    assert [set(record["also"]) for record in found] == [{name}] * 3
    best = max((each for each in found if each["is_best"]), key=lambda each: each["update"])
    assert best["update"] > 0
    pair = (tmp_path / "old.de", tmp_path / "old.en")
    for model, record in ((base, found[0]), (tmp_path / "new", best)):
        scored = run_here("eval", "-m", model, *pair, "--device", "cpu").check().lines
        for line, score in zip(scored, ("BLEU", "chrF2"), strict=False):
            assert line.startswith(f"{score} {record['also'][name][score]:.2f} ")
    changes = ", ".join(
        f"{score} {found[0]['also'][name][score]:.2f} → {best['also'][name][score]:.2f}"
        for score in ("BLEU", "chrF2")
    )
    assert f"{name}, before this run → now: {changes}" in run.err
    card = (tmp_path / "new" / "README.md").read_text("utf-8")
    assert f"| also {name}: BLEU before | {found[0]['also'][name]['BLEU']:.2f} |" in card
    assert f"| also {name}: BLEU | {best['also'][name]['BLEU']:.2f} |" in card
    series = read_curves(tmp_path / "new").points(f"also/chrF2/{name}")
    assert [point.value for point in series] == [each["also"][name]["chrF2"] for each in found]
    page = tmp_path / "page.html"
    run_here("report", tmp_path / "new", "--training-only", "-o", page).check()
    assert "Scores of further validation sets" in page.read_text("utf-8")


def test_it_decides_nothing_and_its_lines_are_not_trained_on(base: Path, tmp_path: Path) -> None:
    """The same run without it, which keeps the lines out, gives the same weights and scores."""
    train(base, tmp_path / "with")
    corpus = [str(tmp_path / f"more.{language}") for language in ("de", "en")]
    old = [str(tmp_path / f"old.{language}") for language in ("de", "en")]
    against = [word for path in old for word in ("--against", path)]
    options = ("--from", base, *BRIEF, *EACH, *FASTER)
    run_here("train", *corpus, "-o", tmp_path / "without", *options, *against).check()
    assert same_tensors(tmp_path / "with", tmp_path / "without")
    scores = [
        [(each["scores"], each["is_best"]) for each in records(tmp_path / name, "Validated")]
        for name in ("with", "without")
    ]
    assert scores[0] == scores[1]
    also = [word for path in old for word in ("--also-dev", path)]
    mixed = tmp_path / "mixed"
    run = run_here("train", *corpus, *old, "-o", mixed, *options, *also).check()
    assert "60 dropped (overlap" in run.err


def test_of_a_large_set_the_same_lines_are_scored_each_time(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt.tasks.also_dev._MOST", 20)
    train(base, tmp_path / "new")
    name = f"{tmp_path / 'old.de'} (20 of 60 pairs)"
    assert all(set(each["also"]) == {name} for each in records(tmp_path / "new", "Validated"))
    kept = (tmp_path / "new" / "training" / "also-dev.source").read_text("utf-8").split("\n")[:-1]
    assert kept == (tmp_path / "old.de").read_text("utf-8").split("\n")[:-1][::3]


def test_several_sets_are_scored_by_themselves_and_a_resumed_run_goes_on(
    base: Path, tmp_path: Path
) -> None:
    lines = (tmp_path / "third.tsv", "Ein Haus.\tA house.\nZwei Hunde.\tTwo dogs.\n")
    lines[0].write_text(lines[1], "utf-8")
    train(base, tmp_path / "new", "--also-dev", lines[0], "--langs", "de-en")
    run = run_here("train", "--resume", tmp_path / "new", "--updates", "3", *MACHINE).check()
    names = {str(lines[0]), str(tmp_path / "old.de")}
    found = records(tmp_path / "new", "Validated")
    assert [(each["update"], set(each["also"])) for each in found] == [(i, names) for i in range(4)]
    assert run.err.count("before this run → now: BLEU") == 2
    (tmp_path / "new" / "training" / "also-dev.target").unlink()
    run = run_here("train", "--resume", tmp_path / "new", "--updates", "4", *MACHINE)
    assert "also-dev.target is missing or damaged" in run.check_refusal()


def test_without_a_start_there_is_nothing_to_forget(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, "train", 0)
    also = ("--also-dev", corpus[0], "--also-dev", corpus[1])
    run = run_here("train", *corpus, "-o", tmp_path / "new", *BRIEF, *also)
    assert "and there is no --from" in run.check_refusal(status=2)
    assert not (tmp_path / "new").exists()


def test_the_commands_of_the_pages_run(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those on fine-tuning in another domain, and on a parent of another pair."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("new", "new-dev", "old", "old-dev", "big", "train", "dev")):
        for languages in ("de en", "en de", "en lug"):
            write_corpus(tmp_path, name, 60 * number, languages=languages)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "de-en").symlink_to(base)
    small = [*SMALL, "--vocab-size", "400", *BRIEF]
    ran = []
    for page, section in (("training", "## Fine-tuning"), ("low-resource", "## A parent")):
        text = (ROOT / "docs" / f"{page}.md").read_text("utf-8").partition(section)[2]
        for command in re.findall(r"^    mt (train .*)$", text.partition("\n## ")[0], re.MULTILINE):
            arguments = shlex.split(command)
            if "memory.tmx" in arguments:
                continue
            ran.append(arguments)
            run_here(*arguments, *(BRIEF if "--from" in arguments else small)).check()
    assert sum("--also-dev" in each for each in ran) == 2
    assert sum("--weight" in each for each in ran) == 1
    assert sum("--new-tokenizer" in each for each in ran) == 1
