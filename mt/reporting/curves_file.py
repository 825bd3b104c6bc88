"""Training curves as a file: the losses and scores of one run, or of several for comparison.

An SVG, which any browser and drawing program opens, or an HTML page; `mt.reporting.chart` draws
both.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mt.errors import ConfigError, ModelFolderError
from mt.files import write_text
from mt.reporting.chart import HEIGHT, Line, chart, legend, sample
from mt.reporting.curves import Curves, Point, averaged, smoothed
from mt.reporting.page import asset, breakable, escape, page

Axis = Literal["updates", "epochs", "minutes"]

_AXES: dict[Axis, tuple[str, str]] = {
    "updates": ("update", "updates"),
    "epochs": ("epoch", "epochs"),
    "minutes": ("minute", "minutes of training, validations included"),
}
"""What the horizontal axis counts, in the singular and in full."""
_UNITS = {
    "loss": "nats per target token, less is better",
    "dev/SER": "per cent, less is better",
    "dev/exact": "exact matches in per cent, more is better",
    "train/learning_rate": "",
    "train/gradient_norm": "before clipping",
}
"""Of what is no score of which more is better."""
_STYLE_OF_TRAINING = 4  # where one run has a panel for itself: not that of its validations
_MAX_RAW, _MAX_SMOOTH = 2000, 250  # points of training, as they are and as a smooth line
_SMOOTHING = 25  # a point of that is the mean over two of so many parts of the run
_MAX_DOTS = 150  # validations of a line
_MARGIN, _PANEL, _COLUMNS = 16, 420, 3  # pixels; panels in a row
_HEAD, _FOOT = 54, 10  # pixels above a chart, for its title, and below it, for its axis
_LETTER = 7.0  # pixels of a letter of the legend, which no SVG can measure


@dataclass(frozen=True, kw_only=True)
class _Panel:
    """One chart with what stands above it."""

    title: str
    unit: str
    recipe: str
    """The signature of a score."""
    lines: Sequence[Line]


def check_suffix(path: Path) -> None:
    """Raise ConfigError for the name of a file that is neither an SVG nor a page."""
    if path.suffix.lower() not in (".svg", ".html"):
        raise ConfigError(
            f"{path} cannot be written: curves are .svg or .html",
            hint="Write an .svg; browsers and drawing programs turn it into an image or a PDF",
        )


def write_curves(
    runs: Sequence[Curves], path: Path, *, axis: Axis = "updates", is_full: bool = False
) -> None:
    """Write a file with the loss and each score of the validation set, one chart each.

    The suffix of `path` is the form: .svg or .html. The same runs give the same bytes. With
    `is_full` the learning rate and the norm of the gradient have charts too. Runs have different
    names. Raises ConfigError for another suffix, ModelFolderError where a run has no curves yet.
    """
    check_suffix(path)
    for run in runs:
        if not run.series:
            raise ModelFolderError(
                f"{run.name} has no curves yet: its training made too few updates",
                hint="The first record comes after 20 updates",
            )
    panels = list(_panels(runs, axis, is_full=is_full))
    render = _svg if path.suffix.lower() == ".svg" else _page
    write_text(path, render(runs, panels, axis))


def _panels(runs: Sequence[Curves], axis: Axis, *, is_full: bool) -> Iterator[_Panel]:
    """Both losses, each score, and where `is_full` two of training; none without a point."""
    scores = dict.fromkeys(name for run in runs for name in run.dev_names if name != "loss")
    series = ["loss", *(f"dev/{name}" for name in scores)]
    if is_full:
        series += ["train/learning_rate", "train/gradient_norm"]
    for name in series:
        lines = [
            line
            for i, run in enumerate(runs)
            for line in _lines(run, name, axis, style=i, is_only=len(runs) == 1)
            if line.points
        ]
        short = name.split("/")[-1]
        is_score = name.startswith("dev/")
        signatures = {run.signatures.get(short, "") for run in runs if run.points(name)}
        if lines:
            yield _Panel(
                title=f"validation {short}" if is_score else short.replace("_", " "),
                unit=_UNITS.get(name, "more is better"),
                recipe="the signatures differ" if len(signatures) > 1 else "".join(signatures),
                lines=lines,
            )


def _lines(run: Curves, name: str, axis: Axis, *, style: int, is_only: bool) -> Iterator[Line]:
    """The curves of one run in one panel: `loss` has two of them, others are a series."""
    is_loss = name == "loss"
    if is_loss or name.startswith("train/"):
        points = run.points("train/loss" if is_loss else name)
        of_training = _STYLE_OF_TRAINING if is_only else style
        has_noise = name != "train/learning_rate"
        if is_only and has_noise:
            raw = _coordinates(averaged(points, most=_MAX_RAW), axis)
            yield Line(name="", points=raw, style=of_training, weight="faint")
        shown = _smooth(points) if has_noise else averaged(points, most=_MAX_RAW)
        yield Line(
            name="training" if is_only else f"training of {run.name}",
            points=_coordinates(shown, axis),
            style=of_training,
            weight="thin" if is_loss and not is_only else "",
        )
    if is_loss or name.startswith("dev/"):
        points = run.points("dev/loss" if is_loss else name)
        best = [point for point in points if point.update == run.best_update]
        yield Line(
            name="validation" if is_only else run.name,
            points=_coordinates(points, axis),
            is_marked=len(points) <= _MAX_DOTS,
            style=style,
            star=_coordinates(best, axis)[-1] if best else None,
        )


def _smooth(points: Sequence[Point]) -> tuple[Point, ...]:
    half_width = len(points) // _SMOOTHING
    return averaged(smoothed(points, half_width=half_width), most=_MAX_SMOOTH)


def _coordinates(points: Sequence[Point], axis: Axis) -> list[tuple[float, float]]:
    match axis:
        case "updates":
            return [(point.update, point.value) for point in points]
        case "epochs":
            return [(point.epoch, point.value) for point in points]
        case "minutes":
            return [(point.minutes, point.value) for point in points]


def _key(runs: Sequence[Curves]) -> list[Line]:
    """What the legend explains, for all charts: a line without points is a star."""
    piece = [(0.0, 0.0)]
    best = "weights of the model"
    if len(runs) == 1:
        return [
            Line(name="training", points=piece, style=_STYLE_OF_TRAINING),
            Line(name="validation", points=piece, style=0),
            Line(name=best, points=[], style=0),
        ]
    return [
        *(Line(name=run.name, points=piece, style=i) for i, run in enumerate(runs)),
        Line(name="training", points=piece, weight="key thin"),
        Line(name=best, points=[], weight="key"),
    ]


def _title(runs: Sequence[Curves]) -> str:
    return f"Training of {runs[0].name}" if len(runs) == 1 else f"Training of {len(runs)} models"


def _page(runs: Sequence[Curves], panels: Sequence[_Panel], axis: Axis) -> str:
    """A page that grows with its window."""
    unit, axis_name = _AXES[axis]
    figures = "".join(
        f"<figure><figcaption>{escape(panel.title)} "
        f'<span class="quiet small">{escape(f"{panel.unit}; by {axis_name}".lstrip("; "))}</span>'
        f'<code class="quiet">{breakable(panel.recipe)}</code></figcaption>'
        f"{chart(panel.lines, title=panel.title, unit=unit)}</figure>\n"
        for panel in panels
    )
    title = escape(_title(runs))
    body = (
        f'<h1>{title}</h1>\n<section class="card" aria-label="Curves">\n{legend(_key(runs))}\n'
        f'<div class="charts">\n{figures}</div>\n</section>'
    )
    return page(title=_title(runs), body=body, data={}, styles=("chart.css",), scripts=())


def _svg(runs: Sequence[Curves], panels: Sequence[_Panel], axis: Axis) -> str:
    """A drawing of one size, with its style and without anything that a program may not know."""
    num_columns = min(len(panels), _COLUMNS)
    width = _MARGIN + num_columns * (_PANEL + _MARGIN)
    keys, top = _legend(_key(runs), width)
    unit, axis_name = _AXES[axis]
    panel_height = _HEAD + HEIGHT + _FOOT + _MARGIN
    parts = []
    for i, panel in enumerate(panels):
        row, column = divmod(i, _COLUMNS)
        x = _MARGIN + column * (_PANEL + _MARGIN)
        y = top + row * panel_height
        drawn = chart(panel.lines, title=panel.title, unit=unit, width=_PANEL)
        parts.append(
            f'<g transform="translate({x} {y})"><text class="title" y="14">{escape(panel.title)}'
            f'</text><text class="below" y="30">{escape(panel.unit)}</text>'
            f'<text class="recipe" y="44">{escape(panel.recipe)}</text>'
            f'<g transform="translate(0 {_HEAD})">{drawn}<text class="axis" text-anchor="middle" '
            f'x="{_PANEL * 0.54:g}" y="{HEIGHT + 8}">{axis_name}</text></g></g>\n'
        )
    height = top + -(-len(panels) // _COLUMNS) * panel_height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">\n<title>{escape(_title(runs))}</title>\n'
        f"<style>\n{asset('figure.css')}</style>\n"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
        f'<text class="head" x="{_MARGIN}" y="30">{escape(_title(runs))}</text>\n'
        f"{keys}\n{''.join(parts)}</svg>\n"
    )


def _legend(lines: Sequence[Line], width: int) -> tuple[str, int]:
    """The legend of all charts, in as many rows as it needs; and where it ends."""
    x, y = float(_MARGIN), 46
    parts = []
    for i, line in enumerate(lines):
        num_cells = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line.name)
        needed = 32 + _LETTER * num_cells
        if x > _MARGIN and x + needed > width - _MARGIN:
            x, y = float(_MARGIN), y + 18
        parts.append(
            f'<g transform="translate({x:g} {y})">{sample(line, i)}'
            f'<text class="key" x="30" y="9">{escape(line.name)}</text></g>'
        )
        x += needed + 16
    return "".join(parts), y + 30
