"""Scores of text without spaces, of tokenizers that are not there, and of text that is odd.

The letter and number of a case and the public threads it comes from stand in each docstring. The
expected numbers were computed with sacreBLEU's own command line, version 2.6.0.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.error import URLError

import pytest

from mt.cli.main import main
from tests.cases.runs import Run, run_here
from tests.cases.toy import Toy, as_bytes

ZH = ("我今天买了三本书。", "我昨天买了三本书。")
JA = ("昨日は古い橋を渡りました。", "今日は古い橋を渡りました。")
KO = ("나는 오늘 책을 세 권 샀다.", "나는 어제 책을 세 권 샀다.")
TH = ("วันนี้ฉันซื้อหนังสือสามเล่ม", "เมื่อวานฉันซื้อหนังสือสามเล่ม")


def files(folder: Path, pair: tuple[str, str], reference: str = "r") -> tuple[str, Path, Path]:
    """`--hyp h r` over a line each."""
    (folder / "h").write_bytes(as_bytes([pair[0]]))
    (folder / reference).write_bytes(as_bytes([pair[1]]))
    return "--hyp", folder / "h", folder / reference


def scores_of(run: Run) -> dict[str, tuple[float, str]]:
    rows = json.loads(run.check().out)["scores"]
    return {row["name"]: (round(row["score"], 2), row["signature"]) for row in rows}


@pytest.mark.parametrize(
    ("options", "reference", "bleu", "tokenizer"),
    [
        ((), "r", 0.00, "13a"),
        (("--target-language", "zh"), "r", 75.06, "zh"),
        (("--tgt-lang", "zho_Hant"), "r", 75.06, "zh"),
        ((), "test.zh", 75.06, "zh"),
        (("--tokenize", "char"), "test.zh", 75.06, "char"),
        (("--tokenize", "13a", "--target-language", "zh"), "r", 0.00, "13a"),
    ],
)
def test_chinese_is_cut_by_its_language(
    options: tuple[str, ...], reference: str, bleu: float, tokenizer: str, tmp_path: Path
) -> None:
    """E06 (fairseq#4689, PR#3826; sacrebleu#147, #181; mozilla/translations#746).

    13a takes the sentence for one word. Only where it is used is there a warning.
    """
    run = run_here("eval", *files(tmp_path, ZH, reference), *options, "--json")
    scores = scores_of(run)
    assert scores["BLEU"][0] == bleu
    assert f"tok:{tokenizer}|" in scores["BLEU"][1]
    assert scores["chrF2"][0] == 68.66
    assert ("without spaces" in run.err) == (tokenizer == "13a")
    assert ("BLEU tokenizer zh, by the target language zh" in run.err) == (tokenizer == "zh")


@pytest.mark.parametrize("pair", [JA, KO, TH], ids=["Japanese", "Korean", "Thai"])
def test_13a_is_warned_of_where_it_finds_no_words(pair: tuple[str, str], tmp_path: Path) -> None:
    """E06: and not in languages with spaces, whatever stands between them."""
    run = run_here("eval", *files(tmp_path, pair)).check()
    assert run.err.count("without spaces") == 1
    mixed = ("the word 橋 means bridge", "the word 橋 means a bridge")
    assert run_here("eval", *files(tmp_path, mixed)).check().err == ""


def test_japanese_by_characters_and_ter_by_chinese_characters(tmp_path: Path) -> None:
    """E06: the numbers of the case; TER says how it took them."""
    run = run_here("eval", *files(tmp_path, JA), "--tokenize", "char", "--json")
    assert scores_of(run)["BLEU"][0] == 91.22
    run = run_here("eval", *files(tmp_path, ZH), "--target-language", "zh", "--json")
    ter, signature = scores_of(run)["TER"]
    assert "norm:yes|punct:yes|asian:yes" in signature
    assert ter == pytest.approx(100 / 9, abs=0.005)  # one of nine characters


def test_missing_tokenizer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E07 (sacrebleu PR#61, #171): with the command that installs it."""
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    run = run_here("eval", *files(tmp_path, JA), "--tokenize", "ja-mecab")
    assert "pip install 'sacrebleu[ja]'" in run.check_refusal(status=2)


def test_tokenizer_that_cannot_be_downloaded_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E07: no network."""

    def refuse(*_: object, **__: object) -> None:
        raise URLError("no network")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(tmp_path / "none"))
    run = run_here("eval", *files(tmp_path, ZH), "--tokenize", "flores200")
    assert "download" in run.check_refusal(status=2)


@pytest.mark.parametrize("broken", [b"caf\xe9\n", b"\xff\xfea\x00\n"], ids=["Latin-1", "UTF-16"])
@pytest.mark.parametrize("side", ["h", "r"])
def test_other_encodings_are_refused_by_file(broken: bytes, side: str, tmp_path: Path) -> None:
    """E08, D05: text that is not UTF-8 has no score."""
    arguments = files(tmp_path, ("one two", "one two"))
    (tmp_path / side).write_bytes(broken)
    assert str(tmp_path / side) in run_here("eval", *arguments).check_refusal()


def test_empty_references_are_counted(tmp_path: Path) -> None:
    """E04, E10: of one reference file, and of the one that has fewer than another."""
    for name, lines in {
        "h": ["one two three four five", "six"],
        "r1": ["one two three four five", ""],
        "r2": ["", "\u200b"],
    }.items():
        (tmp_path / name).write_bytes(as_bytes(lines))
    run = run_here("eval", "--hyp", tmp_path / "h", tmp_path / "r1").check()
    assert run.err == f"mt: warning: 1 of 2 references of {tmp_path / 'r1'} are empty\n"
    run = run_here("eval", "--hyp", tmp_path / "h", tmp_path / "r1", tmp_path / "r2").check()
    assert f"2 of 2 references of {tmp_path / 'r2'} are empty: sacreBLEU takes" in run.err
    assert "repeat another reference" in run.err


def test_help_is_given_without_torch(capsys: pytest.CaptureFixture[str]) -> None:
    """The command line answers at once."""
    with pytest.raises(SystemExit):
        main(["eval", "--help"])
    assert "--paired" in capsys.readouterr().out


def test_a_fault_of_the_command_is_told_before_anything_is_translated(
    model: Path, toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E07: a test set can take minutes."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("mt.translation.translator.Translator.load", never)
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    arguments = ("eval", "-m", model, *toy.test.arguments)
    assert "sacrebleu[ja]" in run_here(*arguments, "--tokenize", "ja-mecab").check_refusal(status=2)
    missing = tmp_path / "none" / "scores.tsv"
    run = run_here(*arguments, "--sentences", missing).check(2)
    assert f"{missing}: there is no such folder" in run.err
