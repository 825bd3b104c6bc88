"""Several systems: intervals, tests of their difference, names; and what stands beside a model.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from mt.model_folder.seen_lines import FILE, SeenLines
from tests.cases.runs import UNTRAINED, run_here
from tests.cases.toy import WORDS, Toy, as_bytes, as_lines, target_of, toy_pairs, write_files


def write(path: Path, lines: list[str]) -> Path:
    path.write_bytes(as_bytes(lines))
    return path


def damaged(lines: list[str], share: float, *, seed: str) -> list[str]:
    """The lines with a share of them replaced by their words in another order."""
    drawn = random.Random(seed)
    chosen = set(drawn.sample(range(len(lines)), round(share * len(lines))))
    return [
        " ".join(reversed(line.split())) if place in chosen else line
        for place, line in enumerate(lines)
    ]


@pytest.fixture
def systems(tmp_path: Path) -> dict[str, Path]:
    """A reference of 300 lines, a fair system, the same with 5 % worse, and a copy of it."""
    reference = [target for _, target in toy_pairs(300, seed="systems")]
    fair = damaged(reference, 0.3, seed="fair")
    texts = {"r": reference, "a": fair, "same": fair, "worse": damaged(fair, 0.05, seed="worse")}
    return {name: write(tmp_path / name, lines) for name, lines in texts.items()}


def p_values(systems: dict[str, Path], other: str, *options: str) -> dict[str, float]:
    """The p-value of each metric between system a and another."""
    run = run_here(
        *("eval", "--hyp", systems["a"], "--hyp", systems[other], systems["r"]),
        *("--json", *options),
    ).check()
    rows = json.loads(run.out)["scores"]
    assert [row["system"] for row in rows[:5]] == [str(systems["a"])] * 5
    assert not any("p_value" in row for row in rows[:5])
    return {row["name"]: row["p_value"] for row in rows[5:]}


@pytest.mark.parametrize("test", ["bs", "ar"])
def test_difference_is_found_where_there_is_one(test: str, systems: dict[str, Path]) -> None:
    """E13 (sacrebleu#70, PR#78, PR#152; compare-mt#25): seeded, and not of a system with itself."""
    drawn = ("--paired", test, "--resamples", "300")
    same = p_values(systems, "same", *drawn)
    assert all(p > 0.9 for p in same.values())
    worse = p_values(systems, "worse", *drawn)
    assert worse["BLEU"] < 0.05
    assert worse["exact"] < 0.05
    assert worse == p_values(systems, "worse", *drawn)
    other_seed = p_values(systems, "worse", *drawn, "--seed", "0")
    assert other_seed == p_values(systems, "worse", *drawn, "--seed", "0")
    assert other_seed != worse


def test_scores_stand_by_metric_with_intervals(systems: dict[str, Path]) -> None:
    """E13: what is printed, and the signature that tells how it was drawn."""
    run = run_here(
        *("eval", "--hyp", systems["a"], "--hyp", systems["worse"], systems["r"]),
        *("--paired", "bs", "--metrics", "bleu,ter", "--resamples", "200"),
    ).check()
    assert run.lines[0].startswith("BLEU  nrefs:1|bs:200|seed:12345|case:mixed")
    assert run.lines[1].endswith(f")  {systems['a']}")
    assert " ± " in run.lines[2]
    assert f")  {systems['worse']}  p = 0." in run.lines[2]
    assert run.lines[3].startswith("TER  nrefs:1|bs:200|")
    assert "200 samples, seed 12345" in run.err


def test_same_name_twice_is_refused(systems: dict[str, Path]) -> None:
    """E13: a system is not compared with itself by mistake."""
    a = systems["a"]
    run = run_here("eval", "--hyp", a, "--hyp", a, systems["r"], "--paired", "bs")
    assert "is given 2 times" in run.check_refusal(status=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--paired", "bs"), "give two --hyp"),
        (("--resamples", "1000"), "--confidence or --paired"),
        (("--tokenized", "--tokenize", "13a"), "leave --tokenize out"),
        (("--metrics", "bleu,comet"), "'comet' is not one of"),
    ],
)
def test_flags_without_effect_are_refused(
    options: tuple[str, ...], message: str, systems: dict[str, Path]
) -> None:
    run = run_here("eval", "--hyp", systems["a"], systems["r"], *options).check(2)
    assert message in run.err
    assert run.out == b""


