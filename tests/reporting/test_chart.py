from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.reporting.chart import Line, Scale, chart, legend

VALUES = st.floats(min_value=-1e9, max_value=1e9, allow_subnormal=False)


def parsed(html: str) -> ET.Element:
    return ET.fromstring(f"<div>{html}</div>")


def coordinates(element: ET.Element, name: str) -> list[float]:
    return [float(each.attrib[name].rstrip("%")) for each in element.iter("circle")]


def test_dots_lie_where_their_values_are() -> None:
    line = Line(name="BLEU", points=[(0, 0.0), (50, 10.0), (100, 20.0)], is_marked=True)
    drawn = parsed(chart([line], title="Scores"))
    x, y = coordinates(drawn, "cx"), coordinates(drawn, "cy")
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.02)
    assert y[0] - y[1] == pytest.approx(y[1] - y[2], abs=0.2)
    grid = [float(each.attrib["y1"]) for each in drawn.iter("line") if "y1" in each.attrib]
    told = [each.text for each in drawn.iter("title")]
    assert told == [
        f"BLEU {value} at update {place}" for place, value in ((0, 0), (50, 10), (100, 20))
    ]
    assert y[0] in grid
    assert y[2] in grid


def test_a_line_runs_through_its_points() -> None:
    (line,) = parsed(chart([Line(name="loss", points=[(0, 4.0), (80, 0.0)])], title="Loss")).iter(
        "polyline"
    )
    assert line.attrib["points"] == "0.0,0.0 1000.0,1000.0"


def test_its_label_is_the_chart_in_words() -> None:
    html = chart([Line(name="a<b", points=[(20, 7.92), (8740, 1.5)])], title="Loss")
    (label,) = re.findall(r'aria-label="([^"]*)"', html)
    assert label == "Loss: a&lt;b from 7.92 at update 20 to 1.5 at 8,740"


def test_marks_have_names_and_several_lines_a_key() -> None:
    lines = [Line(name="one", points=[(1, 1.0)]), Line(name="two & more", points=[(2, 2.0)])]
    drawn = parsed(chart(lines, title="Both", marks=[(2.0, "best")]))
    assert "best" in [each.text for each in drawn.iter("text")]
    assert len(list(drawn.iter("circle"))) == 2, "a single value is a dot"
    keys = parsed(legend(lines))
    assert ["".join(each.itertext()).strip() for each in keys.iter("li")] == ["one", "two & more"]
    assert legend(lines[:1]) == ""


def test_a_star_lies_on_its_point() -> None:
    line = Line(name="a", points=[(0, 0.0), (50, 10.0)], is_marked=True, star=(50, 10.0))
    drawn = parsed(chart([line], title="A"))
    (star,) = (each for each in drawn.iter("svg") if each.find("polygon") is not None)
    dot = list(drawn.iter("circle"))[-1]
    assert (star.attrib["x"], star.attrib["y"]) == (dot.attrib["cx"], dot.attrib["cy"])


def test_28_lines_differ_in_colour_or_dashes() -> None:
    lines = [Line(name=str(i), points=[(0, 0.0), (1, i)]) for i in range(28)]
    drawn = parsed(chart(lines, title="Many"))
    assert len({each.attrib["class"] for each in drawn.iter("polyline")}) == 28


def test_a_chart_of_one_width_has_a_box_that_is_not_stretched() -> None:
    line = Line(name="a", points=[(0, 0.0), (1, 1.0)])
    drawn = parsed(chart([line], title="A", width=400))
    (outer,) = drawn.findall("svg")
    (box,) = outer.findall("svg")
    shown = float(box.attrib["width"].rstrip("%")) / 100 * 400, float(box.attrib["height"])
    assert outer.attrib["width"] == "400"
    assert box.attrib["viewBox"] == f"0 0 {shown[0]:.0f} {shown[1]:.0f}"


def test_dots_say_what_the_axis_counts() -> None:
    line = Line(name="BLEU", points=[(0.5, 1.0), (2.0, 2.0)], is_marked=True)
    drawn = parsed(chart([line], title="Scores", unit="epoch"))
    titles = [each.text for each in drawn.iter("title")]
    assert titles == ["BLEU 1 at epoch 0.50", "BLEU 2 at epoch 2"]


def test_nothing_is_no_chart() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        chart([Line(name="none", points=[])], title="None")


@given(VALUES, VALUES)
def test_ticks_are_round_and_hold_all_values(one: float, other: float) -> None:
    low, high = sorted((one, other))
    if high - low < 1e-6 * max(abs(low), abs(high)):
        high = low
    scale = Scale.around(low, high)
    assert 2 <= len(scale.ticks) <= 7
    slack = 1e-6 * (scale.ticks[-1] - scale.ticks[0])
    assert scale.ticks[0] - slack <= low
    assert high <= scale.ticks[-1] + slack
    assert len(set(scale.labels)) == len(scale.ticks)
    assert all(math.isfinite(tick) for tick in scale.ticks)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 8740.0, ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]),
        (1.64, 7.9, ["0", "2", "4", "6", "8"]),
        (0.0, 0.005, ["0.000", "0.001", "0.002", "0.003", "0.004", "0.005"]),
        (0.0, 0.0006, ["0", "0.0002", "0.0004", "0.0006"]),
    ],
)
def test_ticks_in_few_digits(low: float, high: float, labels: list[str]) -> None:
    assert Scale.around(low, high).labels == labels
