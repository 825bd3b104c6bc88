from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt.config import Config
from mt.errors import ModelFolderError
from mt.model_folder.facts import read_facts
from mt.reporting.curves import Point, averaged, read_curves, smoothed
from tests.reporting.training_runs import ENDED, batch, started, validated, write


def test_what_a_run_wrote_is_read_as_series(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "model",
        started(),
        batch(20, 3.0),
        batch(40, 2.5),
        validated(40, 12.0, by_origin={"a.tsv": {"BLEU": 10.0}}),
        batch(60, 2.25),
        validated(60, 11.0, is_best=False),
        ENDED,
    )
    curves = read_curves(folder)
    assert curves.name == "model"
    assert curves.points("train/loss") == (
        Point(update=20, epoch=0.2, minutes=1.0, value=3.0),
        Point(update=40, epoch=0.4, minutes=2.0, value=2.5),
        Point(update=60, epoch=0.6, minutes=3.0, value=2.25),
    )
    assert [each.value for each in curves.points("dev/BLEU")] == [12.0, 11.0]
    assert [each.value for each in curves.points("dev/BLEU/a.tsv")] == [10.0]
    assert curves.dev_names == ("loss", "BLEU")
    assert curves.signatures == {"BLEU": "nrefs:1|case:mixed"}
    assert curves.best_update == 40
    assert curves.reason == "--updates 60 are made"
    assert curves.resumed_after == ()
    assert curves.points("dev/chrF2") == ()


def test_weights_of_a_run_that_went_back_are_on_no_curve_and_stay_known(tmp_path: Path) -> None:
    """Until those of the longer run are better; its validation of the same update is another."""
    run = (started(), batch(20), validated(20, 5.0), batch(40), validated(40, 9.0), ENDED)
    folder = write(tmp_path / "model", *run)
    write(folder, started(21), validated(40, 6.0, is_best=False), resumed_update=20, held_update=40)
    for resumed in (40, 30, 20):  # whatever was saved of the longer run
        write(folder, started(resumed + 1), resumed_update=resumed, held_update=40)
        curves = read_curves(folder)
        values = [5.0, 6.0] if resumed == 40 else [5.0]
        assert [each.value for each in curves.points("dev/BLEU")] == values
        assert curves.best_update is None
        best = read_facts(folder, Config()).best
        assert best is not None
        assert (best.update, best.scores["BLEU"]) == (40, 9.0)
    write(folder, validated(30, 10.0), resumed_update=20, held_update=40)
    write(folder, started(31), resumed_update=30)
    assert read_curves(folder).best_update == 30
    best = read_facts(folder, Config()).best
    assert best is not None
    assert best.update == 30


def test_a_resumed_run_is_one_curve(tmp_path: Path) -> None:
    folder = write(tmp_path / "model", started(), batch(20), batch(40), batch(60), ENDED)
    write(folder, started(41), batch(60, 1.0), resumed_update=40)
    curves = read_curves(folder)
    assert [each.update for each in curves.points("train/loss")] == [20, 40, 60]
    assert curves.points("train/loss")[-1].value == 1.0
    assert curves.resumed_after == (40,)
    assert curves.reason is None


def test_a_value_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "model",
        started(),
        batch(20),
        batch(21, float("nan"), skipped=True),
        validated(40, float("nan")),
    )
    curves = read_curves(folder)
    assert [each.update for each in curves.points("train/loss")] == [20]
    assert curves.points("dev/BLEU") == ()
    assert curves.num_skipped == 1


def test_half_a_line_at_the_end_is_passed_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "model", started(), batch(20))
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"event": "BatchDone", "upda')
    assert len(read_curves(folder).points("train/loss")) == 1


@pytest.mark.parametrize("line", ["nonsense", "[]", "{}", json.dumps({"event": "BatchDone"})])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    folder = write(tmp_path / "model", started(), batch(20))
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(ModelFolderError, match=r"metrics\.jsonl:3 is not a record"):
        read_curves(folder)


def test_a_folder_without_a_training_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="no such folder"):
        read_curves(tmp_path / "nowhere")
    with pytest.raises(ModelFolderError, match=r"holds no metrics\.jsonl"):
        read_curves(tmp_path)


def test_neighbours_are_averaged_only_where_there_are_too_many() -> None:
    points = tuple(Point(update=i, epoch=i, minutes=i, value=i % 2) for i in range(1, 101))
    assert averaged(points, most=100) == points
    assert averaged((), most=10) == ()
    few = averaged(points, most=10)
    assert len(few) == 10
    assert all(each.value == 0.5 for each in few)
    assert few[0].minutes == 5.5


def test_smoothing_keeps_a_line_a_line_and_flattens_noise() -> None:
    line = tuple(Point(update=i, epoch=i, minutes=i, value=2.0 * i) for i in range(50))
    assert smoothed(line, half_width=7) == line
    assert smoothed(line, half_width=0) == line
    assert smoothed((), half_width=3) == ()
    noise = tuple(Point(update=i, epoch=i, minutes=i, value=i % 3) for i in range(50))
    assert [point.value for point in smoothed(noise, half_width=1)[1:-1]] == [1.0] * 48