def test_system_of_another_length_is_refused_by_name(systems: dict[str, Path]) -> None:
    """E02: whichever of them it is."""
    short = write(systems["a"].with_name("short"), as_lines(systems["a"].read_bytes())[:-1])
    run = run_here("eval", "--hyp", systems["a"], "--hyp", short, systems["r"])
    assert f"{short} has 299 lines, reference {systems['r']} has 300" in run.check_refusal()


def test_interval_of_one_system(systems: dict[str, Path]) -> None:
    """E13: the score stays what it is, and lies where its samples do."""
    plain = run_here("eval", "--hyp", systems["a"], systems["r"], "--json").check()
    run = run_here("eval", "--hyp", systems["a"], systems["r"], "--json", "--confidence").check()
    for row, without in zip(*(json.loads(r.out)["scores"] for r in (run, plain)), strict=True):
        assert row["score"] == without["score"]
        assert abs(row["mean"] - row["score"]) < row["half_width"]
        assert "bs:1000|seed:12345" in row["signature"]
        assert "seed" not in without["signature"]


def test_sentence_scores_are_a_table(systems: dict[str, Path], tmp_path: Path) -> None:
    """One row a line and system, whose exact matches add up to the score of the corpus."""
    table = tmp_path / "scores.tsv"
    run = run_here(
        *("eval", "--hyp", systems["a"], "--hyp", systems["worse"], systems["r"]),
        *("--sentences", table, "--json"),
    ).check()
    head, *rows = [line.split("\t") for line in as_lines(table.read_bytes())]
    assert head == ["line", "system", "BLEU", "chrF2", "chrF2++", "TER", "exact"]
    assert [row[0] for row in rows] == [str(line) for line in range(1, 301)] * 2
    mean = sum(float(row[-1]) for row in rows[:300]) / 300
    scores = [row for row in json.loads(run.out)["scores"] if row["name"] == "exact"]
    assert mean == pytest.approx(scores[0]["score"])
    assert rows[0][2:4] == ["100.00", "100.00"] or float(rows[0][2]) < 100


# What stands beside a model


def test_trivial_systems_are_told_beside_a_model(model: Path, toy: Toy) -> None:
    run = run_here("eval", "-m", model, *toy.test.arguments, "--json").check()
    record = json.loads(run.out)
    copy, nearest = record["trivial"]
    assert copy["system"] == "copy of the source"
    assert nearest["system"] == "nearest of 2,000 training pairs"
    own = {row["name"]: row["score"] for row in record["scores"]}
    for trivial in (copy, nearest):
        for row in trivial["scores"]:
            if row["name"] != "exact":
                assert row["score"] < own[row["name"]]
        assert f"beside it, {trivial['system']}: BLEU " in run.err
    # A pair of the corpus has words of the target language, and the source has none.
    assert nearest["scores"][0]["score"] > copy["scores"][0]["score"] + 5
    assert "scores no less" not in run.err
    without = run_here("eval", "-m", model, *toy.test.arguments, "--json", "--no-trivial").check()
    assert json.loads(without.out) == {"scores": record["scores"], "lines": 20}
    assert "beside it" not in without.err


def test_system_that_copying_beats_is_warned_of(tmp_path: Path) -> None:
    """With --source, the copy stands beside files of translations too."""
    lines = ["a b c d e f g", "h i j k l m n"]
    source = write(tmp_path / "s", lines)
    hypotheses = write(tmp_path / "h", ["a b c d e", "x y z"])
    reference = write(tmp_path / "r", lines)
    run = run_here("eval", "--hyp", hypotheses, reference, "--source", source).check()
    assert "copy of the source scores no less in BLEU and chrF2 and chrF2++ and exact" in run.err


