"""What systems are called where there is little room."""

from __future__ import annotations

from string import ascii_uppercase


def letter(number: int) -> str:
    """A, B, …, Z, A2, B2, … for systems counted from 0."""
    round_, index = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[index] + (str(round_ + 1) if round_ else "")
