"""Sampling from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt import SamplingConfig, TranslationOptions, Translator
from tests.cases.runs import Run, run_here
from tests.cases.toy import NUM_TEST, PARAGRAPH, Toy, as_bytes, as_lines, sentence, toy_sources

HOT = ("--temperature", "1.5")


def translate(model: Path, stdin: bytes, *options: str | Path) -> Run:
    return run_here("translate", "-m", model, *options, stdin=stdin).check()


def test_each_line_gives_as_many_lines_as_samples_and_blank_lines_empty_ones(
    model: Path, toy: Toy
) -> None:
    """Equal texts are samples too."""
    data = as_bytes(["", *as_lines(toy.test.source.read_bytes())])
    found = translate(model, data, "--sample", "4").lines
    assert len(found) == 4 * (NUM_TEST + 1)
    assert found[:4] == [""] * 4
    assert all(found[4:])
    each = [found[i : i + 4] for i in range(4, len(found), 4)]
    assert any(len(set(samples)) < 4 for samples in each)


def test_a_seed_decides_what_is_drawn(model: Path, toy: Toy) -> None:
    data = toy.test.source.read_bytes()
    first = translate(model, data, "--sample", "3", *HOT).out
    assert translate(model, data, "--sample", "3", *HOT, "--seed", "1").out == first
    assert translate(model, data, "--sample", "3", *HOT, "--seed", "2").out != first


def test_ways_in_batches_workers_and_lines_around_change_no_sample(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    """Of a line of a certain number; from standard input, two files and Python."""
    lines = [*as_lines(toy.test.source.read_bytes()), PARAGRAPH, *toy_sources(40, seed="sample")]
    options = ("--sample", "2", *HOT, "--seed", "9")
    expected = translate(model, as_bytes(lines), *options).lines
    for more in (
        ("--batch-size", "1"),
        ("--batch-size", "3", "--workers", "2"),
        ("--threads", "1"),
    ):
        assert translate(model, as_bytes(lines), *options, *more).lines == expected
    files = (tmp_path / "first", tmp_path / "second")
    files[0].write_bytes(as_bytes(lines[:13]))
    files[1].write_bytes(as_bytes(lines[13:]))
    assert translate(model, b"", *options, *files).lines == expected
    drawn = TranslationOptions(sampling=SamplingConfig(samples=2, temperature=1.5, seed=9))
    found = Translator.load(model, options=drawn).translate(lines)
    assert [each.text for one in found for each in one.hypotheses] == expected
    reworded = [sentence(1, 2)] * 20 + lines[20:21] + [""]
    assert translate(model, as_bytes(reworded), *options).lines[40:42] == expected[40:42]


def test_scores_in_json_are_those_of_mt_score(model: Path, toy: Toy, tmp_path: Path) -> None:
    """Of the model as it is, whatever the temperature; where the text is cut into its tokens."""
    data = toy.test.source.read_bytes()
    filters = ("--temperature", "2", "--top-k", "20", "--top-p", "0.95")
    rows = [
        json.loads(line)
        for line in translate(model, data, "--sample", "3", *filters, "--json").lines
    ]
    assert [len(row["hypotheses"]) for row in rows] == [3] * NUM_TEST
    listed = [(row["source"], each) for row in rows for each in row["hypotheses"]]
    (tmp_path / "source").write_bytes(as_bytes([source for source, _ in listed]))
    (tmp_path / "target").write_bytes(as_bytes([each["text"] for _, each in listed]))
    scores = run_here("score", "-m", model, tmp_path / "source", tmp_path / "target").check().lines
    alike = [
        (each["score"], float(score))
        for (_, each), score in zip(listed, scores, strict=True)
        if each["same_tokens"]
    ]
    assert len(alike) > NUM_TEST
    for reported, score in alike:
        assert reported == pytest.approx(score, abs=1e-4)


def test_top_k_of_one_is_greedy_search(model: Path, toy: Toy) -> None:
    data = toy.test.source.read_bytes()
    greedy = translate(model, data, "--beam", "1").out
    assert translate(model, data, "--sample", "1", "--top-k", "1").out == greedy
    assert translate(model, data, "--sample", "1", "--temperature", "0.001").out == greedy


@pytest.mark.parametrize("score", ["chrf", "bleu"])
def test_the_choice_by_minimum_bayes_risk_is_among_the_samples(
    score: str, model: Path, toy: Toy
) -> None:
    data = as_bytes([*as_lines(toy.test.source.read_bytes()), ""])
    options = ("--sample", "6", *HOT)
    drawn = translate(model, data, *options).lines
    found = translate(model, data, *options, "--mbr", score).lines
    assert len(found) == NUM_TEST + 1
    for number, text in enumerate(found):
        assert text in drawn[6 * number : 6 * number + 6]
    rows = list(map(json.loads, translate(model, data, *options, "--mbr", score, "--json").lines))
    assert [row["hypotheses"][0]["text"] for row in rows] == found
    for number, row in enumerate(rows[:-1]):
        texts = [each["text"] for each in row["hypotheses"]]
        assert sorted(texts) == sorted(set(drawn[6 * number : 6 * number + 6]))
        values = [each["expected_utility"] for each in row["hypotheses"]]
        assert values == pytest.approx(sorted(values, reverse=True), rel=1e-12)


def test_samples_that_end_at_the_bound_are_counted(model: Path) -> None:
    run = translate(model, as_bytes([sentence(0, 1, 2)]), "--sample", "5", "--max-length", "1")
    assert "mt: warning: 5 translations were ended at the length bound" in run.err


def test_prefixes_constraints_and_ensembles_hold_for_samples(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    """Every sample has the prefix of its line; nothing comes twice; the score is `mt score`'s."""
    data = toy.test.source.read_bytes()
    first = sentence(9, 8).split()[0]
    prefixes = tmp_path / "prefixes"
    prefixes.write_bytes(as_bytes([first, *[""] * (NUM_TEST - 1)]))
    together = ("-m", model)  # beside the -m of `translate`: an ensemble of the model with itself
    options = ("--prefix", prefixes, "--no-repeat-ngram", "1", "--sample", "3", *HOT)
    rows = translate(model, data, *together, *options, "--json", "--alignment").lines
    records = [json.loads(row) for row in rows]
    assert all(each["text"].startswith(first) for each in records[0]["hypotheses"])
    listed = []
    for record in records:
        assert len(record["hypotheses"]) == 3
        for each in record["hypotheses"]:
            pieces = [token["piece"] for token in each["tokens"]]
            assert len(set(pieces)) == len(pieces)
            values = [token["log_probability"] for token in each["tokens"]]
            listed.append((each["score"], sum(values) / len(values)))
    reported, forced = zip(*listed, strict=True)
    assert reported == pytest.approx(forced, abs=1e-4)
    texts = [each["text"] for record in records for each in record["hypotheses"]]
    assert translate(model, data, *options).lines == texts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--temperature", "0.5"), "--temperature has an effect with --sample only"),
        (("--top-k", "5"), "--top-k has an effect with --sample only"),
        (("--top-p", "0.5"), "--top-p has an effect with --sample only"),
        (("--seed", "5"), "--seed has an effect with --sample only"),
        (("--sample", "2", "--beam", "5"), "--beam has no effect with --sample"),
        (("--sample", "2", "--n-best", "2"), "--n-best has no effect with --sample"),
        (("--sample", "1", "--mbr", "chrf"), "--mbr has an effect with --sample 2 or more only"),
        (("--sample", "2", "--glossary", "x"), "--glossary cannot be combined with --sample"),
        (
            ("--sample", "2", "--placeholders", "default"),
            "--placeholders cannot be combined with --sample",
        ),
        (("--sample", "0"), "Invalid value for '--sample'"),
        (("--sample", "1", "--temperature", "0"), "Invalid value for '--temperature'"),
        (("--sample", "1", "--temperature", "nan"), "--temperature must be a finite number"),
        (("--sample", "1", "--temperature", "inf"), "--temperature must be a finite number"),
        (("--sample", "1", "--top-p", "0"), "Invalid value for '--top-p'"),
        (("--sample", "1", "--top-p", "nan"), "--top-p must be a finite number"),
        (("--sample", "1", "--top-p", "1.5"), "Invalid value for '--top-p'"),
        (("--sample", "1", "--top-k", "0"), "Invalid value for '--top-k'"),
        (("--sample", "1", "--seed", "-1"), "Invalid value for '--seed'"),
    ],
)
def test_settings_that_are_wrong_or_without_effect_are_refused(
    options: tuple[str, ...], message: str, model: Path
) -> None:
    run = run_here("translate", "-m", model, *options, stdin=b"a\n").check(2)
    assert message in run.err
    assert run.out == b""
