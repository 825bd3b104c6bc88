"""Prefixes, repetition and least length from the command line.

The letter and number of a case and the public threads it comes from stand in the docstring.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.interactive import ask, interactive
from tests.cases.runs import run_here
from tests.cases.toy import Toy, as_bytes, as_lines, sentence, target_of

LINES = [sentence(0, 1, 2), "", sentence(3, 4, 5), sentence(6, 7)]


def write(path: Path, *lines: str) -> Path:
    path.write_bytes(as_bytes(lines))
    return path


def test_translations_begin_with_the_lines_of_the_prefix_file(model: Path, tmp_path: Path) -> None:
    """In order, blank lines included; where nothing is asked for, nothing changes."""
    first = target_of(sentence(9, 8)).removesuffix(" .")
    prefixes = write(tmp_path / "prefixes", first, "", "", target_of(LINES[3])[:3])
    run = run_here("translate", "-m", model, "--prefix", prefixes, stdin=as_bytes(LINES)).check()
    free = run_here("translate", "-m", model, stdin=as_bytes(LINES)).check().lines
    assert run.err == ""
    assert len(run.lines) == 4
    assert run.lines[0].startswith(f"{first} ")
    assert run.lines[1:3] == free[1:3]
    assert run.lines[3].startswith(target_of(LINES[3])[:3])


def test_every_hypothesis_has_the_prefix_in_every_form_of_output(
    model: Path, tmp_path: Path
) -> None:
    prefixes = write(tmp_path / "prefixes", *["qué 🦊"] * 2)
    stdin = as_bytes(LINES[2:])
    options = ("-m", model, "--prefix", prefixes, "--n-best", "3")
    found = run_here("translate", *options, stdin=stdin).check().lines
    assert len(found) == 6
    assert all(text.startswith("qué 🦊") for text in found)
    rows = run_here("translate", *options, "--json", "--alignment", stdin=stdin).check().lines
    records = [json.loads(row) for row in rows]
    assert [h["text"] for record in records for h in record["hypotheses"]] == found
    mbr = run_here("translate", "-m", model, "--prefix", prefixes, "--mbr", "chrf", stdin=stdin)
    assert all(text.startswith("qué 🦊") for text in mbr.check().lines)


def test_the_score_with_a_prefix_is_that_of_mt_score(model: Path, toy: Toy, tmp_path: Path) -> None:
    sources = as_lines(toy.test.source.read_bytes())
    words = [target_of(source).split(" ")[0] for source in reversed(sources)]
    prefixes = write(tmp_path / "prefixes", *words)
    run = run_here("translate", "-m", model, "--prefix", prefixes, "--json", toy.test.source)
    best = [json.loads(line)["hypotheses"][0] for line in run.check().lines]
    target = write(tmp_path / "target", *[each["text"] for each in best])
    scores = run_here("score", "-m", model, toy.test.source, target).check().lines
    same = [
        (each["score"], float(score))
        for each, score in zip(best, scores, strict=True)
        if each["same_tokens"]
    ]
    assert len(same) >= len(best) // 2
    assert [ours for ours, _ in same] == pytest.approx([theirs for _, theirs in same], abs=1e-4)


@pytest.mark.parametrize("num", [2, 5])
def test_unequal_numbers_of_files_are_refused_before_anything_is_written(
    num: int, model: Path, tmp_path: Path
) -> None:
    sources = write(tmp_path / "sources", *LINES)
    prefixes = write(tmp_path / "prefixes", *["x"] * num)
    message = run_here("translate", "-m", model, "--prefix", prefixes, sources).check_refusal()
    assert f"4 lines are to be translated, but the prefixes of {prefixes} are {num}" in message
    out = tmp_path / "out"
    run_here("translate", "-m", model, "--prefix", prefixes, sources, "-o", out).check(1)
    assert not out.exists()


@pytest.mark.parametrize(("num", "lines"), [(2, "4 lines, or more,"), (5, "4 lines")])
def test_unequal_numbers_of_a_stream_are_refused_when_they_are_found(
    num: int, lines: str, model: Path, tmp_path: Path
) -> None:
    prefixes = write(tmp_path / "prefixes", *["x"] * num)
    run = run_here("translate", "-m", model, "--prefix", prefixes, stdin=as_bytes(LINES)).check(1)
    assert f"{lines} are to be translated, but the prefixes of {prefixes} are {num}" in run.err


def test_prefixes_that_are_not_utf_8_are_refused_by_line(model: Path, tmp_path: Path) -> None:
    """A prefix with a hole in it is not what was asked for."""
    prefixes = tmp_path / "prefixes"
    prefixes.write_bytes(b"x\n\xff\n")
    stdin = as_bytes(LINES[2:])
    message = run_here("translate", "-m", model, "--prefix", prefixes, stdin=stdin).check_refusal()
    assert f"{prefixes}:2: byte 0xff" in message
    message = run_here("translate", "-m", model, "--prefix", tmp_path / "none").check_refusal()
    assert "cannot be read" in message


def test_each_line_is_answered_before_the_next_with_prefixes_too(
    model: Path, tmp_path: Path
) -> None:
    """X09 (awslabs/sockeye#175): standard input is still open."""
    prefixes = write(tmp_path / "prefixes", "imo", "hal", "not reached")
    with interactive(model, "--prefix", str(prefixes)) as process:
        assert ask(process, sentence(0, 1), seconds=60).startswith(b"imo")
        assert ask(process, sentence(2, 3), seconds=20).startswith(b"hal")


def test_no_ngram_is_repeated_and_the_guard_is_gentler(model: Path) -> None:
    """G08 (LibreTranslate#167, #168; EasyNMT#38; Opus-MT#49; marian-dev#311): on request."""
    stdin = as_bytes([" ".join([sentence(0).removesuffix(" .")] * 6), sentence(3, 4)])

    def found(*options: str) -> list[list[str]]:
        run = run_here("translate", "-m", model, "--json", "--alignment", *options, stdin=stdin)
        hypotheses = [json.loads(line)["hypotheses"][0] for line in run.check().lines]
        return [[token["piece"] for token in each["tokens"][:-1]] for each in hypotheses]

    free = found()
    none_twice = found("--no-repeat-ngram", "1")
    twice = found("--max-repeats", "2")
    assert len(set(free[0])) < len(free[0])
    assert len(set(none_twice[0])) == len(none_twice[0])
    assert any(a == b for a, b in zip(twice[0], twice[0][1:], strict=False))
    assert not any(
        a == b == c for a, b, c in zip(twice[0], twice[0][1:], twice[0][2:], strict=False)
    )
    assert free[1] == twice[1] == none_twice[1]
    assert found("--no-repeat-ngram", "0", "--max-repeats", "0") == free


def test_a_translation_is_no_shorter_than_is_asked_for(model: Path) -> None:
    stdin = as_bytes([sentence(0, 1), sentence(2, 3, 4, 5)])

    def lengths(*options: str) -> list[float]:
        run = run_here("translate", "-m", model, "--json", "--alignment", *options, stdin=stdin)
        records = [json.loads(line) for line in run.check().lines]
        return [
            (len(record["hypotheses"][0]["tokens"]) - 1) / len(record["source_tokens"])
            for record in records
        ]

    assert all(0.9 < ratio < 1.9 for ratio in lengths())
    assert all(ratio >= 2 for ratio in lengths("--min-length-ratio", "2"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--min-length-ratio", "2.5"), "search.min_length_ratio must lie between 0 and"),
        (("--no-repeat-ngram", "-1"), "--no-repeat-ngram"),
        (("--max-repeats", "x"), "--max-repeats"),
    ],
)
def test_what_cannot_be_asked_for_is_a_fault_of_the_command_line(
    options: tuple[str, str], message: str, model: Path
) -> None:
    assert message in run_here("translate", "-m", model, *options, stdin=b"a\n").check(2).err
