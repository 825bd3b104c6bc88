"""`mt backtranslate` as users run it, with the model of the toy language."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cases.runs import run_here, run_python
from tests.cases.toy import Toy, as_lines, toy_sources

MACHINE = ("--device", "cpu", "--threads", "1")


def records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in as_lines(path.read_bytes())]


@pytest.fixture
def mono(tmp_path: Path) -> Path:
    path = tmp_path / "mono.src"
    lines = [*toy_sources(60, seed="mono"), "", "\u00a0"]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_the_pairs_are_those_of_mt_translate(model: Path, mono: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    run = run_here("backtranslate", "-m", model, mono, "-o", out, "--json", *MACHINE).check()
    account = json.loads(run.lines[0])
    assert account["read"] == 62
    assert account["skipped"] == {"blank side": 2}
    assert "62 lines read, 60 translated, 2 not (blank side: 2)" in run.err
    given = mono.read_text("utf-8").split("\n")[:60]
    translated = run_here("translate", "-m", model, mono, "--json", *MACHINE).lines
    best = {record["source"]: record["hypotheses"][0] for record in map(json.loads, translated)}
    found = records(out)
    assert len(found) == account["written"] == 60 - sum(account["dropped"].values())
    assert len(found) > 50
    for record in found:
        hypothesis = best[record["target"]]
        assert record["source"] == hypothesis["text"]
        assert record["flags"] == hypothesis["flags"]
        assert record["score"] == pytest.approx(hypothesis["score"], abs=1e-6)  # penalty "mean"
    assert [record["target"] for record in found if record["target"] in given] == [
        line for line in given if line in {record["target"] for record in found}
    ]


@pytest.mark.parametrize("suffix", ["jsonl", "tsv"])
def test_mt_train_reads_the_pairs_as_they_are(
    suffix: str, model: Path, mono: Path, toy: Toy, tmp_path: Path
) -> None:
    out = tmp_path / f"out.{suffix}"
    run_here("backtranslate", "-m", model, mono, "-o", out, *MACHINE).check()
    run = run_here("check", out)
    num = len(as_lines(out.read_bytes())) - (suffix == "tsv")
    assert f"{num} pairs" in run.out.decode() + run.err


def test_samples_are_drawn_by_seed_and_equal_ones_count_once(
    model: Path, mono: Path, tmp_path: Path
) -> None:
    options = ("--sample", "4", "--temperature", "1.3", "--seed", "7", *MACHINE)
    accounts = []
    for name in ("a.jsonl", "b.jsonl"):
        run = run_here(
            "backtranslate", "-m", model, mono, "-o", tmp_path / name, "--json", *options
        )
        accounts.append(json.loads(run.check().lines[0]))
    assert accounts[0] == accounts[1]
    assert accounts[0]["made"] == 240
    assert accounts[0]["dropped"]["repeated"] > 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    pairs = [(record["source"], record["target"]) for record in records(tmp_path / "a.jsonl")]
    assert len(set(pairs)) == len(pairs) > 60


def test_what_is_left_out_is_written_with_its_reason(
    model: Path, mono: Path, tmp_path: Path
) -> None:
    out, rejected = tmp_path / "out.tsv", tmp_path / "rejected.tsv"
    options = ("--min-score", "-0.15", "--rejected", rejected, *MACHINE)
    run = run_here("backtranslate", "-m", model, mono, "-o", out, "--json", *options).check()
    account = json.loads(run.lines[0])
    rows = [line.split("\t") for line in as_lines(rejected.read_bytes())]
    reasons = [row[0] for row in rows]
    assert len(rows) == 2 + sum(account["dropped"].values())
    assert reasons.count("low_score") == account["dropped"]["low_score"] > 0
    assert [row[1:] for row in rows if row[0] == "blank side"] == [
        [f"{mono}:61", "", ""],
        [f"{mono}:62", "", "\u00a0"],
    ]
    before = rejected.read_bytes()
    run_here("backtranslate", "-m", model, mono, "-o", out, *options).check()  # is finished
    assert rejected.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "named", "status"),
    [
        (("-m", "nowhere", "MONO", "-o", "out.jsonl"), "nowhere is not a model folder", 1),
        (("-m", "MODEL", "missing", "-o", "out.jsonl"), "missing cannot be read", 1),
        (("-m", "MODEL", "MONO", "-o", "out.txt"), "its name says no form of pairs", 2),
        (("-m", "MODEL", "MONO", "-o", "no/out.jsonl"), "no/out.jsonl cannot be written", 1),
        (("-m", "MODEL", "latin", "-o", "out.jsonl"), "latin:2: byte 0xfc", 1),
        (("-m", "MODEL", "MONO", "-o", "out.jsonl", "--min-score", "nan"), "finite number", 2),
    ],
)
def test_faults_are_named_in_one_line_and_leave_nothing(
    arguments: tuple[str, ...],
    named: str,
    status: int,
    model: Path,
    mono: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin").write_bytes(b"gut\nf\xfcr\n")
    names = {"MODEL": str(model), "MONO": str(mono)}
    before = sorted(tmp_path.iterdir())
    run = run_here("backtranslate", *(names.get(each, each) for each in arguments), *MACHINE)
    assert named in run.check_refusal(status=status)
    assert sorted(tmp_path.iterdir()) == before


def test_flags_without_effect_are_refused(model: Path, mono: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    run = run_here("backtranslate", "-m", model, mono, "-o", out, "--top-p", "0.5")
    assert "--top-p has an effect with --sample only" in run.check(2).err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks to kill")
def test_a_work_that_is_killed_ends_as_one_that_is_not(model: Path, tmp_path: Path) -> None:
    mono = tmp_path / "mono.src"
    mono.write_text("".join(f"{line}\n" for line in toy_sources(240, seed="long")), "utf-8")
    program = ("-m", "tests.synthetic.killed", "random", model, mono)
    run_python(*program, tmp_path / "whole.jsonl", "0", "1").check()
    run = run_python(*program, tmp_path / "out.jsonl", "4", "1").check()
    sizes = [int(size) for size in run.out.split()]
    assert len(sizes) >= 2 and sizes == sorted(sizes) and sizes[-1] > sizes[0], sizes
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("mono.src", "out.jsonl", "out.jsonl.summary.json"),
        *("whole.jsonl", "whole.jsonl.summary.json"),
    ]
