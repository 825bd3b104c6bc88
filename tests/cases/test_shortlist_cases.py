"""`mt shortlist` and `--shortlist`, from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mt.translation.shortlist import Shortlist
from mt.translation.translator import Translator
from tests.cases.runs import Run, run_here
from tests.cases.toy import (
    LEXICON,
    WORDS,
    Toy,
    as_bytes,
    as_lines,
    sentence,
    target_of,
    toy_sources,
)

_FILE = "shortlist.safetensors"
_FEW = ("--per-piece", "4", "--frequent", "24")


@pytest.fixture(scope="module")
def short_model(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy model with a shortlist; tests do not change it."""
    folder = tmp_path_factory.mktemp("short") / "model"
    shutil.copytree(model, folder)
    run_here("shortlist", "-m", folder, *_FEW).check()
    return folder


def translate(model: Path, lines: list[str], *options: str) -> Run:
    return run_here("translate", "-m", model, *options, stdin=as_bytes(lines)).check()


def test_the_lists_hold_what_the_lexicon_says(short_model: Path) -> None:
    tokenizers = Translator.load(short_model, device="cpu").tokenizers
    shortlist = Shortlist.load(short_model, tokenizers)
    for source, target in LEXICON.items():
        candidates = set(shortlist.candidates(tokenizers.source.encode(source)).tolist())
        assert set(tokenizers.target.encode(target)) <= candidates
    assert len(candidates) < 40


def test_it_translates_as_without(short_model: Path) -> None:
    sources = [*toy_sources(60, seed="shortlist"), ""]
    found, expected = (
        translate(short_model, sources, "--shortlist"),
        translate(short_model, sources),
    )
    same = sum(ours == theirs for ours, theirs in zip(found.lines, expected.lines, strict=True))
    assert same >= 58
    assert "whole vocabulary" not in found.err
    alone = translate(short_model, sources, "--shortlist", "--batch-size", "1", "--workers", "1")
    assert alone.out == found.out


def test_what_the_list_does_not_know_is_counted(short_model: Path) -> None:
    lines = ["café 我", *toy_sources(3, seed="shortlist"), "我"]
    found = translate(short_model, lines, "--shortlist")
    assert found.lines[0] == translate(short_model, lines).lines[0]
    text = (
        "2 sentences searched over the whole vocabulary: "
        "2 with a piece that the shortlist does not know\n"
    )
    assert found.err.endswith(text)


def test_scores_in_json_are_those_of_mt_score(short_model: Path, tmp_path: Path) -> None:
    sources = toy_sources(20, seed="shortlist")
    found = translate(short_model, sources, "--shortlist", "--json", "--n-best", "3")
    pairs = []
    for source, line in zip(sources, found.lines, strict=True):
        hypotheses = json.loads(line)["hypotheses"]
        scores = [each["score"] for each in hypotheses]
        assert scores == sorted(scores, reverse=True)
        pairs += [
            (source, each["text"], each["score"]) for each in hypotheses if each["same_tokens"]
        ]
    files = tmp_path / "source", tmp_path / "target"
    for file, side in zip(files, (0, 1), strict=True):
        file.write_bytes(as_bytes([str(pair[side]) for pair in pairs]))
    expected = run_here("score", "-m", short_model, *files).check().lines
    assert len(expected) >= 20
    assert [pair[2] for pair in pairs] == pytest.approx(
        [float(text) for text in expected], abs=1e-5
    )


def test_eval_takes_a_shortlist(short_model: Path, toy: Toy) -> None:
    plain = run_here("eval", "-m", short_model, *toy.test.arguments, "--json").check()
    short = run_here(
        "eval", "-m", short_model, *toy.test.arguments, "--json", "--shortlist"
    ).check()
    scores = [json.loads(run.out)["scores"][0]["score"] for run in (plain, short)]
    assert scores[1] == pytest.approx(scores[0], abs=5)


def test_it_is_learnt_from_a_corpus_too(own_model: Path, toy: Toy, tmp_path: Path) -> None:
    (own_model / "training" / "tokens.arrow").unlink()
    run = run_here(
        "shortlist", "-m", own_model, *toy.train.arguments, *_FEW, "--pairs", "500"
    ).check()
    assert "learning from 500 of 2000 pairs (0 more are blank or faulty, 0 longer" in run.err
    assert "of 20 validation pairs: lists of" in run.err
    sources = as_lines(toy.test.source.read_bytes())
    found = translate(own_model, sources, "--shortlist").lines
    assert sum(text == target_of(s) for text, s in zip(found, sources, strict=True)) >= 15
    first = (own_model / _FILE).read_bytes()
    run_here("shortlist", "-m", own_model, *toy.train.arguments, *_FEW, "--pairs", "500").check()
    assert (own_model / _FILE).read_bytes() == first


