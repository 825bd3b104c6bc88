"""What is written about requests: an id, numbers and names of endpoints; never text of a client."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TextIO

from mt.serving.request import LogForm


@dataclass(frozen=True, kw_only=True)
class Log:
    """Writes a line an event, to standard error unless told otherwise."""

    form: LogForm = "text"
    stream: TextIO | None = None

    def __call__(self, event: str, **facts: str | int | float) -> None:
        """Write an event with its facts."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        if self.form == "json":
            line = json.dumps({"time": now, "event": event, **facts}, ensure_ascii=False)
        else:
            told = "".join(f" {name}={_shown(value)}" for name, value in facts.items())
            line = f"{now} {event}{told}"
        print(line, file=self.stream or sys.stderr, flush=True)

    def error(self, error: BaseException, **facts: str | int | float) -> None:
        """Write of an error where it was raised, without its message: that may hold text."""
        frames = traceback.extract_tb(error.__traceback__)
        where = " ".join(f"{frame.name}:{frame.lineno}" for frame in frames[-6:])
        self("error", kind=type(error).__name__, where=where, **facts)


def _shown(value: str | float) -> str:
    text = str(value)
    return json.dumps(text) if " " in text or '"' in text or "=" in text else text
