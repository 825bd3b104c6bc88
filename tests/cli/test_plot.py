"""`mt plot`: a drawing of models, warnings where they do not compare, refusals."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.cases.runs import run_here
from tests.reporting.training_runs import a_run


def folder_of(tmp_path: Path, name: str, *, dev: str = "a\n", tokenizer: bytes = b"t") -> Path:
    folder = tmp_path / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    a_run(folder)
    (folder / "dev.source").write_text(dev, "utf-8")
    (folder / "tokenizer.model").write_bytes(tokenizer)
    return folder


def test_models_are_drawn_and_told_apart(tmp_path: Path) -> None:
    first, second = folder_of(tmp_path, "a/m"), folder_of(tmp_path, "b/m")
    image = tmp_path / "c.svg"
    run = run_here("plot", first, second, "-o", image, "--by", "minutes", "--all").check()
    assert image.read_bytes().startswith(b"<svg ")
    assert run.err == f"the curves are in {image}\n"
    assert run.out == b""


@pytest.mark.parametrize(
    ("difference", "says"),
    [
        ({"dev": "b\n"}, "a and b have different validation sets"),
        ({"tokenizer": b"u"}, "a and b have different tokenizers"),
    ],
)
def test_what_does_not_compare_is_warned_of(
    tmp_path: Path, difference: dict[str, str], says: str
) -> None:
    models = folder_of(tmp_path, "a"), folder_of(tmp_path, "b", **difference)  # type: ignore[arg-type]
    run = run_here("plot", *models, "-o", tmp_path / "c.html").check()
    assert f"mt: warning: {says}" in run.err


def test_what_cannot_be_drawn_is_one_line(tmp_path: Path) -> None:
    model, image = folder_of(tmp_path, "a"), tmp_path / "c.svg"
    refusal = run_here("plot", model, "-o", tmp_path / "c.png").check_refusal(status=2)
    assert "curves are .svg or .html" in refusal
    assert "turn it into an image or a PDF" in refusal
    assert "Missing argument 'MODEL...'" in run_here("plot", "-o", image).check(2).err
    twice = run_here("plot", model, tmp_path / "b" / ".." / "a", "-o", image)
    assert "a is given 2 times" in twice.check_refusal(status=2)
    shutil.rmtree(model)
    assert "no such folder" in run_here("plot", model, "-o", image).check_refusal(status=1)
    assert not image.exists()


def test_it_needs_no_further_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    image = tmp_path / "c.svg"
    run_here("plot", folder_of(tmp_path, "a"), "-o", image).check()
    assert image.exists()
