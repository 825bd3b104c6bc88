"""Line charts as SVG, the one engine that draws curves: for pages, and for files of their own.

On a page the horizontal coordinates are in per cent, so that text and marks keep their size on any
width; the lines lie in a box of their own that is stretched. Colours come from a style sheet:
`chart.css` on a page, `figure.css` in a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mt.reporting.page import escape

HEIGHT = 200
"""Of a chart, in pixels."""
_LEFT, _RIGHT = 11.0, 97.5  # per cent of the width
_TOP, _BOTTOM = 14, 176  # pixels
_BOX = 1000  # width and height of the box of lines where it is stretched
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_NUM_COLOURS, _NUM_DASHES = 7, 4
_STAR = " ".join(
    f"{radius * math.sin(math.pi * i / 5):.1f},{-radius * math.cos(math.pi * i / 5):.1f}"
    for i, radius in enumerate((7.0, 3.0) * 5)
)
_Axis = Callable[[float], float]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A series of values."""

    name: str
    """Empty for what a chart need not name, such as raw values behind their mean."""
    points: Sequence[tuple[float, float]]
    """Horizontal coordinates, in order, and values."""
    is_marked: bool = False
    """Whether each value has a dot."""
    style: int | None = None
    """Number of its colour and dashes; without it that of the line among the others."""
    weight: str = ""
    """`thin` or `faint` for a line that stands behind others."""
    star: tuple[float, float] | None = None
    """A point with a star."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Even ticks, and what lies between the first and the last of them."""

    ticks: tuple[float, ...]

    @classmethod
    def around(cls, low: float, high: float, *, most: int = 5) -> Scale:
        """Round ticks, `most` steps at most, the outer ones at or beyond `low` and `high`."""
        if high <= low:
            low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)
        size = 10.0 ** math.floor(math.log10((high - low) / most))
        for step in (size * factor for factor in (*_STEPS, 20.0, 25.0, 50.0)):
            first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
            if last - first <= most:
                break
        return cls(ticks=tuple(number * step for number in range(first, last + 1)))

    def share(self, value: float) -> float:
        """How far along the scale a value is, from 0 to 1."""
        return (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])

    @property
    def labels(self) -> list[str]:
        """The ticks in as few digits as distinguish them."""
        step = self.ticks[1] - self.ticks[0]
        digits = next((n for n in range(4) if abs(round(step, n) - step) < step * 1e-6), None)
        if digits is not None:
            return [f"{tick:,.{digits}f}" for tick in self.ticks]
        largest = max(map(abs, self.ticks))
        return [f"{tick:.{2 + math.ceil(math.log10(largest / step))}g}" for tick in self.ticks]


