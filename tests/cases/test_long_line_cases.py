"""Long lines and the choice among hypotheses, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cases.runs import run_here
from tests.cases.toy import PARAGRAPH, SENTENCES, Toy, as_bytes, as_lines, target_of, write_bytes


def test_a_paragraph_is_translated_sentence_by_sentence_with_one_warning(model: Path) -> None:
    lines = [SENTENCES[0], PARAGRAPH, "", PARAGRAPH]
    found = run_here("translate", "-m", model, stdin=as_bytes(lines)).check()
    alone = run_here("translate", "-m", model, stdin=as_bytes(SENTENCES)).check().lines
    assert found.lines == [alone[0], " ".join(alone * 3), "", " ".join(alone * 3)]
    (warning,) = found.err.splitlines()
    assert warning.startswith("mt: warning: 2 lines were longer than the ")
    assert "translated in 24 parts (the first: line 2)" in warning


def test_no_split_translates_it_whole_and_warns_of_each(model: Path) -> None:
    found = run_here("translate", "-m", model, "--no-split", stdin=as_bytes([PARAGRAPH])).check()
    assert found.lines != [target_of(PARAGRAPH)]
    assert found.err.startswith("mt: warning: line 1: ")


def test_eval_tells_of_lines_that_were_split(model: Path, tmp_path: Path) -> None:
    files = write_bytes(
        tmp_path, "long", source=as_bytes([PARAGRAPH]), target=as_bytes([target_of(PARAGRAPH)])
    )
    found = run_here("eval", "-m", model, files.source, files.target).check()
    assert "1 line was longer than the " in found.err


def test_the_choice_by_minimum_bayes_risk_is_among_the_beam(model: Path, toy: Toy) -> None:
    data = toy.test.source.read_bytes()
    beam = run_here("translate", "-m", model, "--n-best", "5", stdin=data).check().lines
    for score in ("chrf", "bleu"):
        run = run_here("translate", "-m", model, "--mbr", score, "--json", stdin=data).check()
        for number, line in enumerate(run.lines):
            (hypothesis,) = json.loads(line)["hypotheses"]
            assert hypothesis["text"] in beam[5 * number : 5 * number + 5]
            assert 0 <= hypothesis["expected_utility"] <= 100 + 1e-9
    assert len(run.lines) == len(as_lines(data))


def test_mbr_over_one_hypothesis_is_refused(model: Path) -> None:
    run = run_here("translate", "-m", model, "--mbr", "chrf", "--beam", "1", stdin=b"a\n").check(2)
    assert "--beam 2 or more" in run.err
