"""Plotting: the training curves of models as a drawing or a page."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mt.errors import ConfigError
from mt.events import Listener, Notice, ignore
from mt.files import require_writable
from mt.model_folder.folder import DEV
from mt.reporting.curves import Curves, read_curves
from mt.reporting.curves_file import check_suffix, write_curves
from mt.tasks.requests import PlotRequest

_TOKENIZERS = ("tokenizer*.model",)


def plot(request: PlotRequest, listener: Listener = ignore) -> Path:
    """Draw the curves of each model over one another; gives where they are.

    Raises ConfigError for a suffix that is not known and for a model given twice, ModelFolderError
    where a folder has no curves.
    """
    models, output = [Path(model) for model in request.models], Path(request.output)
    if not models:
        raise ConfigError("there is no model to draw the curves of", hint="Give MODEL")
    check_suffix(output)
    require_writable(output)
    for path, count in Counter(model.resolve() for model in models).items():
        if count > 1:
            raise ConfigError(f"{path.name} is given {count} times", hint="Give each MODEL once")
    runs = _named(models, [read_curves(model) for model in models])
    _warn_of_differences(models, runs, listener)
    write_curves(runs, output, axis=request.by, is_full=request.is_full)
    return output


def _named(models: Sequence[Path], runs: Sequence[Curves]) -> list[Curves]:
    """Runs by the names of their folders, or by their paths as given where names are the same."""
    times = Counter(run.name for run in runs)
    return [
        run if times[run.name] == 1 else dataclasses.replace(run, name=str(model))
        for model, run in zip(models, runs, strict=True)
    ]


def _warn_of_differences(
    models: Sequence[Path], runs: Sequence[Curves], listener: Listener
) -> None:
    """Warn where curves in one panel do not compare."""
    first, name = models[0], runs[0].name
    for model, run in zip(models[1:], runs[1:], strict=True):
        if _contents(model, DEV) != _contents(first, DEV):
            text = (
                f"{name} and {run.name} have different validation sets: their losses and scores do "
                "not compare"
            )
        elif _contents(model, _TOKENIZERS) != _contents(first, _TOKENIZERS):
            text = (
                f"{name} and {run.name} have different tokenizers: their losses are for different "
                "tokens, and do not compare"
            )
        else:
            continue
        listener(Notice(text=text, is_warning=True))


def _contents(folder: Path, patterns: Sequence[str]) -> list[tuple[str, bytes]]:
    """Names and contents of files."""
    paths = sorted(path for pattern in patterns for path in folder.glob(pattern))
    return [(path.name, path.read_bytes()) for path in paths]