def chart(
    lines: Sequence[Line],
    *,
    title: str,
    unit: str = "update",
    marks: Sequence[tuple[float, str]] = (),
    width: float | None = None,
) -> str:
    """The chart as an element `svg`, without a legend.

    `unit` is what the horizontal axis counts, from 0; `marks` are coordinates on it with a name.
    Without a `width` in pixels the chart is as wide as its page. Raises ValueError without points.
    """
    values = [value for line in lines for _, value in line.points]
    if not values:
        raise ValueError("there is nothing to draw")
    vertical = Scale.around(min(values), max(values))
    last = max(x for line in lines for x, _ in line.points)
    horizontal = Scale.around(0.0, last)
    end = max(last, horizontal.ticks[1] / 1000)

    def x(coordinate: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * coordinate / end

    def y(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * vertical.share(value)

    box = _BOX, _BOX
    if width is not None:
        box = round(width * (_RIGHT - _LEFT) / 100), _BOTTOM - _TOP
    parts = [
        *_grid(vertical, y),
        *_ticks(horizontal, end, x),
        *(_mark(x(coordinate), name) for coordinate, name in marks),
        f'<svg x="{_LEFT}%" y="{_TOP}" width="{_RIGHT - _LEFT}%" height="{_BOTTOM - _TOP}" '
        f'viewBox="0 0 {box[0]} {box[1]}" preserveAspectRatio="none">',
        *(_path(line, _class(line, i), end, vertical, box) for i, line in enumerate(lines)),
        "</svg>",
    ]
    for i, line in enumerate(lines):
        if line.is_marked or len(line.points) == 1:
            parts += [
                f'<circle class="dot {_class(line, i)}" r="3" '
                f'cx="{x(at):.2f}%" cy="{y(value):.1f}">'
                f"<title>{escape(line.name)} {value:.4g} at {unit} {_number(at)}</title></circle>"
                for at, value in line.points
            ]
    for i, line in enumerate(lines):
        if line.star is not None:
            at, value = line.star
            parts.append(
                f'<svg x="{x(at):.2f}%" y="{y(value):.1f}" overflow="visible">'
                f"{_star(_class(line, i))}</svg>"
            )
    size = "100%" if width is None else f"{width:g}"
    return (
        f'<svg class="chart" width="{size}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(_in_words(title, lines, unit))}">{"".join(parts)}</svg>'
    )


def legend(lines: Sequence[Line]) -> str:
    """The names of lines with a sample of each, as a list in HTML; nothing for a single line."""
    if len(lines) < 2:
        return ""
    entries = "".join(
        f'<li><svg width="24" height="10" aria-hidden="true" overflow="visible">'
        f"{sample(line, i)}</svg> {escape(line.name)}</li>"
        for i, line in enumerate(lines)
    )
    return f'<ul class="keys">{entries}</ul>'


def sample(line: Line, index: int) -> str:
    """A piece of a line, or its star where it has no points, in a box of 24 by 10 pixels."""
    style = _class(line, index)
    if not line.points:
        return f'<g transform="translate(12 5)">{_star(style)}</g>'
    return f'<line class="line {style}" x1="0" x2="24" y1="5" y2="5"/>'


def _class(line: Line, index: int) -> str:
    """The classes of a line's style: each of 28 lines differs from the others."""
    number = index if line.style is None else line.style
    names = f"line-{number % _NUM_COLOURS} dash-{number % _NUM_DASHES}"
    return f"{names} {line.weight}" if line.weight else names


def _star(style: str) -> str:
    return f'<polygon class="star {style}" points="{_STAR}"/>'


def _number(coordinate: float) -> str:
    return f"{coordinate:,.2f}".removesuffix(".00")


def _in_words(title: str, lines: Iterable[Line], unit: str) -> str:
    """The chart in words."""
    parts = []
    for line in lines:
        if line.points and line.name:
            (first, begin), (last, end) = line.points[0], line.points[-1]
            parts.append(
                f"{line.name} from {begin:.4g} at {unit} {_number(first)} "
                f"to {end:.4g} at {_number(last)}"
            )
    return f"{title}: {'; '.join(parts)}"


def _grid(scale: Scale, y: _Axis) -> list[str]:
    return [
        f'<line class="grid" x1="{_LEFT}%" x2="{_RIGHT}%" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        f'<text class="tick" text-anchor="end" x="{_LEFT - 1}%" y="{y(tick) + 4:.1f}">{label}'
        "</text>"
        for tick, label in zip(scale.ticks, scale.labels, strict=True)
    ]


def _ticks(scale: Scale, end: float, x: _Axis) -> list[str]:
    return [
        f'<text class="tick" text-anchor="middle" x="{x(tick):.2f}%" y="{_BOTTOM + 17}">{label}'
        "</text>"
        for tick, label in zip(scale.ticks, scale.labels, strict=True)
        if tick <= end * (1 + 1e-9)
    ]


def _mark(x: float, name: str) -> str:
    anchor = "end" if x > (_LEFT + _RIGHT) / 2 else "start"
    return (
        f'<line class="mark" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_TOP - 4}" y2="{_BOTTOM}"/>'
        f'<text class="tick" x="{x:.2f}%" dx="{-5 if anchor == "end" else 5}" y="{_TOP - 4}" '
        f'text-anchor="{anchor}">{escape(name)}</text>'
    )


def _path(line: Line, style: str, end: float, vertical: Scale, box: tuple[int, int]) -> str:
    width, height = box
    points = " ".join(
        f"{width * x / end:.1f},{height * (1 - vertical.share(value)):.1f}"
        for x, value in line.points
    )
    return f'<polyline class="line {style}" points="{points}" vector-effect="non-scaling-stroke"/>'
