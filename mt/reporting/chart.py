"""Line charts as SVG that stretches with the page, without scripts and styles of its own.

Places along the chart are in per cent, so that text and marks keep their size on any width; the
lines lie in a box of their own that is stretched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mt.reporting.page import escape

_LEFT, _RIGHT = 11.0, 97.5  # per cent of the width
_TOP, _BOTTOM, _HEIGHT = 14, 176, 200  # pixels
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
Place = Callable[[float], float]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A series of values."""

    name: str
    points: Sequence[tuple[float, float]]
    """Places along the chart, in order, and values."""
    is_marked: bool = False
    """Whether each value has a dot."""


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
        """The ticks in as few digits as tell them apart."""
        step = self.ticks[1] - self.ticks[0]
        digits = next((n for n in range(4) if abs(round(step, n) - step) < step * 1e-6), None)
        if digits is not None:
            return [f"{tick:,.{digits}f}" for tick in self.ticks]
        largest = max(map(abs, self.ticks))
        return [f"{tick:.{2 + math.ceil(math.log10(largest / step))}g}" for tick in self.ticks]


def chart(lines: Sequence[Line], *, title: str, marks: Sequence[tuple[float, str]] = ()) -> str:
    """The chart, as HTML, over the places of all lines; `marks` are places with a name.

    Raises ValueError without points.
    """
    values = [value for line in lines for _, value in line.points]
    places = [place for line in lines for place, _ in line.points]
    if not values:
        raise ValueError("there is nothing to draw")
    down = Scale.around(min(values), max(values))
    along = Scale.around(0.0, max(places))
    end = max(*places, along.ticks[1] / 1000)

    def x(place: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * place / end

    def y(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * down.share(value)

    parts = [
        *_grid(down, y),
        *_times(along, end, x),
        *(_mark(x(place), name) for place, name in marks),
        f'<svg x="{_LEFT}%" y="{_TOP}" width="{_RIGHT - _LEFT}%" height="{_BOTTOM - _TOP}" '
        'viewBox="0 0 1000 1000" preserveAspectRatio="none">',
        *(_path(line, number, end, down) for number, line in enumerate(lines)),
        "</svg>",
    ]
    for number, line in enumerate(lines):
        if line.is_marked or len(line.points) == 1:
            parts += [
                f'<circle class="dot line-{number}" r="3" '
                f'cx="{x(place):.2f}%" cy="{y(value):.1f}"><title>{escape(line.name)} '
                f"{value:.4g} at update {place:,.0f}</title></circle>"
                for place, value in line.points
            ]
    drawn = "".join(parts)
    return (
        f'<svg class="chart" width="100%" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(_told(title, lines))}">{drawn}</svg>{_legend(lines)}'
    )


def _told(title: str, lines: Sequence[Line]) -> str:
    """The chart in words."""
    told = []
    for line in lines:
        if line.points:
            (first, begin), (last, end) = line.points[0], line.points[-1]
            told.append(
                f"{line.name} from {begin:.4g} at update {first:,.0f} to {end:.4g} at {last:,.0f}"
            )
    return f"{title}: {'; '.join(told)}"


def _grid(scale: Scale, y: Place) -> list[str]:
    return [
        f'<line class="grid" x1="{_LEFT}%" x2="{_RIGHT}%" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        f'<text class="tick" text-anchor="end" x="{_LEFT - 1}%" y="{y(tick) + 4:.1f}">{label}'
        "</text>"
        for tick, label in zip(scale.ticks, scale.labels, strict=True)
    ]


def _times(scale: Scale, end: float, x: Place) -> list[str]:
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


def _path(line: Line, number: int, end: float, down: Scale) -> str:
    told = " ".join(
        f"{1000 * place / end:.1f},{1000 * (1 - down.share(value)):.1f}"
        for place, value in line.points
    )
    return (
        f'<polyline class="line line-{number}" points="{told}" vector-effect="non-scaling-stroke"/>'
    )


def _legend(lines: Sequence[Line]) -> str:
    if len(lines) < 2:
        return ""
    entries = "".join(
        '<li><svg width="24" height="10" aria-hidden="true">'
        f'<line class="line line-{number}" x1="0" x2="24" y1="5" y2="5"/></svg> '
        f"{escape(line.name)}</li>"
        for number, line in enumerate(lines)
    )
    return f'<ul class="keys">{entries}</ul>'
