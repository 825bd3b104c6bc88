"""Files of a model folder that are damaged: what people may write breaks nothing, tokens are known.

Fuzzing found these (tests/fuzz/test_model_folder.py).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cases.runs import UNTRAINED, run_here
from tests.cases.toy import toy_pairs, write_files

BROKEN = b'\xff\xfe {"event": "Validated", "scores": 3}\n[]\n{"event": 1, "update": [2]}\n'


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    corpus = write_files(folder, "train", toy_pairs(50, seed="damaged folder"))
    run_here("train", *corpus.arguments, "-o", folder / "model", *UNTRAINED).check()
    return folder / "model"


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "model"))


def resume(folder: Path) -> list[str]:
    """What a resumed run says on standard error."""
    return run_here("train", "--resume", folder, "--updates", "2").check().err.split("\n")


def test_a_card_that_is_not_utf_8_is_written_anew_and_keeps_what_stands_below(folder: Path) -> None:
    card = folder / "README.md"
    card.write_bytes(card.read_bytes() + "Für Jürgen\n".encode("latin-1"))
    resume(folder)
    assert card.read_text("utf-8").endswith("F\\xfcr J\\xfcrgen\n")


def test_lines_of_metrics_that_are_no_records_are_left_out(folder: Path) -> None:
    metrics = folder / "metrics.jsonl"
    whole = metrics.read_bytes()
    metrics.write_bytes(BROKEN + whole)
    resume(folder)
    assert whole.split(b"\n")[0] in metrics.read_bytes().split(b"\n")
    assert "## " in (folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["tokens.arrow", "dev-tokens.arrow"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_tokens_with_a_bit_that_flipped_are_refused_by_name(
    folder: Path, name: str, share: float
) -> None:
    path = folder / "training" / name
    content = bytearray(path.read_bytes())
    content[int(share * len(content))] ^= 4
    path.write_bytes(content)
    message = run_here("train", "--resume", folder, "--updates", "2").check_refusal()
    assert f"{path} is damaged" in message


def test_tokens_with_a_bit_that_flipped_are_not_taken_over(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained.parent, tmp_path / "runs")
    path = tmp_path / "runs" / "model" / "training" / "tokens.arrow"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    corpus = [tmp_path / "runs" / name for name in ("train.src", "train.tgt")]
    run = run_here("train", *corpus, "-o", tmp_path / "runs" / "other", *UNTRAINED)
    assert f"{path} is damaged" in run.check_refusal()
