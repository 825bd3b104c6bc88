"""`mt score`: scores and alignments of given translations, beside those of `mt translate`.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from mt.cli.json_records import translation_records
from mt.config import SearchConfig
from mt.translation.flags import usual_proportion
from mt.translation.options import TranslationOptions
from mt.translation.scorer import Scorer
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.cases.toy import LEXICON, Toy, as_bytes, as_lines, sentence, target_of, toy_sources

_PENALTIES = [
    (),
    ("--length-penalty", "none"),
    ("--length-penalty", "mean"),
    ("--length-penalty", "gnmt", "--alpha", "0"),
    ("--length-penalty", "gnmt", "--alpha", "0.6"),
    ("--length-penalty", "gnmt", "--alpha", "1"),
]


def records(
    model: Path, source: str | Path, target: str | Path, *options: str
) -> list[dict[str, Any]]:
    run = run_here("score", "-m", model, source, target, "--json", *options).check()
    return [json.loads(line) for line in run.lines]


@pytest.mark.parametrize("penalty", _PENALTIES, ids=" ".join)
def test_score_is_the_one_that_translating_reported(
    penalty: tuple[str, ...], model: Path, toy: Toy, tmp_path: Path
) -> None:
    """G06 (sockeye#483, #545, #639, PR#719; OpenNMT-tf PR#456; transformers#15869).

    Of all hypotheses whose text is cut into the tokens that search found.
    """
    stdin = toy.test.source.read_bytes()
    options = ("--json", "--beam", "4", "--n-best", "4", *penalty)
    run = run_here("translate", "-m", model, *options, stdin=stdin).check()
    listed = [
        (record["source"], hypothesis["text"], hypothesis["score"])
        for record in map(json.loads, run.lines)
        for hypothesis in record["hypotheses"]
    ]
    (tmp_path / "source").write_bytes(as_bytes([source for source, _, _ in listed]))
    (tmp_path / "target").write_bytes(as_bytes([text for _, text, _ in listed]))
    files = (tmp_path / "source", tmp_path / "target")
    found = [float(x) for x in run_here("score", "-m", model, *files, *penalty).check().lines]
    assert len(found) == len(listed)
    num_other = sum(
        abs(score - reported) > 1e-4 for (_, _, reported), score in zip(listed, found, strict=True)
    )
    assert num_other <= len(listed) / 10, "text that is cut otherwise; the next test looks at it"


def test_scores_differ_only_where_the_text_is_cut_otherwise(model: Path, toy: Toy) -> None:
    """G06: a score that is another than reported is that of other tokens."""
    options = TranslationOptions(search=SearchConfig(beam=8, n_best=8))
    lines = as_lines(toy.test.source.read_bytes())
    hypotheses = [
        (translation.source, hypothesis)
        for translation in Translator.load(model, options=options).translate(lines)
        for hypothesis in translation.hypotheses
    ]
    scorer = Scorer.load(model)
    scored = scorer.score([(source, each.text) for source, each in hypotheses])
    num_same = 0
    for (_, hypothesis), again in zip(hypotheses, scored, strict=True):
        if again.tokens == hypothesis.tokens:
            assert again.scored.score == pytest.approx(hypothesis.score, abs=1e-4)
            num_same += 1
    assert num_same >= 0.9 * len(hypotheses)


def test_records_of_translations_hold_what_mt_score_says_of_them(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    lines = ["", *as_lines(toy.test.source.read_bytes())]
    search = SearchConfig(beam=3, n_best=3, max_length=9)
    options = TranslationOptions(search=search)
    translations = list(Translator.load(model, options=options).translate(lines))
    scorer = Scorer.load(model, search=search)
    usual = usual_proportion(scorer.examples)
    plain = translation_records(translations, scorer.tokenizers, usual=usual)
    found = translation_records(translations, scorer.tokenizers, usual=usual, scorer=scorer)
    assert [record["source"] for record in found] == lines
    blank = {"text": "", "score": 0.0, "flags": [], "same_tokens": True}
    assert plain[0] == {"source": "", "hypotheses": [blank]}
    assert found[0]["hypotheses"] == [{**blank, "tokens": [], "alignment": []}]
    source = [each.source for each in translations for _ in each.hypotheses]
    hypotheses = [each for record in found for each in record["hypotheses"]]
    (tmp_path / "source").write_bytes(as_bytes(source))
    (tmp_path / "target").write_bytes(as_bytes([each["text"] for each in hypotheses]))
    again = records(model, tmp_path / "source", tmp_path / "target")
    limits = [each.hit_limit for translation in translations for each in translation.hypotheses]
    for ours, theirs, hit_limit in zip(hypotheses, again, limits, strict=True):
        pieces = [token["piece"] for token in ours["tokens"]]
        same = pieces == [token["piece"] for token in theirs["tokens"]]
        assert ours["same_tokens"] == same
        assert ("truncated" in ours["flags"]) == hit_limit
        if same:
            assert theirs["score"] == pytest.approx(ours["score"], abs=1e-4)
            assert theirs["alignment"] == ours["alignment"]
    assert any(limits)


def test_right_translation_scores_better_than_a_wrong_one(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    sources = toy_sources(30, seed="scores")
    (tmp_path / "source").write_bytes(as_bytes(sources))
    scores = []
    for name, shift in (("right", 0), ("wrong", 1)):
        targets = [target_of(source) for source in sources]
        (tmp_path / name).write_bytes(as_bytes(targets[shift:] + targets[:shift]))
        run = run_here("score", "-m", model, tmp_path / "source", tmp_path / name).check()
        assert run.err == ""
        scores.append([float(line) for line in run.lines])
    assert all(right > wrong for right, wrong in zip(*scores, strict=True))


def test_json_holds_scores_of_tokens_that_make_up_the_score(model: Path, toy: Toy) -> None:
    found = records(model, *toy.test.arguments, "--length-penalty", "none")
    sources, targets = (as_lines(Path(path).read_bytes()) for path in toy.test.arguments)
    assert [record["source"] for record in found] == sources
    assert [record["target"] for record in found] == targets
    for record in found:
        pieces = [token["piece"] for token in record["tokens"]]
        assert pieces[-1] == "</s>"
        assert "".join(pieces[:-1]).replace("▁", " ").strip() == record["target"]
        assert "".join(record["source_tokens"]).replace("▁", " ").strip() == record["source"]
        total = sum(token["log_probability"] for token in record["tokens"])
        assert record["score"] == pytest.approx(total)
        assert record["tokens"][-1]["source_token"] is None
        places = [token["source_token"] for token in record["tokens"][:-1]]
        assert all(place is None or place < len(record["source_tokens"]) for place in places)
        assert record["flags"] == []


def test_words_of_the_toy_language_are_aligned_with_their_translations(
    model: Path, toy: Toy
) -> None:
    """Each target word belongs to the source word at its place, since the order is kept."""
    run = run_here("score", "-m", model, *toy.test.arguments, "--alignment").check()
    sources = as_lines(toy.test.source.read_bytes())
    assert len(run.lines) == len(sources)
    found = [link.split("-") for line in run.lines for link in line.split()]
    num_words = sum(len(source.split()) for source in sources)
    num_right = sum(source == target for source, target in found)
    assert num_right >= 0.8 * num_words
    assert num_right >= 0.8 * len(found)
    as_json = [record["alignment"] for record in records(model, *toy.test.arguments)]
    assert [" ".join(f"{s}-{t}" for s, t in links) for links in as_json] == run.lines


def test_alignments_need_no_validation_set(own_model: Path, toy: Toy) -> None:
    """Without one the last layer aligns, and a warning says so."""
    for side in ("source", "target"):
        (own_model / f"dev.{side}").unlink()
    run = run_here("score", "-m", own_model, *toy.test.arguments, "--alignment").check()
    assert len(run.lines) == 20
    assert run.err.startswith("mt: warning: alignments are those of the last layer")


def test_damaged_validation_set_is_named(own_model: Path, toy: Toy) -> None:
    with (own_model / "dev.source").open("ab") as file:
        file.write(b"one more\n")
    message = run_here("score", "-m", own_model, *toy.test.arguments).check_refusal()
    assert "dev.source has 21 lines, dev.target has 20" in message


def test_blank_lines_keep_their_place(model: Path, tmp_path: Path) -> None:
    """X01, D14: an empty line has the empty translation, any other is impossible."""
    right = target_of(sentence(0, 1))
    (tmp_path / "source").write_bytes(as_bytes(["", sentence(0, 1), "\u3000", sentence(0, 1)]))
    (tmp_path / "target").write_bytes(as_bytes(["", right, "text", ""]))
    run = run_here("score", "-m", model, tmp_path / "source", tmp_path / "target").check()
    assert run.lines[0] == "0.000000"
    assert run.lines[2] == "-inf"
    assert float(run.lines[3]) < float(run.lines[1]) < 0
    assert run.err == "mt: warning: 1 blank lines have a target with text: their score is -inf\n"
    found = records(model, tmp_path / "source", tmp_path / "target")
    assert [record["score"] for record in found][::2] == [0.0, None]
    assert [len(record["tokens"]) for record in found][::2] == [0, 0]
    aligned = run_here(
        "score", "-m", model, tmp_path / "source", tmp_path / "target", "--alignment"
    ).check()
    assert [line != "" for line in aligned.lines] == [False, True, False, False]


def test_conspicuous_targets_are_flagged(model: Path, tmp_path: Path) -> None:
    source = sentence(0, 1, 2, 3, 4, 5)
    word = next(iter(LEXICON.values()))
    targets = [target_of(source), source, " ".join([word] * 6), word]
    (tmp_path / "source").write_bytes(as_bytes([source] * 4))
    (tmp_path / "target").write_bytes(as_bytes(targets))
    found = records(model, tmp_path / "source", tmp_path / "target")
    flags = [record["flags"] for record in found]
    assert flags == [[], ["copied_source"], ["repetition"], ["unusual_length"]]


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("change", ["shorter", "longer"])
def test_unequal_files_are_refused_with_both_numbers(
    side: int, change: str, model: Path, toy: Toy, tmp_path: Path
) -> None:
    """D01: before anything is printed."""
    files = list(toy.test.arguments)
    lines = as_lines(Path(files[side]).read_bytes())
    other = tmp_path / "other"
    other.write_bytes(as_bytes(lines[:-1] if change == "shorter" else [*lines, "more"]))
    files[side] = str(other)
    message = run_here("score", "-m", model, *files).check_refusal()
    numbers = [20, 20]
    numbers[side] = 19 if change == "shorter" else 21
    assert f"{files[0]} has {numbers[0]} lines, {files[1]} has {numbers[1]}" in message


@pytest.mark.parametrize("side", [0, 1])
def test_one_side_may_be_standard_input(side: int, model: Path, toy: Toy) -> None:
    expected = run_here("score", "-m", model, *toy.test.arguments).check().out
    files = list(toy.test.arguments)
    stdin = Path(files[side]).read_bytes()
    files[side] = "-"
    assert run_here("score", "-m", model, *files, stdin=stdin).check().out == expected
    cut = b"".join(stdin.splitlines(keepends=True)[:-1])
    message = run_here("score", "-m", model, *files, stdin=cut).check_refusal()
    assert "standard input has 19" in message
    broken = run_here("score", "-m", model, *files, stdin=b"a\n\xff\n").check_refusal()
    assert "standard input:2: byte 0xff" in broken
    both = run_here("score", "-m", model, "-", "-", stdin=stdin)
    both.check(2)
    assert "can stand for one file only" in both.err


def test_files_may_be_packed_or_pipes(model: Path, toy: Toy, tmp_path: Path) -> None:
    expected = run_here("score", "-m", model, *toy.test.arguments).check().out
    packed = tmp_path / "source.gz"
    packed.write_bytes(gzip.compress(toy.test.source.read_bytes()))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(toy.test.target.read_bytes(),))
    writer.start()
    assert run_here("score", "-m", model, packed, pipe).check().out == expected
    writer.join()


def test_broken_text_is_refused_before_anything_is_printed(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    """D03: by file and line."""
    lines = toy.test.target.read_bytes().splitlines(keepends=True)
    bad = tmp_path / "bad"
    bad.write_bytes(b"".join([*lines[:6], b"\xff\n", *lines[7:]]))
    message = run_here("score", "-m", model, toy.test.source, bad).check_refusal()
    assert "bad:7: byte 0xff" in message


def test_options_that_contradict_each_other_are_refused(model: Path, toy: Toy) -> None:
    both = run_here("score", "-m", model, *toy.test.arguments, "--json", "--alignment")
    assert "--alignment prints no JSON" in both.check(2).err
    alpha = run_here("score", "-m", model, *toy.test.arguments, "--alpha", "0.5")
    assert "--length-penalty gnmt only" in alpha.check(2).err


def test_penalty_of_the_model_is_the_default(own_model: Path, toy: Toy) -> None:
    """Scores are those of `mt translate` by the settings in the folder."""
    config = (own_model / "config.toml").read_text("utf-8")
    assert 'length_penalty = "mean"' in config
    none = run_here("score", "-m", own_model, *toy.test.arguments, "--length-penalty", "none")
    changed = config.replace('length_penalty = "mean"', 'length_penalty = "none"')
    (own_model / "config.toml").write_text(changed, "utf-8")
    assert run_here("score", "-m", own_model, *toy.test.arguments).check().out == none.check().out


def test_a_model_without_training_folder_scores(own_model: Path, toy: Toy) -> None:
    expected = run_here("score", "-m", own_model, *toy.test.arguments).check().out
    shutil.rmtree(own_model / "training")
    assert run_here("score", "-m", own_model, *toy.test.arguments).check().out == expected


def test_translations_in_json_tell_tokens_alignments_and_flags(model: Path, toy: Toy) -> None:
    """The log-probabilities of the tokens make the score; workers and precision may differ."""
    stdin = toy.test.source.read_bytes() + b"\n"
    options = ("--json", "--alignment", "--n-best", "2", "--workers", "2")
    run = run_here("translate", "-m", model, *options, stdin=stdin).check()
    *found, blank = [json.loads(line) for line in run.lines]
    assert len(found) == len(as_lines(toy.test.source.read_bytes()))
    for record in found:
        num_words = len(record["source"].split())
        assert len(record["hypotheses"]) == 2
        for hypothesis in record["hypotheses"]:
            values = [token["log_probability"] for token in hypothesis["tokens"]]
            assert sum(values) / len(values) == pytest.approx(hypothesis["score"], abs=1e-4)
            assert all(0 <= i < num_words for i, _ in hypothesis["alignment"])
            assert set(hypothesis["flags"]) <= {"repetition", "truncated", "unusual_length"}
    assert blank["hypotheses"][0]["text"] == ""
    assert blank["hypotheses"][0]["tokens"] == []


def test_alignment_without_json_is_refused(model: Path) -> None:
    run = run_here("translate", "-m", model, "--alignment").check(2)
    assert "--alignment belongs to --json" in run.err


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_narrow_precisions_translate_the_toy_language_too(
    precision: str, model: Path, toy: Toy
) -> None:
    stdin = toy.test.source.read_bytes()
    run = run_here("translate", "-m", model, "--precision", precision, stdin=stdin).check()
    sources = as_lines(stdin)
    right = sum(text == target_of(s) for text, s in zip(run.lines, sources, strict=True))
    assert right >= 15
