"""The fields of a request, from JSON, a form or a query; whatever a client sends, it is checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from mt.serving.refusal import RefusalError

_MOST_FIELDS = 1000
_SHOWN = 40  # characters of a client's own words that an answer repeats


def invalid(message: str) -> RefusalError:
    """The refusal of a request that is not as it must be."""
    return RefusalError(400, f"Invalid request: {message}")


def quoted(text: str) -> str:
    """A client's own short word, such as a language, for an answer to it."""
    shown = "".join(character if character.isprintable() else "?" for character in text[:_SHOWN])
    return shown if len(text) <= _SHOWN else f"{shown}…"


class Fields:
    """Fields by name; a name may have several values."""

    def __init__(self, values: Mapping[str, object], *, is_json: bool) -> None:
        """Of JSON the values are any, of a form lists of texts."""
        self._values = values
        self._is_json = is_json

    def __contains__(self, name: str) -> bool:
        return self._value(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A text; raises RefusalError where it is missing and without default, or no text."""
        value = self._value(name)
        if value is None:
            if default is None:
                raise invalid(f"missing {name} parameter")
            return default
        if isinstance(value, list) and not self._is_json:
            value = value[0]
        return _checked(value, name)

    def texts(self, name: str, *, most: int) -> list[str]:
        """One or more texts; raises RefusalError for none, for too many, and for other values."""
        value = self._value(name)
        if value is None:
            raise invalid(f"missing {name} parameter")
        several = value if isinstance(value, list) else [value]
        if len(several) > most:
            raise invalid(f"{len(several)} texts, but at most {most} are translated together")
        return [_checked(each, name) for each in several]

    def is_several(self, name: str) -> bool:
        """Whether a field of JSON is an array."""
        return self._is_json and isinstance(self._value(name), list)

    def number(self, name: str, default: int, *, most: int) -> int:
        """A whole number from 0 to `most`; raises RefusalError for another value."""
        value = self._value(name)
        if value is None:
            return default
        if isinstance(value, list) and not self._is_json:
            value = value[0]
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise invalid(f"{name} must be a number from 0 to {most}")
        return value

    def choice(self, name: str, default: str, among: Sequence[str]) -> str:
        """One of some words, small letters; raises RefusalError for another value."""
        value = self._value(name)
        if isinstance(value, bool | int):
            value = str(int(value))
        found = _checked(value, name) if isinstance(value, str) else self.text(name, default)
        if found.lower() not in among:
            raise invalid(f"{name} must be one of {', '.join(among)}")
        return found.lower()

    def _value(self, name: str) -> object:
        return self._values.get(name)


def of_json(body: bytes) -> Fields:
    """The fields of a JSON object; raises RefusalError for a body that is none."""
    try:
        value: object = json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError:
        raise invalid("the body is not UTF-8") from None
    except (ValueError, RecursionError):
        raise invalid("the body is not JSON") from None
    if not isinstance(value, dict):
        raise invalid("the body must be a JSON object")
    return Fields(value, is_json=True)


def of_form(text: bytes) -> Fields:
    """The fields of a form, or of a query; raises RefusalError for one that is not UTF-8."""
    try:
        pairs = parse_qsl(
            text.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except UnicodeDecodeError:
        raise invalid("the form is not percent-encoded UTF-8") from None
    except ValueError:
        raise invalid(f"the form has more than {_MOST_FIELDS} fields") from None
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return Fields(values, is_json=False)


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _checked(value: object, name: str) -> str:
    """A value that must be a text of whole characters."""
    if not isinstance(value, str):
        raise invalid(f"{name} must be text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise invalid(f"{name} has a lone surrogate, which is no character") from None
    return value
