"""Characters and bytes that make trouble wherever lines are read."""

from __future__ import annotations

SEPARATORS = ("\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c", "\x1d", "\x1e", "\r")
"""What `str.splitlines` or some reader takes for the end of a line, and is none."""

NOT_UTF_8 = {
    "latin 1": b"\xe9",
    "no start byte": b"\xff",
    "cut short": b"\xf0\x9f\xa6",
    "overlong": b"\xc0\xaf",
    "surrogate": b"\xed\xa0\x80",
}
"""Bytes that stand in no UTF-8, by what is wrong with them."""
