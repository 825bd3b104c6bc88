"""`mt inspect`: a page for a pair or for the model's own translation, and refusals that say why."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cases.runs import run_here
from tests.reporting.models import SOURCE, TARGET, write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("inspect") / "small")


def test_a_pair_gives_one_page(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_here("inspect", model, "--pair", SOURCE, TARGET, "--device", "cpu").check()
    assert run.out == b""
    assert run.err == "the page is in attention.html\n"
    assert [path.name for path in tmp_path.iterdir()] == ["attention.html"]
    text = (tmp_path / "attention.html").read_text("utf-8")
    assert "<title>Attention of small</title>" in text
    assert "translation as given" in text


def test_the_models_own_translation_is_that_of_mt_translate(model: Path, tmp_path: Path) -> None:
    from html import escape

    page = tmp_path / "own.html"
    run_here("inspect", model, "--source", SOURCE, "-o", page, "--device", "cpu").check()
    given = f"{SOURCE}\n".encode()
    (line,) = run_here("translate", "-m", model, "--device", "cpu", stdin=given).check().lines
    text = page.read_text("utf-8")
    assert "translation by the model itself" in text
    assert line
    assert f"<span dir=auto>{escape(line)}</span>" in text


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "give either --pair SOURCE TARGET or --source TEXT"),
        (("--pair", "a", "b", "--source", "a"), 2, "give either --pair"),
        (("-o", "{tmp}/x.html", "--pair", "a"), 2, "requires 2 arguments"),
        (("--pair", " ", "b"), 1, "the source is blank"),
        (("--pair", "a", ""), 1, "the target is blank"),
        (("--source", "\u200b"), 1, "the source is blank"),
        (("--source", "\udcff"), 1, "not UTF-8"),
        (("--source", "a", "-o", "{tmp}"), 2, "is a directory"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    arguments: tuple[str, ...], status: int, message: str, model: Path, tmp_path: Path
) -> None:
    given = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    if "-o" not in given:
        given += ["-o", str(tmp_path / "page.html")]
    run = run_here("inspect", model, "--device", "cpu", *given).check(status)
    assert message in run.err
    assert list(tmp_path.iterdir()) == []


def test_an_image_without_matplotlib_is_refused_before_anything_is_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = tmp_path / "page.html"
    run = run_here("inspect", model, "--pair", "a", "b", "--png", "-o", page, "--device", "cpu")
    assert "pip install matplotlib" in run.check_refusal(status=2)
    assert not page.exists()


def test_images_lie_beside_the_page(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    arguments = ("--pair", "haus", "haus <b>", "--png", "-o", page, "--device", "cpu")
    run = run_here("inspect", model, *arguments).check()
    assert run.err.count("an image is in ") == 3
    assert len(list(tmp_path.glob("page.*.png"))) == 3
