"""Training curves as an image: the loss and the scores of one run, or of several for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mt.errors import ConfigError, ModelFolderError
from mt.events import Listener, ignore
from mt.files import replaced_file
from mt.reporting.curves import Curves, Point, averaged, smoothed
from mt.reporting.figures import FORMATS, new_figure, own_style, save_figure, tell_lacking

Axis = Literal["updates", "epochs", "minutes"]
AXES: tuple[Axis, ...] = ("updates", "epochs", "minutes")

_AXIS_LABELS = {
    "updates": "updates",
    "epochs": "epochs",
    "minutes": "minutes of training, validations included",
}
_UNITS = {
    "loss": "nats a target token",
    "train/learning_rate": "learning rate",
    "train/gradient_norm": "norm of the gradient",
    "dev/SER": "SER, % (less is better)",
    "dev/exact": "exact matches, %",
}
"""Of what is no score of 0 to 100, or needs more words than its name."""
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Which the usual kinds of colour blindness keep apart (Okabe and Ito 2008), without the yellow."""
_COLOUR_OF_TRAINING = "#E69F00"  # where one run stands alone
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":")
_STAR: dict[str, Any] = {
    "marker": "*",
    "markersize": 11,
    "markeredgecolor": "black",
    "markeredgewidth": 0.6,
    "linestyle": "none",
}
_MOST_RAW, _MOST_SMOOTH = 2000, 250  # points of training, as they are and as a smooth line
_SMOOTHING = 25  # a point of that is the mean over two of so many parts of the run
_MOST_MARKED = 40  # validations
_WIDTH, _HEIGHT, _COLUMNS = 4.2, 3.1, 3  # inches of a panel; panels in a row
_DPI = 150


@dataclass(frozen=True, kw_only=True)
class _Style:
    """By what the curves of one model are known."""

    colour: str
    marker: str
    line: str


def check_suffix(path: Path) -> None:
    """Raise ConfigError for the name of an image whose suffix is no form that can be written."""
    if path.suffix.lstrip(".").lower() not in FORMATS:
        known = ", ".join(f".{form}" for form in FORMATS)
        raise ConfigError(
            f"{path} has no suffix of an image that can be written", hint=f"Choose one of {known}"
        )


def write_curves(
    runs: Sequence[Curves],
    path: Path,
    *,
    axis: Axis = "updates",
    is_full: bool = False,
    listener: Listener = ignore,
) -> None:
    """Write an image of the loss and of each score of the validation set, one panel each.

    The suffix of `path` is the form: .svg, .png or .pdf. The same runs give the same bytes. With
    `is_full` the learning rate and the norm of the gradient have panels too. Runs have different
    names. Raises ConfigError without matplotlib and for another suffix, ModelFolderError where a
    run has nothing to draw yet.
    """
    check_suffix(path)
    for run in runs:
        if not run.series:
            raise ModelFolderError(
                f"{run.name} has no curves yet: its training made too few updates",
                hint="The first record comes after 20 updates",
            )
    with replaced_file(path) as temporary, own_style():
        num_lacking = save_figure(_figure(runs, axis, is_full), temporary, dots_per_inch=_DPI)
    tell_lacking(num_lacking, "the names of models, which are boxes there", listener)


