"""The folder of a new model: refused when it is taken, and cleared when nothing came of it."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mt.errors import ConfigError, ModelFolderError
from mt.files import clean
from mt.files.folder_lock import NAME as LOCK
from mt.files.folder_lock import folder_lock
from mt.model_folder import folder as model_folder
from mt.model_folder.seen_lines import FILE as SEEN
from mt.tasks.tensorboard import FOLDER as TENSORBOARD
from mt.text.tokenizer_pair import FILES as TOKENIZERS
from mt.text.truecase_table import FILE as TRUECASE
from mt.training.checkpoint import list_checkpoints

_PREPARING = "preparing"
"""A file in the training folder from before the first corpus is read until the first state is
saved. A folder that has it, and no state, holds nothing but what a kill left of a preparation."""
_FILES = (
    *(model_folder.CONFIG, model_folder.METRICS, model_folder.CARD, SEEN),
    *(*model_folder.DEV, model_folder.DEV_DIRECTIONS, *TOKENIZERS, TRUECASE),
)
_FOLDERS = (TENSORBOARD, model_folder.TRAINING)


def refuse_existing(folder: Path) -> None:
    """Raise ConfigError when `folder` holds something already, or is a file."""
    if _is_taken(folder):
        raise ConfigError(f"{folder} exists already and is not empty", hint="Choose another -o")


@contextmanager
def new_model_folder(folder: Path) -> Iterator[None]:
    """Make and lock `folder`; what ends in an error before anything was saved leaves it as it was.

    What a kill left of an earlier preparation goes first. From the first saved state on nothing is
    removed, whatever happens; what `mt` did not make never is.

    Raises ConfigError when it holds something already, ModelFolderError when another process is
    at work there.
    """
    _refuse_file(folder)
    with folder_lock(folder, make=True):
        _refuse_taken(folder)
        _clear(folder)
        try:
            marker = folder / model_folder.TRAINING / _PREPARING
            marker.parent.mkdir()
            marker.touch()
            yield
        except BaseException:
            if not has_state(folder):
                _clear(folder)
            raise


def refuse_taken(folder: Path) -> None:
    """Raise what `new_model_folder` would, for those who have long work to do before it."""
    _refuse_file(folder)
    if folder.exists():
        with folder_lock(folder):
            _refuse_taken(folder)


def _refuse_file(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} exists already and is a file", hint="Choose another -o")


def _refuse_taken(folder: Path) -> None:
    if _is_taken(folder) and not _is_half_prepared(folder):
        raise ConfigError(
            f"{folder} exists already and is not empty",
            hint=f"Choose another -o, or go on with that run: --resume {shlex.quote(str(folder))}",
        )


def mark_prepared(folder: Path) -> None:
    """Note that a first state is saved: the folder is a run to go on with."""
    (folder / model_folder.TRAINING / _PREPARING).unlink(missing_ok=True)


def refuse_half_prepared(folder: Path) -> None:
    """Raise ModelFolderError when a run ended before it could be gone on with."""
    if _is_half_prepared(folder):
        raise ModelFolderError(
            f"{folder} holds nothing to resume: its preparation was not finished",
            hint="Give the command that began it again",
        )


def has_state(folder: Path) -> bool:
    """Whether a folder holds anything trained; what a kill left half renamed is mended before."""
    clean(folder)
    training = folder / model_folder.TRAINING
    clean(training)
    return (folder / model_folder.WEIGHTS).exists() or bool(list_checkpoints(training))


def _is_taken(folder: Path) -> bool:
    return folder.exists() and (
        not folder.is_dir() or any(path.name != LOCK for path in folder.iterdir())
    )


def _is_half_prepared(folder: Path) -> bool:
    """Whether a preparation was killed here, and nobody else put anything beside it."""
    if not (folder / model_folder.TRAINING / _PREPARING).exists() or has_state(folder):
        return False
    return {path.name for path in folder.iterdir()} <= {*_FILES, *_FOLDERS, LOCK}


def _clear(folder: Path) -> None:
    """Remove what a preparation makes."""
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    for name in _FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
