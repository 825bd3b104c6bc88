"""F14, F15: names of files that are not UTF-8, and a byte order mark in settings."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cases.runs import SMALL, UNTRAINED, run_here, run_process
from tests.cases.toy import Toy

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
NAMES = [
    pytest.param("größe", C_LOCALE, id="not ASCII in the C locale"),
    pytest.param("gr\udcf6\udcdfe", {}, id="not UTF-8"),
    pytest.param("gr\udcf6\udcdfe", C_LOCALE, id="not UTF-8 in the C locale"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
@pytest.mark.parametrize(("name", "environment"), NAMES)
def test_files_and_folders_may_have_any_names(
    name: str, environment: dict[str, str], model: Path, toy: Toy, tmp_path: Path
) -> None:
    """F14: trained into, resumed, translated with, exported, reported."""
    folder = tmp_path / name
    folder.mkdir()
    source, target = folder / "a.src", folder / "a.tgt"
    shutil.copy(toy.dev.source, source)
    shutil.copy(toy.dev.target, target)
    shutil.copytree(model, folder / "model")

    def run(*arguments: str | Path) -> str:
        return run_process(*arguments, environment=environment).check().err

    run("train", source, target, "--weight", f"{source}=2", "-o", folder / "new", *UNTRAINED)
    run("train", "--resume", folder / "new", "--updates", "2")
    run("train", source, target, "--from", folder / "new", "-o", folder / "more", "--updates", "1")
    out = run_process(
        "translate", "-m", folder / "model", source, "-o", folder / "o.gz", environment=environment
    )
    out.check()
    scores = folder / "scores"
    said = run(
        "eval", "-m", folder / "model", source, target, "--sentences", scores,
        "--html", folder / "p.html", "--card",
    )  # fmt: skip
    assert os.fsencode(name).decode("utf-8", "replace") in said
    run("check", source, target)
    run("plot", folder / "model", "-o", folder / "p.svg")
    assert all((folder / each).exists() for each in ("o.gz", "scores", "p.html", "p.svg"))


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
def test_engines_and_exports_take_any_names(model: Path, toy: Toy, tmp_path: Path) -> None:
    """F14: paths that go to CTranslate2 and safetensors."""
    pytest.importorskip("ctranslate2")
    folder = tmp_path / "gr\udcf6\udcdfe"
    shutil.copytree(model, folder)
    run = run_process("translate", "-m", folder, toy.dev.source, "--engine", "ctranslate2").check()
    assert "engine ctranslate2" in run.err
    run_process("export", "-m", folder, "-o", tmp_path / "\udcff").check()


def test_settings_may_begin_with_a_byte_order_mark(toy: Toy, tmp_path: Path) -> None:
    """F15: as some editors write them."""
    config = tmp_path / "mine.toml"
    config.write_bytes(b"\xef\xbb\xbf[training]\nseed = 7\n")
    folder = tmp_path / "m"
    run_here(
        "train", *toy.dev.arguments, "--config", config, "-o", folder, "--updates", "1", *SMALL
    ).check()
    settings = folder / "config.toml"
    assert "seed = 7" in settings.read_text("utf-8")
    settings.write_bytes(b"\xef\xbb\xbf" + settings.read_bytes())
    run_here("translate", "-m", folder, stdin=b"\n").check()
