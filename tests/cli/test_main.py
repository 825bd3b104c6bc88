"""The command line: quick help, exit codes, one clear line for every mistake."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mt.cli import commands
from tests.cases.runs import run_here
from tests.cli.starter import DE, EN, status_of

COMMANDS = sorted(Path(commands.__file__).parent.glob("[!_]*.py"))


def test_help_imports_no_torch_and_answers_at_once() -> None:
    code = (
        "import sys\n"
        "from mt.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'sentencepiece', 'sacrebleu', 'datasets', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    seconds = []
    for _ in range(5):
        started = time.monotonic()
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        seconds.append(time.monotonic() - started)
    assert out.stdout.endswith("[]\n")
    assert "translate" in out.stdout
    assert min(seconds) < 0.25


@pytest.mark.parametrize("module", [file.stem for file in COMMANDS])
def test_the_help_of_a_command_imports_no_torch(module: str) -> None:
    code = f"import sys, mt.cli.commands.{module}; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("--version") == 0
    assert capsys.readouterr().out == "mt 0.1.0\n"


def test_few_kernels_are_kept_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "7")
    assert status_of("--version") == 0
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "64"
    assert os.environ["LRU_CACHE_CAPACITY"] == "7"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["trian"], 2, "No such command 'trian'"),
        (["train"], 2, "Missing argument 'CORPUS...'"),
        (["train", DE, EN], 2, "Missing option '-o'"),
        (["train", DE, "-o", "{tmp}/m"], 2, "test.de has no partner"),
        (["train", DE, "{tmp}/none", "-o", "{tmp}/m"], 1, "none does not exist"),
        (["train", DE, EN, "-o", "{tmp}"], 2, "exists already and is not empty"),
        (["train", DE, EN, "-o", "{tmp}/m", "--preset", "huge"], 2, "'huge' is not one of"),
        (["train", DE, EN, "-o", "{tmp}/m", "--langs", "german"], 2, "not of the form"),
        (["train", DE, EN, "-o", "{tmp}/m", "--columns", "0,1"], 2, "--columns '0,1' is not"),
        (["train", DE, EN, "-o", "{tmp}/m", "--set", "model.head=2"], 2, "'model.heads'?"),
        (["train", DE, EN, "-o", "{tmp}/m", "--set", "model.heads=3"], 2, "must be a multiple"),
        (["train", DE, EN, "-o", "{tmp}/m", "--minutes", "0"], 2, "--minutes"),
        (["train", DE, EN, "-o", "{tmp}/m", "--device", "cuda"], 2, "no cuda device"),
        (["train", DE, EN, "-o", "{tmp}/m", "--config", "{tmp}/c.toml"], 2, "cannot be read"),
        (["train", DE, EN, "-o", "{tmp}/m", "--vocab-size", "4"], 2, "need at least"),
        (["train", "--resume", "{tmp}/m"], 1, "not a model folder"),
        (["train", "--resume", "{tmp}/m", "--shard"], 2, "Start with torchrun"),
        (["train", DE, EN, "-o", "{tmp}/m", "--shard"], 2, "Start with torchrun"),
        (["train", "--resume", "{tmp}/m", "--seed", "3"], 2, "--seed cannot change"),
        (["train", DE, EN, "--resume", "{tmp}/m"], 2, "CORPUS cannot change"),
        (["translate"], 2, "Missing option '-m'"),
        (["translate", "-m", "{tmp}/m"], 1, "not a model folder: no such folder"),
        (["translate", "-m", "{tmp}"], 1, "has no config.toml"),
        (["score", DE, EN], 2, "Missing option '-m'"),
        (["score", "-m", "{tmp}/m", DE], 2, "Missing argument 'TARGET'"),
        (["score", "-m", "{tmp}/m", DE, EN], 1, "not a model folder: no such folder"),
        (["inspect", "{tmp}/m"], 2, "give either --pair SOURCE TARGET or --source TEXT"),
        (["inspect", "{tmp}/m", "--source", "x"], 1, "not a model folder: no such folder"),
        (["eval", DE, EN], 2, "give either -m MODEL"),
        (["eval", "--hyp", DE], 2, "Missing argument 'REFERENCE...'"),
        (["eval", "--hyp", DE, "{tmp}/short.en"], 1, "test.de has 500 lines, reference"),
        (["eval", "--hyp", "{tmp}/empty", "{tmp}/empty"], 1, "is empty"),
        (["eval", "--hyp", "{tmp}/none", DE], 1, "none cannot be read: No such file"),
    ],
)
def test_a_mistake_gets_its_exit_code_and_one_line(
    arguments: list[str],
    status: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "short.en").write_text("x\n" * 499)
    (tmp_path / "empty").write_text("")
    assert (
        status_of(*(argument.replace("{tmp}", str(tmp_path)) for argument in arguments)) == status
    )
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""
    assert not (tmp_path / "m").exists(), "a failed command leaves no folder behind"


def test_scoring_a_file_prints_each_score_with_its_signature(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status_of("eval", "--hyp", EN, EN) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].startswith("BLEU 100.00  nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert lines[1].startswith("chrF2 100.00  nrefs:1|case:mixed|eff:yes|nc:6|nw:0")


def test_scores_as_json_are_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    assert status_of("eval", "--hyp", EN, EN, EN, "--json") == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert [score["name"] for score in scores] == ["BLEU", "chrF2", "chrF2++", "TER", "exact"]
    assert all(score["score"] <= 100 and "nrefs:2" in score["signature"] for score in scores)


def test_a_misspelt_command_or_option_names_the_right_one() -> None:
    assert "'translate'?)" in run_here("tranlate").check(2).err
    assert "--beam" in run_here("translate", "--beem", "3").check(2).err


def test_names_of_other_programs_mean_the_same(tmp_path: Path) -> None:
    """The folder is missing, so that the error says that all options were understood."""
    flags = ("--beam-size", "3", "--nbest", "2", "--max-len", "9")
    message = run_here("translate", "-m", tmp_path / "none", *flags).check_refusal()
    assert "none" in message
    wrong = run_here("translate", "-m", tmp_path / "none", "--beam-size", "x").check(2).err
    assert "'--beam'" in wrong
    assert "REFERENCE" in run_here("evaluate", "--hyp", "a").check(2).err