def test_a_folder_without_shortlist_says_how_to_make_one(model: Path, toy: Toy) -> None:
    for command in (
        ("translate", "-m", model, "--shortlist"),
        ("eval", "-m", model, *toy.test.arguments, "--shortlist"),
    ):
        message = run_here(*command, stdin=b"a\n").check_refusal()
        assert message == (
            f"mt: error: {model} has no {_FILE}. Make it with: mt shortlist -m {model}"
        )


def test_a_folder_without_tokens_asks_for_a_corpus(own_model: Path) -> None:
    shutil.rmtree(own_model / "training")
    message = run_here("shortlist", "-m", own_model).check_refusal()
    assert message.startswith(f"mt: error: {own_model} holds no tokens of its training: ")
    assert message.endswith(f"Give a corpus: mt shortlist -m {own_model} CORPUS")
    assert not (own_model / _FILE).exists()


def test_a_corpus_without_usable_pair_is_refused(own_model: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "blank.tsv"
    corpus.write_text("a\t\n\tb\n", "utf-8")
    message = run_here("shortlist", "-m", own_model, corpus).check_refusal()
    assert message == "mt: error: no pair to learn from: 2 read, all blank or faulty"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("shortlist", "--langs", "a-b"), "--langs and --columns have an effect with CORPUS alone"),
        (
            ("eval", "--hyp", "x", "y", "--shortlist"),
            "--shortlist has an effect with -m MODEL alone",
        ),
    ],
)
def test_an_option_without_effect_is_refused(
    arguments: tuple[str, ...], message: str, model: Path
) -> None:
    where = ("-m", str(model)) if arguments[0] == "shortlist" else ()
    run = run_here(*arguments, *where).check(2)
    assert message in run.err


def test_a_damaged_shortlist_is_named(own_model: Path) -> None:
    (own_model / _FILE).write_bytes(b"no tensors")
    message = run_here("translate", "-m", own_model, "--shortlist", stdin=b"a\n").check_refusal()
    assert message.startswith(f"mt: error: {own_model / _FILE} is no shortlist, or is damaged")


def test_a_prefix_is_searched_over_the_whole_vocabulary(short_model: Path, tmp_path: Path) -> None:
    lines = toy_sources(4, seed="shortlist")
    beginnings = tmp_path / "beginnings"
    beginnings.write_text("\nZörg\n\n\n", "utf-8")
    options = ("--prefix", str(beginnings))
    found = translate(short_model, lines, "--shortlist", *options)
    assert found.lines[1].startswith("Zörg")
    assert found.lines[1] == translate(short_model, lines, *options).lines[1]
    free = translate(short_model, lines, "--shortlist").lines
    assert [found.lines[i] for i in (0, 2, 3)] == [free[i] for i in (0, 2, 3)]
    assert found.err.endswith("1 sentence searched over the whole vocabulary: 1 with a prefix\n")


@pytest.mark.parametrize("command", ["translate", "eval"])
def test_terms_are_honoured_with_a_shortlist(
    command: str, short_model: Path, toy: Toy, tmp_path: Path
) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text(f"{WORDS[0]}\tZörg-7\n", "utf-8")
    options = ("--shortlist", "--glossary", str(terms))
    if command == "eval":
        run = run_here("eval", "-m", short_model, *toy.test.arguments, *options).check()
    else:
        run = translate(short_model, [sentence(0, 2), sentence(1, 3)], *options)
        assert ["Zörg-7" in text for text in run.lines] == [True, False]
    (told,) = [line for line in run.err.splitlines() if line.startswith("terms: ")]
    assert told.endswith("honoured (100.0 %)")


def test_an_ensemble_takes_the_shortlist_of_its_first_model(
    model: Path, short_model: Path, tmp_path: Path
) -> None:
    sources = toy_sources(20, seed="shortlist")
    found = translate(short_model, sources, "-m", str(model), "--shortlist", "--json")
    texts = [json.loads(line)["hypotheses"][0] for line in found.lines]
    alone = translate(short_model, sources, "--shortlist").lines
    assert [each["text"] for each in texts] == alone
    files = tmp_path / "source", tmp_path / "target"
    for file, side in zip(files, (sources, alone), strict=True):
        file.write_bytes(as_bytes(side))
    scores = run_here("score", "-m", short_model, "-m", model, *files).check().lines
    expected = [float(text) for text in scores]
    assert [each["score"] for each in texts] == pytest.approx(expected, abs=1e-4)
    refused = run_here(
        "translate", "-m", model, "-m", short_model, "--shortlist", stdin=b"a\n"
    ).check_refusal()
    assert refused.startswith(f"mt: error: {model} has no {_FILE}. Make it with: mt shortlist")
