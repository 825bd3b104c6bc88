"""What every figure is made with; no other module imports matplotlib.

Figures look the same whatever style the user's matplotlib is set to, and the same figure gives the
same bytes with one version of matplotlib.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mt.errors import ConfigError
from mt.events import Listener, Notice

FORMATS = ("svg", "png", "pdf")
_SAME_BYTES: dict[str, Any] = {
    "svg": {"Date": None, "Creator": "mt"},
    "png": {"Software": "mt"},
    "pdf": {"CreationDate": None, "Creator": "mt"},
}
"""Without the time; an SVG has random names of its parts besides, unless they are salted."""
_STYLE: dict[str, Any] = {"svg.hashsalt": "mt"}


def require_matplotlib(wanted_by: str) -> None:
    """Raise ConfigError where matplotlib is not installed; `wanted_by` is a flag or a command."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"{wanted_by} needs the package matplotlib, which cannot be loaded: {error}",
            hint="Install it: pip install matplotlib",
        ) from error


@contextmanager
def own_style() -> Iterator[None]:
    """Within it figures are made and saved in matplotlib's default style, not in the user's."""
    import matplotlib.style

    with matplotlib.style.context(["default", _STYLE]):
        yield


def new_figure(width: float, height: float) -> Any:
    """An empty figure of so many inches, which keeps its labels apart by itself."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def power_scale(exponent: float) -> Any:
    """A scale of shades for numbers from 0 to 1, by a power of them."""
    from matplotlib.colors import PowerNorm

    return PowerNorm(exponent, vmin=0, vmax=1)


def save_figure(figure: Any, path: Path, *, dots_per_inch: int) -> int:
    """Write a figure in the form of the suffix, and count the characters that its font lacks.

    Such characters are boxes. The suffix is one of `FORMATS`.
    """
    form = path.suffix.lstrip(".").lower()
    lacking = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(path, format=form, dpi=dots_per_inch, metadata=_SAME_BYTES[form])
    for warning in caught:
        if match := re.match(r"Glyph (\d+) .* missing from font", str(warning.message)):
            lacking.add(match[1])
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return len(lacking)


def tell_lacking(num_lacking: int, where: str, listener: Listener) -> None:
    """Say how many characters are boxes, if any are."""
    if num_lacking:
        text = f"the font of the images lacks {num_lacking} characters of {where}"
        listener(Notice(text=text, is_warning=True))
