"""The attention over one pair as PNG images, one a kind; no other module imports matplotlib.

Images look the same whatever style the user's matplotlib is set to, and the same attention gives
the same bytes with one version of matplotlib.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mt.errors import ConfigError
from mt.events import Listener, Notice, ignore
from mt.files import replaced_file
from mt.reporting.attention import AttendedPair, AttentionMaps
from mt.reporting.attention_page import KIND_NAMES
from mt.reporting.heads import HeadProfile

_DPI = 120
_CELL = 0.14  # inches
_SMALLEST, _LARGEST = 1.3, 4.0  # inches of a heat map
_POINTS = 72


def require_matplotlib() -> None:
    """Raise ConfigError where matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"--png needs the package matplotlib, which cannot be loaded: {error}",
            hint="Install it: pip install matplotlib",
        ) from error


def write_images(
    pair: AttendedPair, page: Path, *, model: str, listener: Listener = ignore
) -> list[Path]:
    """Write an image of each kind of attention beside `page`, and give their paths.

    That of `dog.html` are `dog.cross.png`, `dog.encoder.png`, `dog.decoder.png`. Characters that
    the font lacks are boxes, and a Notice says so. Raises ConfigError without matplotlib.
    """
    require_matplotlib()
    import matplotlib.style

    paths, num_lacking = [], 0
    for maps in pair.maps:
        path = page.with_name(f"{page.stem}.{maps.kind}.png")
        with replaced_file(path) as temporary, matplotlib.style.context("default"):
            num_lacking = max(num_lacking, _save(_figure(maps, model), temporary))
        paths.append(path)
    if num_lacking:
        text = f"the font of the images lacks {num_lacking} characters of these tokens, which are "
        listener(Notice(text=f"{text}boxes there; the page shows them", is_warning=True))
    return paths


def _save(figure: Any, path: Path) -> int:
    """Write a figure, and count the characters that its font lacks."""
    lacking = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(path, format="png", dpi=_DPI, metadata={"Software": "mt"})
    for warning in caught:
        if match := re.match(r"Glyph (\d+) .* missing from font", str(warning.message)):
            lacking.add(match[1])
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return len(lacking)


def _figure(maps: AttentionMaps, model: str) -> Any:
    """Heat maps of all heads: a row a layer, a column a head; tokens at the left and below."""
    from matplotlib.figure import Figure

    num_layers, num_heads, num_queries, num_keys = maps.weights.shape
    width, height = (min(max(_CELL * num, _SMALLEST), _LARGEST) for num in (num_keys, num_queries))
    inches = num_heads * (width + 0.15) + 1.2, num_layers * (height + 0.3) + 1.6
    figure = Figure(figsize=inches, layout="constrained")
    figure.suptitle(f"{KIND_NAMES[maps.kind]} of {model}", fontsize=11, parse_math=False)
    axes = figure.subplots(num_layers, num_heads, squeeze=False, sharex=True, sharey=True)
    for layer, row in enumerate(axes):
        for head, axis in enumerate(row):
            _draw(axis, maps, maps.profiles[layer][head])
    size = min(7.0, _POINTS * min(width / num_keys, height / num_queries))
    for row in axes:
        _label(row[0].yaxis, maps.queries, size)
    for axis in axes[-1]:
        _label(axis.xaxis, maps.keys, size)
        axis.tick_params(axis="x", labelrotation=90)
    return figure


def _draw(axis: Any, maps: AttentionMaps, profile: HeadProfile) -> None:
    """One heat map; the shade grows with the square root, as on the page."""
    from matplotlib.colors import PowerNorm

    axis.imshow(
        maps.weights[profile.layer, profile.head].numpy(),
        cmap="Blues",
        norm=PowerNorm(0.5, vmin=0, vmax=1),
        aspect="auto",
        interpolation="nearest",
    )
    names = "".join(f", {name}" for name in profile.names)
    axis.set_title(
        f"{profile.layer + 1}.{profile.head + 1}: {profile.entropy:.2f} nats{names}", fontsize=7
    )
    axis.tick_params(length=0)


def _label(axis: Any, tokens: Sequence[str], size: float) -> None:
    """Write tokens along an axis, dollars and all."""
    axis.set_ticks(range(len(tokens)), labels=tokens, fontsize=size)
    for label in axis.get_ticklabels():
        label.set_parse_math(False)
