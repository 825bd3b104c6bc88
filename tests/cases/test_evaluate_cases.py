"""Scores: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring. The
expected numbers were computed with sacreBLEU's own command line, version 2.6.0.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.conftest import Trained
from tests.cases.model_files import records
from tests.cases.runs import Run, run_here, run_process
from tests.cases.toy import Toy, as_bytes, as_lines, toy_pairs
from tests.evaluation.corpus_scores import corpus_scores

HYPOTHESES = [
    "the red boat sails north",
    "we sold two small lamps today",
    "rain fell on the old bridge",
]
REFERENCES = [
    "the red boat sails north",
    "we sold two little lamps today",
    "rain fell over the old bridge",
]
SECOND_REFERENCES = [
    "a red boat is sailing north",
    "today we sold two small lamps",
    "it rained on the old bridge",
]
_OTHERS = {"chrF2++": "nw:2", "TER": "case:lc|tok:tercom", "exact": "space:no"}
_SIGNATURE = re.compile(
    r"BLEU (\S+)  nrefs:(\d)\|case:(\w+)\|eff:no\|tok:13a\|smooth:exp\|version:[\d.]+\n"
    r"chrF2 (\S+)  nrefs:\2\|case:(\w+)\|eff:yes\|nc:6\|nw:0\|space:no\|version:[\d.]+\n"
)


def write(path: Path, content: list[str] | bytes) -> Path:
    """A file of lines or bytes."""
    path.write_bytes(content if isinstance(content, bytes) else as_bytes(content))
    return path


def score(
    folder: Path,
    hypotheses: list[str] | bytes,
    *references: list[str] | bytes,
    options: tuple[str, ...] = (),
) -> Run:
    """`mt eval --hyp` over files with this content: h, r1, r2."""
    paths = [write(folder / f"r{n}", content) for n, content in enumerate(references, start=1)]
    return run_here("eval", "--hyp", write(folder / "h", hypotheses), *paths, *options)


def printed(run: Run) -> tuple[str, str]:
    """BLEU and chrF2 as printed, with their signatures in order."""
    found = _SIGNATURE.match(run.check().out.decode("utf-8"))
    assert found is not None, run.out
    assert [line.split(" ")[0] for line in run.lines[2:]] == list(_OTHERS)
    assert all(part in line for line, part in zip(run.lines[2:], _OTHERS.values(), strict=True))
    return found[1], found[4]


# E01, E05, E12: what is printed


def test_scores_are_sacrebleu_corpus_scores_with_signatures(tmp_path: Path) -> None:
    """E01 (sacrebleu PR#50; fairseq#2850, #4362): of a corpus, not a mean over sentences."""
    run = score(tmp_path, HYPOTHESES, REFERENCES)
    assert printed(run) == ("51.73", "77.85")
    assert b"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in run.out
    run = score(tmp_path, HYPOTHESES, REFERENCES, SECOND_REFERENCES)
    assert printed(run) == ("80.60", "86.77")
    assert run.out.count(b"nrefs:2|") == 5


def test_json_holds_what_is_printed(tmp_path: Path) -> None:
    """E01, E05: each score with its name and signature."""
    plain = score(tmp_path, HYPOTHESES, REFERENCES).check()
    found = score(tmp_path, HYPOTHESES, REFERENCES, options=("--json",)).check()
    rows = [
        f"{s['name']} {s['score']:.2f}  {s['signature']}" for s in json.loads(found.out)["scores"]
    ]
    assert rows == plain.lines


def test_perfect_score_is_100(tmp_path: Path) -> None:
    """E05 (sacrebleu#275; ragas PR#2951): not 100.00000000000004, in JSON neither."""
    assert printed(score(tmp_path, REFERENCES, REFERENCES)) == ("100.00", "100.00")
    found = score(tmp_path, REFERENCES, REFERENCES, options=("--json",)).check()
    assert [each["score"] for each in json.loads(found.out)["scores"]] == [100.0] * 3 + [0.0, 100.0]


def test_case_counts_unless_asked_otherwise(tmp_path: Path) -> None:
    """E12 (facebookresearch/fairseq#2850): and the signatures of both scores say which."""
    upper = [text.upper() for text in HYPOTHESES]
    run = score(tmp_path, upper, REFERENCES)
    assert printed(run) == ("0.00", "0.00")
    assert run.out.count(b"case:mixed") == 4
    assert run.out.count(b"case:lc|tok:tercom") == 1
    run = score(tmp_path, upper, REFERENCES, options=("--lowercase",))
    assert printed(run) == ("51.73", "77.85")
    assert run.out.count(b"case:lc") == 5


# E02, E03, E10: unequal lengths


@pytest.mark.parametrize(("num_hypotheses", "num_references"), [(3, 2), (3, 4), (2, 3)])
def test_unequal_lengths_are_refused_with_both(
    num_hypotheses: int, num_references: int, tmp_path: Path
) -> None:
    """E02 (sacrebleu#160, #120): sacreBLEU's Python API would give a score."""
    run = score(
        tmp_path,
        (HYPOTHESES * 2)[:num_hypotheses],
        (REFERENCES * 2)[:num_references],
    )
    message = run.check_refusal()
    assert f"{tmp_path / 'h'} has {num_hypotheses} lines" in message
    assert f"{tmp_path / 'r1'} has {num_references}" in message


@pytest.mark.parametrize("num_lines", [2, 4])
def test_reference_of_another_length_is_refused_by_name(num_lines: int, tmp_path: Path) -> None:
    """E03 (huggingface/datasets PR#520): several references are not cropped to the shortest."""
    run = score(tmp_path, HYPOTHESES, REFERENCES, (SECOND_REFERENCES * 2)[:num_lines])
    message = run.check_refusal()
    assert f"has 3 lines, reference {tmp_path / 'r2'} has {num_lines}" in message
    assert str(tmp_path / "r1") not in message


def test_unequal_source_and_reference_are_refused_before_translating(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    """E02: with a model as with a file."""
    short = write(tmp_path / "short", as_lines(toy.test.target.read_bytes())[:-1])
    run = run_here("eval", "-m", model, toy.test.source, short)
    message = run.check_refusal()
    assert f"{toy.test.source} has 20 lines, reference {short} has 19" in message


@pytest.mark.parametrize(
    ("hypotheses", "references"), [([], []), ([], REFERENCES), (HYPOTHESES, [])]
)
def test_empty_file_is_refused(
    hypotheses: list[str], references: list[str], tmp_path: Path
) -> None:
    """E10 (XLM#290; marian-dev#310): no division by zero, no nan."""
    message = score(tmp_path, hypotheses, references).check_refusal()
    assert "is empty" in message or "has 0" in message
    assert "nan" not in message


# E04: empty hypotheses


def test_empty_hypothesis_stays_and_costs(tmp_path: Path) -> None:
    """E04 (sacrebleu PR#132, #239; browsermt/students#10): 63.40 would be without its line."""
    run = score(tmp_path, [HYPOTHESES[0], "", HYPOTHESES[2]], REFERENCES)
    assert printed(run) == ("36.75", "58.84")
    assert run.err == "mt: warning: 1 of 3 hypotheses are empty\n"


def test_hypotheses_that_say_nothing_score_nothing(tmp_path: Path) -> None:
    """E04: and divide nothing by zero."""
    assert printed(score(tmp_path, ["", "", ""], REFERENCES)) == ("0.00", "0.00")
    assert printed(score(tmp_path, ["", " ", ""], ["", "", ""]))[0] == "0.00"


# E08, E09: lines


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c", "\r"])
def test_only_lf_ends_a_segment(separator: str, tmp_path: Path) -> None:
    """E08 (sacrebleu PR#24; COMET#139): there are three segments, and they are equal."""
    first = f"the red boat{separator}sails north"
    run = score(tmp_path, [first, *REFERENCES[1:]], REFERENCES)
    assert printed(run) == ("100.00", "100.00")


@pytest.mark.parametrize(
    "convert",
    [
        lambda data: data.removesuffix(b"\n"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n").removesuffix(b"\n"),
    ],
    ids=["no final LF", "CRLF", "byte order mark", "all three"],
)
@pytest.mark.parametrize("side", ["hypotheses", "references"])
def test_form_of_a_file_changes_no_score(
    convert: Callable[[bytes], bytes], side: str, tmp_path: Path
) -> None:
    """E09, D07 (moses-smt/mosesdecoder PR#201): a byte order mark kept would make it 91.31."""
    plain = as_bytes(REFERENCES)
    files = [convert(plain), plain]
    run = score(tmp_path, *(files if side == "hypotheses" else files[::-1]))
    assert printed(run) == ("100.00", "100.00")


# E11: text that looks tokenised


def test_tokenised_looking_text_is_warned_of_once(tmp_path: Path) -> None:
    """E11 (sacrebleu#162; fairseq#2593, #2860, #1300): the score does not suffer."""
    hypotheses = write(tmp_path / "h", ["one two three ."] * 100)
    references = write(tmp_path / "r", ["one two three."] * 100)
    run = run_process("eval", "--hyp", hypotheses, references)
    assert printed(run)[0] == "100.00"
    assert len(re.findall("tokeni[sz]ed period", run.err)) == 1
    run = run_here("eval", "--hyp", hypotheses, references, "--tokenized").check()
    assert run.err == ""
    assert b"tok:none" in run.out


def test_validations_do_not_repeat_that_warning(
    own_model: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """E11: three validations of 100 toy lines, all of which end in a full stop of its own."""
    pairs = toy_pairs(100, seed="full stops")
    write(own_model / "dev.source", [source for source, _ in pairs])
    write(own_model / "dev.target", [target for _, target in pairs])
    config = own_model / "config.toml"
    text = config.read_text("utf-8")
    config.write_text(text.replace("validate_every = 100", "validate_every = 1"), "utf-8")
    (kept,) = (own_model / "training").glob("before-cooldown-*")  # else it would go back to that
    shutil.rmtree(kept)
    before = len(records(own_model, "Validated"))
    run_here("train", "--resume", own_model, "--updates", "303").check()
    assert len(records(own_model, "Validated")) == before + 3
    warnings = [record for record in caplog.records if "tokenized period" in record.getMessage()]
    assert len(warnings) <= 1


# T13: the score of training is the score of the commands


def test_dev_score_of_training_is_that_of_the_commands(
    trained: Trained, toy: Toy, tmp_path: Path
) -> None:
    """T13 (fairseq#3245; marian#233, #235; joeynmt PR#122; eole#126, #128; sockeye#479).

    One number, whether it comes from the log of training, from `mt eval -m`, or from
    `mt translate` and `mt eval --hyp`, and it is no trivial one.
    """
    best = [record for record in records(trained.folder, "Validated") if record["is_best"]][-1]
    dev = toy.dev.arguments
    direct = run_here("eval", "-m", trained.folder, *dev, "--json").check()
    again = run_here("eval", "-m", trained.folder, *dev, "--json", "--batch-size", "3").check()
    out = tmp_path / "h"
    run_here("translate", "-m", trained.folder, dev[0], "-o", out).check()
    in_two_steps = run_here("eval", "--hyp", out, dev[1], "--json").check()
    assert direct.out == again.out
    scores = json.loads(direct.out)["scores"]
    assert scores == json.loads(in_two_steps.out)["scores"]
    validated = [each for each in scores if each["name"] in best["signatures"]]
    assert {each["name"]: each["signature"] for each in validated} == best["signatures"]
    for each in validated:
        assert 40 < each["score"] < 99
        assert best["scores"][each["name"]] == pytest.approx(each["score"], abs=0.01)
        assert f"{each['name']} {each['score']:.2f}" in trained.run.err


def test_scoring_twice_gives_the_same(toy: Toy) -> None:
    """T13: no state is kept between validations."""
    sources, targets = (as_lines(path.read_bytes()) for path in (toy.dev.source, toy.dev.target))
    shifted = [*targets[1:], targets[0]]
    first = corpus_scores(shifted, [targets])
    corpus_scores(sources, [targets])
    assert corpus_scores(shifted, [targets]) == first
