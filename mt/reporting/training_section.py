"""The course of training: losses, scores of the validation set, learning rate; also as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mt.reporting.chart import Line, chart, legend
from mt.reporting.curves import Curves, Point, averaged
from mt.reporting.page import breakable, escape
from mt.reporting.tables import row, table

_MOST_POINTS = 150
_MOST_ROWS = 40
_ERRORS = ("loss", "SER")
"""Scores of the validation set of which less is better, and which are no per cent of the rest."""


def training_section(curves: Curves, *, heading: str, key: str) -> str:
    """The section, as HTML; `key` distinguishes its identifiers from those of other sections."""
    return f"""\
<section class="card" aria-labelledby="training{key}">
<h2 id="training{key}">{escape(heading)}</h2>
<p>{escape(_summary(curves))}</p>
<div class="charts">
{"".join(_figures(curves))}
</div>
{_validations(curves)}
{_losses(curves)}
</section>
"""


def _summary(curves: Curves) -> str:
    """How far it went, and why it ended."""
    points = [point for series in curves.series.values() for point in series]
    if not points:
        return "Nothing was recorded."
    last = max(points, key=lambda point: point.update)
    sentences = [
        f"{last.update:,} updates, {last.epoch:.1f} epochs, {last.minutes:.1f} minutes"
        + ("" if curves.reason is None else f"; ended: {curves.reason}")
    ]
    if curves.reason is None:
        sentences.append("It was not recorded why it ended: it goes on, or was killed")
    if curves.best_update is not None:
        sentences.append(f"The weights are those of update {curves.best_update:,}")
    if curves.resumed_after:
        updates = ", ".join(f"{update:,}" for update in curves.resumed_after)
        sentences.append(f"Resumed after update {updates}")
    if curves.num_skipped:
        sentences.append(
            f"{curves.num_skipped:,} updates were skipped: their gradient was not finite"
        )
    return ". ".join(sentences) + "."


def _figures(curves: Curves) -> list[str]:
    marks = [] if curves.best_update is None else [(float(curves.best_update), "best")]
    figures = []
    loss = [
        _line(curves, "train/loss", _means(curves), dots=False),
        _line(curves, "dev/loss", "validation", dots=True),
    ]
    scores = [
        _line(curves, f"dev/{name}", name, dots=True)
        for name in curves.dev_names
        if name not in _ERRORS
    ]
    errors = [_line(curves, "dev/SER", "SER", dots=True)]
    also = [
        _line(curves, series, " of ".join(series.split("/", 2)[1:]), dots=True)
        for series in curves.series
        if series.startswith("also/") and series.split("/")[1] not in _ERRORS
    ]
    rate_unit, rate = _rate(curves)
    for title, unit, lines in (
        ("Loss", "nats per target token, less is better; ", loss),
        ("Scores of the validation set", "more is better; ", scores),
        ("Symbol error rate of the validation set", "per cent, less is better; ", errors),
        ("Scores of further validation sets", "more is better; ", also),
        ("Learning rate", rate_unit, [rate]),
    ):
        drawn = [line for line in lines if line.points]
        if drawn:
            below = f' <span class="quiet small">{unit}by update</span>'
            figures.append(
                f"<figure><figcaption>{title}{below}</figcaption>"
                f"{chart(drawn, title=title, marks=marks)}{legend(drawn)}</figure>\n"
            )
    return figures


def _means(curves: Curves) -> str:
    """What the line of the training loss is called."""
    each = -(-len(curves.points("train/loss")) // _MOST_POINTS)
    return "training, label-smoothed" + (f", means of {each} records" if each > 1 else "")


def _rate(curves: Curves) -> tuple[str, Line]:
    """The learning rate in a power of ten, so that its ticks are short; and that unit in words."""
    line = _line(curves, "train/learning_rate", "learning rate", dots=False)
    highest = max((value for _, value in line.points), default=0.0)
    if not 0.0 < highest < 1.0:
        return "", line
    power = -math.floor(math.log10(highest))
    points = [(update, value * 10**power) for update, value in line.points]
    return f"in 10<sup>−{power}</sup>; ", Line(name=f"learning rate × 1e{power}", points=points)


def _line(curves: Curves, series: str, name: str, *, dots: bool) -> Line:
    points = averaged(curves.points(series), most=_MOST_POINTS)
    return Line(
        name=name, points=[(float(point.update), point.value) for point in points], is_marked=dots
    )


def _validations(curves: Curves) -> str:
    """Every validation, as a table."""
    names = curves.dev_names
    columns = [{point.update: point for point in curves.points(f"dev/{name}")} for name in names]
    updates = sorted({update for column in columns for update in column})
    if not updates:
        return ""
    rows = []
    for update in updates:
        found = [column.get(update) for column in columns]
        point = next(each for each in found if each is not None)
        cells = ["" if each is None else f"{each.value:.2f}" for each in found]
        best = " (best)" if update == curves.best_update else ""
        rows.append(_row(f"{update:,}{best}", point, cells))
    items = "".join(
        f"<li>{escape(name)}: <code>{breakable(signature)}</code></li>"
        for name, signature in curves.signatures.items()
    )
    signatures = f'<ul class="small said">{items}</ul>' if items else ""
    return _table(f"All {len(updates)} validations as a table", names, rows) + signatures


def _losses(curves: Curves) -> str:
    """The training loss and the learning rate, as a table of some rows."""
    points = averaged(curves.points("train/loss"), most=_MOST_ROWS)
    rates = averaged(curves.points("train/learning_rate"), most=_MOST_ROWS)
    if not points:
        return ""
    by_update = {point.update: point.value for point in rates}
    rows = [
        _row(
            f"{point.update:,}",
            point,
            [
                f"{point.value:.3f}",
                f"{by_update[point.update]:.2e}" if point.update in by_update else "",
            ],
        )
        for point in points
    ]
    number = len(curves.points("train/loss"))
    means = f", each the mean of {-(-number // _MOST_ROWS)} records" if len(points) < number else ""
    return _table(
        f"Training loss and learning rate as a table{means}", ("loss", "learning rate"), rows
    )


def _row(name: str, point: Point, cells: Sequence[str]) -> str:
    return row(name, [f"{point.epoch:.1f}", f"{point.minutes:.1f}", *cells], is_number=True)


def _table(title: str, names: Sequence[str], rows: Sequence[str]) -> str:
    inner = table(title, ("update", "epoch", "minutes", *names), rows)
    return f"<details><summary>{escape(title)}</summary>\n{inner}</details>\n"
