"""The file of made pairs: JSON lines or tab-separated, as `mt train` reads both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mt.errors import ConfigError
from mt.formats.options import on_one_line

COLUMNS = ("source", "target", "score", "flags")


class MadePair(NamedTuple):
    """A pair one side of which a model made."""

    source: str
    target: str
    score: float
    """Natural-log probability per token of the side that was made."""
    flags: tuple[str, ...]


def _as_json(pair: MadePair) -> str:
    return json.dumps(pair._asdict(), ensure_ascii=False)


def _as_tabs(pair: MadePair) -> str:
    sides = map(on_one_line, (pair.source, pair.target))
    return "\t".join([*sides, f"{pair.score:g}", ",".join(pair.flags)])


_FORMS: dict[str, tuple[str, Callable[[MadePair], str]]] = {
    ".jsonl": ("", _as_json),
    ".tsv": ("\t".join(COLUMNS) + "\n", _as_tabs),
}


def form_of(path: Path) -> tuple[str, Callable[[MadePair], str]]:
    """What the file begins with, and how a pair becomes a line, by the suffix of its name.

    Raises ConfigError for another suffix.
    """
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise ConfigError(
            f"-o {path}: its name says no form of pairs", hint=f"Name it {' or '.join(_FORMS)}"
        )
    return form
