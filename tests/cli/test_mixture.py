"""`mt train` on several corpora: origins, weights, filters, and taking over what is prepared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mt.preparation import pipeline
from tests.cases.runs import UNTRAINED as FASTEST
from tests.cases.runs import run_here
from tests.cli.starter import STARTER

UNTRAINED = (*FASTEST, "--vocab-size", "400")

TMX = """<?xml version="1.0" encoding="utf-8"?><tmx version="1.4"><header srclang="de"/><body>
<tu><tuv xml:lang="de"><seg>Neu.</seg></tuv><tuv xml:lang="en"><seg>New.</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Wo ist es?</seg></tuv><tuv xml:lang="en"><seg>Where?</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Allein.</seg></tuv></tu>
</body></tmx>"""


@pytest.fixture
def corpus(tmp_path: Path) -> list[str]:
    """Two aligned files of 100 pairs, tab-separated text of 20 more, and a translation memory."""
    sides = [
        (STARTER / f"train.{language}").read_text("utf-8").split("\n")[:120]
        for language in ("de", "en")
    ]
    for language, lines in zip(("de", "en"), sides, strict=True):
        text = "".join(f"{line}\n" for line in lines[:100])
        (tmp_path / f"train.{language}").write_text(text, "utf-8")
    rows = [f"{s}\t{t}\n" for s, t in zip(*(side[98:] for side in sides), strict=True)]
    (tmp_path / "more.tsv").write_text("".join(rows), "utf-8")
    (tmp_path / "memory.tmx").write_text(TMX, "utf-8")
    return [str(tmp_path / name) for name in ("train.de", "train.en", "more.tsv", "memory.tmx")]


DEV = [
    argument
    for language in ("de", "en")
    for argument in ("--dev", str(STARTER / f"dev.{language}"))
]


def records(folder: Path, event: str) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text("utf-8").split("\n")
    return [r for line in lines if line and (r := json.loads(line))["event"] == event]


def few_of_dev(folder: Path) -> list[str]:
    """Flags for the first pairs of the validation set."""
    arguments = []
    for language in ("de", "en"):
        lines = (STARTER / f"dev.{language}").read_text("utf-8").split("\n")[:50]
        (folder / f"few.{language}").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        arguments += ["--dev", str(folder / f"few.{language}")]
    return arguments


def test_origins_are_counted_weighted_and_scored(corpus: list[str], tmp_path: Path) -> None:
    extra = tmp_path / "dev.tsv"
    extra.write_text("Ja.\tYes.\nNein.\tNo.\n", "utf-8")
    few = few_of_dev(tmp_path)  # a larger set of an untrained model is only looked at
    weights = ("--weight", f"{corpus[1]}=2", "--weight", f"{corpus[3]}=0.5")
    run = run_here(
        "train", *corpus, *few, "--dev", extra, "-o", tmp_path / "m", *UNTRAINED, *weights
    ).check()
    told = [
        "corpus: 125 pairs read, 122 used, 3 dropped (duplicate: 2, no target: 1)",
        f"  {corpus[0]}: 100 pairs read, 100 used, 0 dropped, 2 times an epoch",
        f"  {corpus[2]}: 22 pairs read, 20 used, 2 dropped (duplicate: 2)",
        f"  {corpus[3]}: 3 pairs read, 2 used, 1 dropped (no target: 1), 0.5 times an epoch",
    ]
    for line in told:
        assert line in run.err.split("\n")
    (validated,) = records(tmp_path / "m", "Validated")
    assert set(validated["by_origin"]) == {few[1], str(extra)}
    assert all(set(scores) == {"BLEU", "chrF2"} for scores in validated["by_origin"].values())
    assert f"    {extra}: BLEU" in run.err
    assert "warning: on the 52 dev pairs the model scores BLEU " in run.err
    assert ", the nearest of 122 training pairs " in run.err
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    assert "| corpus | BLAKE2b | times an epoch | read | used | held out | duplicate |" in card
    (row,) = [line for line in card.split("\n") if line.startswith(f"| {corpus[0]} |")]
    assert row.split(" | ")[2:] == ["2", "100", "100", "0", "0", "0 |"]
    assert f"| dev {extra} | BLEU" in card
    assert "weights = [2.0, 1.0, 0.5]" in (tmp_path / "m" / "config.toml").read_text("utf-8")


def test_a_weight_changes_what_an_epoch_holds(corpus: list[str], tmp_path: Path) -> None:
    tokens = {}
    for name, given in (("once", ()), ("thrice", ("--weight", f"{corpus[0]}=3"))):
        plan = (*UNTRAINED, "--batch-tokens", "4096", *given)
        run_here("train", *corpus[:2], *DEV, "-o", tmp_path / name, *plan).check()
        (started,) = records(tmp_path / name, "TrainingStarted")
        tokens[name] = started["updates_per_epoch"]
    assert tokens["thrice"] > tokens["once"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--weight", "other.tsv=2"), "--weight other.tsv=2 names no corpus"),
        (("--weight", "2"), "--weight '2' is not of the form FILE=W"),
        (("--weight", "more.tsv=-1"), "is not of the form FILE=W"),
        (("--weight", "more.tsv=nan"), "is not of the form FILE=W"),
        (("--set", "corpus.weights=[1.0]"), "corpus.weights has 1 numbers, but there are 3"),
        (("--set", "corpus.weights=[0.0, 0.0, 0.0]"), "must not be negative, nor all zero"),
        (("--set", "corpus.drop=['cpoy']"), "corpus.drop must be one of"),
        (("--set", "corpus.drop=copy"), "corpus.drop must be a list, but is 'copy'"),
        (("--drop", "cpoy"), "'cpoy' is not one of"),
    ],
)
def test_wrong_weights_and_filters_are_refused(
    options: tuple[str, str], message: str, corpus: list[str], tmp_path: Path
) -> None:
    run = run_here("train", *corpus, "-o", tmp_path / "m", *UNTRAINED, *options)
    assert message in run.check(2).err
    assert not (tmp_path / "m").exists()


def test_filters_are_added_and_taken_away_by_name(corpus: list[str], tmp_path: Path) -> None:
    with Path(corpus[2]).open("a", encoding="utf-8") as file:
        file.write("OK\tOK\n<b>Ja</b>\tYes\n")
    flags = ("--drop", "copy", "--drop", "markup", "--keep", "duplicate")
    run = run_here("train", *corpus, *DEV, "-o", tmp_path / "m", *UNTRAINED, *flags).check()
    assert "3 dropped (no target: 1, copy: 1, markup: 1)" in run.err or (
        "3 dropped (copy: 1, markup: 1, no target: 1)" in run.err
    )
    config = (tmp_path / "m" / "config.toml").read_text("utf-8")
    assert 'drop = ["long", "ratio", "overlap_source", "copy", "markup"]' in config


def arrow(folder: Path) -> Path:
    return folder / "training" / pipeline.TOKENS


@pytest.mark.parametrize("dev", [DEV, []], ids=["given", "held out"])
def test_a_corpus_prepared_beside_is_taken_over(
    dev: list[str], corpus: list[str], tmp_path: Path
) -> None:
    first = run_here("train", *corpus, *dev, "-o", tmp_path / "a", *UNTRAINED).check()
    assert "taken over" not in first.err
    moved = tmp_path / "moved"
    moved.mkdir()
    paths = [shutil.copy(path, moved) for path in corpus]
    second = run_here("train", *paths, *dev, "-o", tmp_path / "b", *UNTRAINED).check()
    assert f"the prepared corpus of {tmp_path / 'a'} is taken over" in second.err
    assert arrow(tmp_path / "a").samefile(arrow(tmp_path / "b"))
    anew = ("--rejected", tmp_path / "rejected.tsv")
    third = run_here("train", *paths, *dev, "-o", tmp_path / "c", *UNTRAINED, *anew).check()
    assert "taken over" not in third.err
    assert arrow(tmp_path / "c").read_bytes() == arrow(tmp_path / "b").read_bytes()
    for name in ("model.safetensors", "tokenizer.model", "config.toml", "dev.source", "dev.target"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "c" / name).read_bytes()
    said = [line for line in third.err.split("\n") if "pairs" in line]
    assert said == [line for line in second.err.split("\n") if "pairs" in line]
    assert str(moved / "memory.tmx") in second.err
    shutil.rmtree(tmp_path / "a")
    run_here("train", "--resume", tmp_path / "b", "--updates", "2").check()


def test_another_text_or_setting_is_prepared_anew(corpus: list[str], tmp_path: Path) -> None:
    run_here("train", *corpus, *DEV, "-o", tmp_path / "a", *UNTRAINED).check()
    changes: list[tuple[str, ...]] = [
        ("--keep", "duplicate"),
        ("--set", "corpus.max_length=60"),
        ("--set", "tokenizer.kind=bpe"),
        ("--against", str(STARTER / "test.de"), "--against", str(STARTER / "test.en")),
        ("--langs", "de-en"),
    ]
    for number, change in enumerate(changes):
        run = run_here("train", *corpus, *DEV, "-o", tmp_path / str(number), *UNTRAINED, *change)
        is_same = change[0] == "--langs"  # they were found before
        assert ("taken over" in run.check().err) == is_same, change
    with Path(corpus[2]).open("a", encoding="utf-8") as file:
        file.write("Ein Satz mehr.\tOne more.\n")
    run = run_here("train", *corpus, *DEV, "-o", tmp_path / "more", *UNTRAINED).check()
    assert "taken over" not in run.err
    assert "126 pairs read, 123 used" in run.err


def test_a_corpus_that_changes_while_it_is_read_is_refused(
    corpus: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = pipeline.store_texts

    def read_while_growing(*arguments: Any, **options: Any) -> Any:
        cleaner = read(*arguments, **options)
        with Path(corpus[2]).open("a", encoding="utf-8") as file:
            file.write("Noch einer.\tAnother.\n")
        return cleaner

    monkeypatch.setattr(pipeline, "store_texts", read_while_growing)
    run = run_here("train", *corpus, *DEV, "-o", tmp_path / "m", *UNTRAINED)
    assert "the corpus changed while it was read" in run.check_refusal()
    assert not (tmp_path / "m").exists()
