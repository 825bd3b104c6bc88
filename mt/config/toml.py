"""Settings as TOML, in and out, and as `section.key=value` from the command line.

An unknown key is an error that names the closest known one; a value of another type is an error
that names the type. Only the standard library is used: the settings are scalars and lists of
them in one level of tables, which TOML writes just as JSON does.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mt.config import Config
from mt.errors import ConfigError

Values = dict[str, dict[str, Any]]
"""Settings by section and key; the top level is the section ""."""


def merged(*layers: Mapping[str, Mapping[str, object]]) -> Values:
    """The settings of all layers; later ones win."""
    values: Values = {}
    for layer in layers:
        for section, keys in layer.items():
            values.setdefault(section, {}).update(keys)
    return values


def to_toml(config: Config, *, extra: dict[str, str | int] | None = None) -> str:
    """Write `config` as TOML; a key whose value is None is left out. `extra` goes to the top."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in (extra or {}).items()]
    sections = []
    for item in dataclasses.fields(config):
        value = getattr(config, item.name)
        if not dataclasses.is_dataclass(value):
            lines.append(_assignment(item.name, value))
            continue
        sections.append(f"\n[{item.name}]")
        for key in dataclasses.fields(value):
            setting = getattr(value, key.name)
            if setting is not None:
                sections.append(_assignment(key.name, setting))
    return "\n".join(lines + sections) + "\n"


def _assignment(key: str, value: object) -> str:
    # JSON writes DEL raw, which TOML forbids.
    return f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")


def from_toml(text: str, *, name: str) -> tuple[Values, dict[str, Any]]:
    """Read settings; also give the top-level keys that are no settings (format version, …).

    Raises ConfigError, naming the file `name`, for bad syntax, unknown keys and wrong types.
    """
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))  # a byte order mark of some editors
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name} is not TOML: {error}") from error
    values: Values = {"": {}}
    others: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            for inner, setting in value.items():
                checked = _checked(key, inner, setting, name)
                values.setdefault(key, {})[inner] = checked
        elif key in _types(Config):
            values[""][key] = _checked("", key, value, name)
        else:
            others[key] = value
    return values, others


def read_config_file(path: Path) -> Values:
    """Read a user's `--config` file; every top-level key must be a setting."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    values, others = from_toml(text, name=str(path))
    for key in others:
        _refuse_unknown(key, list(_types(Config)), where=str(path))
    return values


def parse_assignment(text: str) -> Values:
    """Read one `section.key=value`; the value is TOML, or else a bare word."""
    path, equals, value = text.partition("=")
    section, _, key = path.strip().rpartition(".")
    if not equals or not key:
        raise ConfigError(
            f"--set {text!r} is not of the form section.key=value",
            hint="For example --set model.dropout=0.1",
        )
    setting: object
    try:
        setting = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        setting = value.strip()
    return {section: {key: _checked(section, key, setting, "--set")}}


@functools.cache
def _types(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _refuse_unknown(key: str, known: list[str], *, where: str) -> None:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    raise ConfigError(f"{where}: there is no setting {key!r}", hint=f"Did you mean {close[0]!r}?")


def _checked(section: str, key: str, value: object, where: str) -> object:
    """Return `value` as the type of the setting, or raise ConfigError."""
    sections: dict[str, type] = {
        name: kind
        for name, kind in _types(Config).items()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind)
    }
    if section and section not in sections:
        _refuse_unknown(section, list(sections), where=where)
    kind = sections[section] if section else Config
    known = {name: hint for name, hint in _types(kind).items() if name not in sections}
    if key not in known:
        every = [f"{s}.{k}" for s, inner in sections.items() for k in _types(inner)]
        _refuse_unknown(f"{section}.{key}".strip("."), every, where=where)
    return _as_type(value, known[key], f"{where}: {section}.{key}".replace(" .", " "))


def _as_type(value: object, hint: Any, name: str) -> object:
    options = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        if value not in options:
            raise ConfigError(f"{name} must be one of {', '.join(options)}, but is {value!r}")
        return value
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{name} must be a list, but is {value!r}")
        return tuple(_as_type(each, options[0], name) for each in value)
    if isinstance(hint, types.UnionType):
        hint = next(option for option in options if option is not type(None))
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        raise ConfigError(f"{name} must be of type {hint.__name__}, but is {value!r}")
    return value
