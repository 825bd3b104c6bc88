"""The settings of another program's model, asked for by name and type.

What nobody asks for and is not known to change nothing is refused, so that no option is passed over
that would change the numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

from mt.errors import ModelFolderError

_T = TypeVar("_T", int, float, bool, str)


class Options:
    """Settings by their names; `name` is where they stand."""

    def __init__(self, values: object, *, name: str) -> None:
        """Raises ModelFolderError where `values` are no settings."""
        if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
            raise ModelFolderError(f"{name} holds no settings by name")
        self._values: Mapping[str, object] = values
        self.name = name

    def get(self, key: str, kind: type[_T], default: _T | None = None) -> _T:
        """The value of a setting; without it `default`, or ModelFolderError where that is None."""
        value = self._values.get(key)
        if value is None:
            if default is None:
                raise ModelFolderError(f"{self.name} lacks {key}")
            return default
        if kind is float and type(value) is int:
            return kind(value)
        if type(value) is not kind:
            raise ModelFolderError(
                f"{self.name}: {key} must be of type {kind.__name__}, but is {value!r}"
            )
        return value

    def found(self, key: str) -> object:
        """The value of a setting as it stands there, None without it."""
        return self._values.get(key)

    def demand(self, key: str, *known: object) -> None:
        """Raise ModelFolderError where a setting stands there with another value than `known`."""
        value = self._values.get(key, known[0])
        if value not in known:
            raise self.unknown(key, value, known)

    def unknown(self, key: str, value: object, known: Collection[object]) -> ModelFolderError:
        """That mt has no form for a value of a setting."""
        names = ", ".join(repr(each) for each in known)
        return ModelFolderError(
            f"{self.name} has {key} = {value!r}, for which mt has no form (only {names})"
        )

    def refuse_others(self, known: Collection[str]) -> None:
        """Raise ModelFolderError for a setting that is not `known`, unless it is off or empty."""
        for key, value in self._values.items():
            if key not in known and value not in (None, False, 0, "", [], {}, "false", "none"):
                raise ModelFolderError(
                    f"{self.name} has an option that mt does not know: {key} = {value!r}",
                    hint="It may change what the model computes, so that nothing was imported",
                )
