"""How settings that make no sense are refused."""

from __future__ import annotations

from mt.errors import ConfigError


def require(condition: bool, message: str) -> None:
    """Raise ConfigError with `message` unless `condition` holds."""
    if not condition:
        raise ConfigError(message)
