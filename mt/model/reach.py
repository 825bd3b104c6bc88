"""How far a table of learned positions reaches; nothing here needs torch."""

from __future__ import annotations

from mt.errors import DataError


def check_reach(num_tokens: int, num_positions: int | None, *, what: str, hint: str) -> None:
    """Raise DataError for a sequence beyond a table of learned positions (None: no table).

    Besides its tokens it has a start or an end, which needs a position too.
    """
    if num_positions is not None and num_tokens + 1 > num_positions:
        raise DataError(
            f"{what}: {num_tokens} tokens are more than the {num_positions - 1} that this model's "
            "learned positions reach",
            hint=hint,
        )
