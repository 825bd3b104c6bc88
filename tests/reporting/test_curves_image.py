"""Training curves as images: whole files, the same for the same runs, names as they are."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from mt.errors import ConfigError, ModelFolderError
from mt.events import Event, Notice
from mt.reporting.curves import Curves, read_curves
from mt.reporting.curves_image import write_curves
from mt.reporting.figures import FORMATS, require_matplotlib
from tests.reporting.test_curves import batch, started, validated, write


def a_run(folder: Path, *, slope: float = 1.0) -> Curves:
    events: list[Any] = [started()]
    for update in range(20, 220, 20):
        events.append(batch(update, 5.0 - slope * update / 100))
        if update % 40 == 0:
            events.append(validated(update, slope * update / 10))
    return read_curves(write(folder, *events))


@pytest.fixture
def run(tmp_path: Path) -> Curves:
    pytest.importorskip("matplotlib")
    return a_run(tmp_path / "m_$x$")


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_run_gives_the_same_bytes(tmp_path: Path, run: Curves, form: str) -> None:
    paths = [tmp_path / f"{name}.{form}" for name in ("a", "b")]
    for path in paths:
        write_curves([run], path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    heads = {"svg": b"<?xml", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF"}
    assert first.startswith(heads[form])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{form}", f"b.{form}", run.name]


def test_an_image_changes_with_the_axis_and_with_more_panels(tmp_path: Path, run: Curves) -> None:
    sizes, contents = set(), set()
    for number, options in enumerate(({}, {"axis": "minutes"}, {"is_full": True})):
        path = tmp_path / f"{number}.png"
        write_curves([run], path, **options)  # type: ignore[arg-type]
        contents.add(path.read_bytes())
        sizes.add(struct.unpack(">II", path.read_bytes()[16:24]))
    assert len(contents) == 3
    assert len(sizes) == 2


def test_runs_of_any_names_are_drawn_over_one_another(tmp_path: Path, run: Curves) -> None:
    others = [a_run(tmp_path / f"_m{number}", slope=0.8) for number in range(9)]
    events: list[Event] = []
    write_curves([run, *others], tmp_path / "a.svg", listener=events.append)
    colours = set(re.findall(r"stroke: (#[0-9a-f]{6})", (tmp_path / "a.svg").read_text("utf-8")))
    assert {"#0072b2", "#d55e00", "#009e73"} <= colours
    assert events == []


def test_the_style_of_the_user_changes_nothing(tmp_path: Path, run: Curves) -> None:
    import matplotlib as mpl

    write_curves([run], tmp_path / "a.svg")
    with mpl.rc_context({"axes.facecolor": "black", "font.size": 30, "svg.fonttype": "none"}):
        write_curves([run], tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_letters_that_the_font_lacks_are_told(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    events: list[Event] = []
    write_curves([a_run(tmp_path / "汉语")], tmp_path / "a.png", listener=events.append)
    assert [type(event) for event in events] == [Notice]
    assert "lacks 2 characters of the names of models" in str(events[0])


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    empty = read_curves(write(tmp_path / "new", started()))
    with pytest.raises(ModelFolderError, match="new has no curves yet"):
        write_curves([empty], tmp_path / "a.svg")
    with pytest.raises(ConfigError, match=r"a\.jpg has no suffix .* \.svg, \.png, \.pdf"):
        write_curves([empty], tmp_path / "a.jpg")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_without_matplotlib_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"mt plot needs .* pip install matplotlib"):
        require_matplotlib("mt plot")
