"""Training curves as files: the same for the same runs, whole in themselves, names as they are."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from mt.errors import ConfigError, ModelFolderError
from mt.reporting.curves import Curves, read_curves
from mt.reporting.curves_file import write_curves
from tests.reporting.training_runs import a_run, started, write

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def run(tmp_path: Path) -> Curves:
    return read_curves(a_run(tmp_path / "m_<x>&"))


def drawing(path: Path) -> ET.Element:
    return ET.fromstring(path.read_bytes())


def texts(path: Path, kind: str) -> list[str | None]:
    return [text.text for text in drawing(path).iter(f"{SVG}text") if text.attrib["class"] == kind]


@pytest.mark.parametrize(("form", "head"), [("svg", b"<svg "), ("html", b"<!doctype html>")])
def test_the_same_run_gives_the_same_bytes(
    tmp_path: Path, run: Curves, form: str, head: bytes
) -> None:
    paths = [tmp_path / f"{name}.{form}" for name in ("a", "b")]
    for path in paths:
        write_curves([run], path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(head)
    assert b"m_&lt;x&gt;&amp;" in first
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{form}", f"b.{form}", run.name]


def test_charts_have_titles_units_and_signatures(tmp_path: Path, run: Curves) -> None:
    path = tmp_path / "a.svg"
    write_curves([run], path, axis="minutes", is_full=True)
    assert texts(path, "title") == ["loss", "validation BLEU", "learning rate", "gradient norm"]
    units = ["nats per target token, less is better", "more is better", None, "before clipping"]
    assert texts(path, "below") == units
    assert texts(path, "recipe") == [None, "nrefs:1|case:mixed", None, None]
    assert texts(path, "axis") == ["minutes of training, validations included"] * 4
    assert texts(path, "key") == ["training", "validation", "weights of the model"]
    titles = [title.text for title in drawing(path).iter(f"{SVG}title")]
    assert "validation 20 at minute 10" in titles


def test_the_axis_moves_every_point(tmp_path: Path, run: Curves) -> None:
    write_curves([run], tmp_path / "updates.svg")
    write_curves([run], tmp_path / "epochs.svg", axis="epochs")
    last = {
        name: [text for text in texts(tmp_path / f"{name}.svg", "tick") if text][-1]
        for name in ("updates", "epochs")
    }
    assert last == {"updates": "200", "epochs": "2.0"}


def test_runs_are_drawn_over_one_another(tmp_path: Path, run: Curves) -> None:
    others = [read_curves(a_run(tmp_path / f"m{i}", slope=0.8)) for i in range(9)]
    path = tmp_path / "a.svg"
    write_curves([run, *others], path)
    names = [run.name, *(other.name for other in others)]
    assert texts(path, "key") == [*names, "training", "weights of the model"]
    charts = [each for each in drawing(path).iter(f"{SVG}svg") if "chart" in each.get("class", "")]
    assert [len(list(each.iter(f"{SVG}polyline"))) for each in charts] == [20, 10]
    assert [len(list(each.iter(f"{SVG}polygon"))) for each in charts] == [10, 10]
    styles = [each.attrib["class"] for each in charts[1].iter(f"{SVG}polyline")]
    assert len(set(styles)) == 10


def test_a_legend_stays_within_the_drawing(tmp_path: Path) -> None:
    runs = [read_curves(a_run(tmp_path / f"{i}{'长' * 40}")) for i in range(3)]
    path = tmp_path / "a.svg"
    write_curves(runs, path)
    root = drawing(path)
    keys = [
        each for each in root.iter(f"{SVG}g") if each.find(f"{SVG}text[@class='key']") is not None
    ]
    rows = {each.attrib["transform"].split()[1] for each in keys}
    assert len(rows) == 4, "one for each name, one for the rest"


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    empty = read_curves(write(tmp_path / "new", started()))
    with pytest.raises(ModelFolderError, match="new has no curves yet"):
        write_curves([empty], tmp_path / "a.svg")
    for form in ("png", "pdf", "jpg"):
        with pytest.raises(ConfigError, match=rf"a\.{form} cannot be written: .* \.svg or \.html"):
            write_curves([empty], tmp_path / f"a.{form}")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
