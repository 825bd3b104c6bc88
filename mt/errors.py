"""Errors that a user can act on.

An `MtError` is a mistake of the input, the files or the command line, never a bug: the command
line turns it into one line on standard error and an exit status, without a traceback. Misuse of
the Python API raises `ValueError` or `TypeError` instead, and keeps its traceback.
"""

from __future__ import annotations

from typing import ClassVar


class MtError(Exception):
    """A fault that the user can mend.

    `message` says what is wrong and where (`file:line`), `hint` what to do about it.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Message and hint on one line, whatever a library or a file name put into them."""
        text = f"{self.message}. {self.hint}" if self.hint else self.message
        return " ".join(text.split())


class DataError(MtError):
    """The text at hand is at fault: unequal sides, broken encoding, nothing to train on."""


class ModelFolderError(MtError):
    """A model folder is missing, damaged, or of another kind or version."""


class ModelNumbersError(MtError):
    """A model computes what is no number: its weights are damaged, or its training diverged."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the model gives {what} the probability NaN",
            hint="Its weights are damaged, or its training diverged: take another model, or train "
            "with a lower training.peak_rate",
        )
        self.what = what

    def __reduce__(self) -> tuple[type[ModelNumbersError], tuple[str]]:
        return type(self), (self.what,)


class TrainingError(MtError):
    """Training cannot go on, for example after a run of non-finite losses."""


class DeviceMemoryError(MtError):
    """What is to be computed does not fit in the memory of the device."""


class ConfigError(MtError):
    """The command line or a configuration file asks for something that cannot be."""

    exit_code = 2


def require(condition: bool, message: str) -> None:
    """Raise ConfigError with `message` unless `condition` holds."""
    if not condition:
        raise ConfigError(message)
