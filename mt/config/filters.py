"""Which translations another model does not learn from; no model folder has these settings."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from mt.errors import require

Doubt = Literal[
    "copied_source", "repetition", "unusual_length", "truncated", "numbers_differ", "language"
]
"""Signs that a translation may be wrong: flags of `mt translate --json`, and another language."""
_T = TypeVar("_T")
DOUBTS: tuple[str, ...] = get_args(Doubt)


@dataclass(frozen=True, kw_only=True)
class FilterConfig:
    """Which translations another model does not learn from."""

    drop: tuple[Doubt, ...] = (
        *("copied_source", "repetition", "unusual_length", "truncated"),
        "language",
    )
    """Signs for which a pair is left out; --drop adds one, --keep removes one."""
    min_score: float | None = None
    """Least natural-log probability per token; without it any."""

    def __post_init__(self) -> None:
        require(
            self.min_score is None or math.isfinite(self.min_score),
            f"filters.min_score must be a finite number: {self.min_score}",
        )


def adjusted(names: Iterable[_T], *, add: Iterable[_T], remove: Container[_T]) -> tuple[_T, ...]:
    """A list of signs or findings as --drop (`add`) and --keep (`remove`) change it."""
    return tuple(name for name in dict.fromkeys((*names, *add)) if name not in remove)
