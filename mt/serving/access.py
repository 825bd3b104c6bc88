"""Who may ask, and how often."""

from __future__ import annotations

import hmac
import os
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mt.errors import ConfigError
from mt.serving.refusal import RefusalError

KEYS = "MT_SERVE_KEYS"
"""A variable of the environment: keys with spaces between."""
_LEAST_KEY = 8  # characters
_MOST_CLIENTS = 10_000  # addresses that are counted at a time
_SCHEMES = ("deepl-auth-key", "bearer")


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys that let clients in; without any, all are let in."""

    keys: Sequence[str] = ()

    @staticmethod
    def read(path: Path | None) -> Keys:
        """Those of a file, one a line, or of the environment.

        Raises ConfigError for a file without keys, and for a key that is too short to be one.
        """
        if path is None:
            keys = os.environ.get(KEYS, "").split()
            where = KEYS
        else:
            try:
                lines = path.read_text("utf-8").splitlines()
            except UnicodeDecodeError as error:
                raise ConfigError(f"{path}: the keys are not UTF-8") from error
            keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
            where = str(path)
            if not keys:
                raise ConfigError(f"{path} holds no key", hint="A line is a key")
        if any(len(key) < _LEAST_KEY for key in keys):
            raise ConfigError(f"{where}: a key has fewer than {_LEAST_KEY} characters")
        return Keys(keys=tuple(keys))

    def require(self, offered: str) -> str:
        """The key that was offered; raises RefusalError where it is none.

        Whether it is wrong in its first letter or its last takes as long to tell.
        """
        if not self.keys:
            return ""
        if not offered:
            raise RefusalError(403, "An API key is needed: ask who runs this server for one")
        given = offered.encode("utf-8")
        matches = [hmac.compare_digest(given, key.encode("utf-8")) for key in self.keys]
        if not any(matches):
            raise RefusalError(403, "Invalid API key")
        return offered


def key_of_header(authorization: str) -> str:
    """The key of a header Authorization, or nothing."""
    scheme, _, key = authorization.strip().partition(" ")
    return key.strip() if scheme.lower() in _SCHEMES else ""


@dataclass
class Rate:
    """How many requests a client may make: so many a minute, and as many at once.

    A bucket holds what is left; it fills evenly.
    """

    a_minute: int
    """0: any number."""
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    """Requests that are left to a client, and when that was counted."""

    def require(self, client: str, *, now: float | None = None) -> None:
        """Count a request; raises RefusalError where there were too many."""
        if not self.a_minute:
            return
        now = time.monotonic() if now is None else now
        left, then = self._left.pop(client, (float(self.a_minute), now))
        left = min(left + (now - then) * self.a_minute / 60, float(self.a_minute))
        is_free = left >= 1
        self._left[client] = (left - 1 if is_free else left), now
        if len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        if not is_free:
            seconds = int((1 - left) * 60 / self.a_minute) + 1
            raise RefusalError(
                429, f"Slowdown: {self.a_minute} requests a minute", retry_after=seconds
            )