def test_model_and_file_are_compared(model: Path, toy: Toy, tmp_path: Path) -> None:
    """The model is the first of the systems."""
    worse = write(tmp_path / "worse", damaged(as_lines(toy.test.target.read_bytes()), 1, seed="w"))
    run = run_here(
        "eval", "-m", model, *toy.test.arguments, "--hyp", worse, "--paired", "ar", "--json"
    )
    rows = json.loads(run.check().out)["scores"]
    assert [row["system"] for row in rows] == [str(model)] * 5 + [str(worse)] * 5
    assert rows[5]["p_value"] < 0.05


def test_test_lines_in_the_training_text_are_counted(tmp_path: Path) -> None:
    """50 of 80 test pairs leaked, and 10 sources with another translation; blank ones do not count.

    The copy that fine-tuning makes and the mean of both know them too.
    """
    leaked = toy_pairs(50, seed="leaked")
    sources_alone = [(source, target_of(WORDS[0])) for source, _ in toy_pairs(10, seed="alone")]
    clean = toy_pairs(400, seed="training")
    test = [*leaked, *toy_pairs(10, seed="alone"), *toy_pairs(20, seed="unseen")]
    known = {source for source, _ in [*clean, *sources_alone, *leaked]}
    num_known = sum(source in known for source, _ in test)
    corpus = write_files(tmp_path, "train", [*clean, *leaked, *sources_alone])
    dev = write_files(tmp_path, "dev", toy_pairs(5, seed="dev"))
    files = write_files(tmp_path, "test", test)
    model = tmp_path / "model"
    run_here("train", *corpus.arguments, *dev.as_dev, "-o", model, *UNTRAINED).check()

    def told(folder: Path, *options: str) -> tuple[str, dict[str, int]]:
        run = run_here("eval", "-m", folder, *files.arguments, "--json", *options).check()
        return run.err, json.loads(run.out)["in_training"]

    err, found = told(model)
    assert found["sources"] == num_known >= 60
    assert found["both"] >= 50
    assert found["is_whole"]
    assert f"of 80 test lines occur in the training text: {num_known} sources" in err
    clean_files = write_files(tmp_path, "clean", clean)
    tuned = tmp_path / "tuned"
    run_here(
        *("train", *clean_files.arguments, *dev.as_dev, "-o", tuned, "--from", model),
        *("--updates", "1", "--device", "cpu"),
    ).check()
    assert told(tuned)[1] == found
    mean = tmp_path / "mean"
    run_here("average", model, tuned, "-o", mean).check()
    assert told(mean)[1] == found
    (tuned / FILE).unlink()
    assert "is not known" in run_here("eval", "-m", tuned, *files.arguments).check().err
    run_here("average", model, tuned, "-o", tmp_path / "half").check()
    err, of_half = told(tmp_path / "half")
    assert of_half == found | {"is_whole": False}
    assert "keeps no record" in err


def test_prepared_corpus_that_is_taken_over_is_known_too(tmp_path: Path) -> None:
    """And the held-out set is none of the training text."""
    corpus = write_files(tmp_path, "train", toy_pairs(300, seed="training"))
    for name in ("first", "second"):
        run = run_here("train", *corpus.arguments, "-o", tmp_path / name, *UNTRAINED).check()
    assert "taken over" in run.err
    first, second = (SeenLines.load(tmp_path / name / FILE) for name in ("first", "second"))
    assert first is not None
    assert second is not None
    assert first.source.tolist() == second.source.tolist()
    held_out = as_lines((tmp_path / "first" / "dev.source").read_bytes())
    assert held_out
    assert not first.holds("source", held_out, str).any()
    assert len(first.source) == 300 - len(held_out)


def test_folder_without_its_training_part_is_scored_all_the_same(own_model: Path, toy: Toy) -> None:
    shutil.rmtree(own_model / "training")
    run = run_here("eval", "-m", own_model, *toy.test.arguments, "--json").check()
    assert [each["system"] for each in json.loads(run.out)["trivial"]] == ["copy of the source"]
    (own_model / "training").mkdir()
    (own_model / "training" / "tokens.arrow").write_bytes(b"of another format")
    run = run_here("eval", "-m", own_model, *toy.test.arguments).check()
    assert "no nearest training pairs" in run.err