def _figure(runs: Sequence[Curves], axis: Axis, is_full: bool) -> Any:
    """A panel of both losses, one of each score, and where `is_full` two of training."""
    names = dict.fromkeys(name for run in runs for name in run.dev_names)
    panels = ["loss", *(f"dev/{name}" for name in names if name != "loss")]
    if is_full:
        panels += ["train/learning_rate", "train/gradient_norm"]
    num_columns = min(len(panels), _COLUMNS)
    num_rows = -(-len(panels) // num_columns)
    figure = new_figure(num_columns * _WIDTH, num_rows * _HEIGHT + 0.4)
    grid = figure.subplots(num_rows, num_columns, squeeze=False).flatten()
    for panel, drawn in zip(grid, panels, strict=False):
        for place, run in enumerate(runs):
            _draw(panel, drawn, run, axis, _style(place), is_alone=len(runs) == 1)
        _dress(panel, drawn, runs, axis)
    for panel in grid[len(panels) :]:
        panel.set_axis_off()
    _name(figure, grid[0], runs)
    return figure


def _style(place: int) -> _Style:
    return _Style(
        colour=_COLOURS[place % len(_COLOURS)],
        marker=_MARKERS[place % len(_MARKERS)],
        line=_LINES[place // len(_COLOURS) % len(_LINES)],
    )


def _draw(
    panel: Any, drawn: str, run: Curves, axis: Axis, style: _Style, *, is_alone: bool
) -> None:
    """The curves of one run in one panel: `loss` has two of them, others are a series."""
    if not drawn.startswith("dev/"):
        series = run.points("train/loss" if drawn == "loss" else drawn)
        colour = _COLOUR_OF_TRAINING if is_alone and drawn == "loss" else style.colour
        raw, smooth = averaged(series, most=_MOST_RAW), _smooth(series)
        if drawn == "train/learning_rate":
            smooth = raw  # it has no noise
        elif is_alone:
            panel.plot(*_places(raw, axis), color=colour, linewidth=0.6, alpha=0.35)
        is_pale = drawn == "loss" and not is_alone
        alpha, width = (0.5, 0.9) if is_pale else (1.0, 1.4)
        panel.plot(
            *_places(smooth, axis),
            color=colour,
            linestyle=style.line,
            linewidth=width,
            alpha=alpha,
        )
    if drawn == "loss" or drawn.startswith("dev/"):
        series = run.points("dev/loss" if drawn == "loss" else drawn)
        panel.plot(
            *_places(series, axis),
            color=style.colour,
            linestyle=style.line,
            linewidth=1.6,
            marker=style.marker,
            markersize=3.5,
            markevery=max(len(series) // _MOST_MARKED, 1),
        )
        best = [point for point in series if point.update == run.best_update]
        panel.plot(*_places(best, axis), color=style.colour, **_STAR)


def _smooth(points: Sequence[Point]) -> tuple[Point, ...]:
    half_width = len(points) // _SMOOTHING
    return averaged(smoothed(points, half_width=half_width), most=_MOST_SMOOTH)


def _places(points: Sequence[Point], axis: Axis) -> tuple[list[float], list[float]]:
    """Points as coordinates."""
    field = {"updates": "update", "epochs": "epoch", "minutes": "minutes"}[axis]
    return [getattr(point, field) for point in points], [point.value for point in points]


def _dress(panel: Any, drawn: str, runs: Sequence[Curves], axis: Axis) -> None:
    """Title with the signature of the score, labels with units, grid."""
    name = drawn.split("/")[-1]
    is_score = drawn.startswith("dev/")
    panel.set_title(
        f"validation {name}" if is_score else name.replace("_", " "), fontsize=10, pad=16
    )
    if is_score:
        signatures = {run.signatures.get(name, "") for run in runs if run.points(drawn)}
        recipe = signatures.pop() if len(signatures) == 1 else "the signatures differ"
        middle = {"xycoords": "axes fraction", "ha": "center", "va": "bottom"}
        panel.annotate(recipe, (0.5, 1.02), fontsize=6.5, color="#555555", **middle)
    panel.set_xlabel(_AXIS_LABELS[axis])
    panel.set_ylabel(_UNITS.get(drawn, name))
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.locator_params(axis="x", nbins=6)
    panel.set_xlim(left=0)


def _name(figure: Any, panel: Any, runs: Sequence[Curves]) -> None:
    """Say which curve is whose: by a title of one run, by a legend of several."""
    if len(runs) == 1:
        (run,), style = runs, _style(0)
        figure.suptitle(run.name, fontsize=11, parse_math=False)
        entries = [("training", {"color": _COLOUR_OF_TRAINING}), ("validation", _dev_line(style))]
        entries.append(("weights of the model", {"color": style.colour, **_STAR}))
        _legend(panel, panel, entries)
        return
    entries = [(run.name, _dev_line(_style(place))) for place, run in enumerate(runs)]
    entries.append(("training", {"color": "#777777", "linewidth": 0.9}))
    entries.append(("weights of the model", {"color": "#777777", **_STAR}))
    _legend(figure, panel, entries, loc="outside upper center", ncols=min(len(entries), 6))


def _dev_line(style: _Style) -> dict[str, Any]:
    return {"color": style.colour, "linestyle": style.line, "marker": style.marker, "markersize": 4}


def _legend(
    where: Any, panel: Any, entries: Sequence[tuple[str, dict[str, Any]]], **placed: Any
) -> None:
    """A legend in a figure or panel; names stand in it as they are, dollars and underlines too."""
    handles = [panel.plot([], [], **style)[0] for _, style in entries]
    numbers = [str(number) for number in range(len(entries))]
    legend = where.legend(handles, numbers, fontsize=8, frameon=False, **placed)
    for text, (name, _) in zip(legend.get_texts(), entries, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
