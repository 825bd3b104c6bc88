"""The folder of a new model: refused when it is taken, and cleared when nothing came of it."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mt.errors import ConfigError
from mt.train.checkpoint import list_checkpoints
from mt.translate import model_folder


def refuse_existing(folder: Path) -> None:
    """Raise ConfigError when `folder` holds something already, or is a file."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} exists already and is not empty", hint="Choose another -o")


@contextmanager
def new_model_folder(folder: Path) -> Iterator[None]:
    """Make `folder`; what ends in an error before anything was trained leaves it as it was.

    Raises ConfigError when it holds something already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{folder} exists already and is not empty",
            hint=f"Choose another -o, or go on with that run: --resume {shlex.quote(str(folder))}",
        )
    was_there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        weights = folder / model_folder.WEIGHTS
        if not weights.exists() and not list_checkpoints(folder / model_folder.TRAINING):
            if was_there:
                for path in folder.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            else:
                shutil.rmtree(folder, ignore_errors=True)
        raise
