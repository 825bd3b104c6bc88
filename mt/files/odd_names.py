"""Names of files in texts: what is not UTF-8 in them can be written nowhere as it is.

Python holds such bytes as halves of surrogate pairs. As an error handler of an encoding,
`READABLE` turns them back: into the characters that they are in UTF-8, or else into U+FFFD.
"""

from __future__ import annotations

import codecs
import os
from os import PathLike

READABLE = "mt.readable"


def readable_name(path: str | PathLike[str]) -> str:
    """A name in characters that any file can hold."""
    return os.fsencode(path).decode("utf-8", "replace")


def _readable(error: UnicodeError) -> tuple[bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    data = text.encode("utf-8", "surrogateescape") if _ESCAPES.issuperset(text) else b"\xff"
    # As bytes: in the place of a text UTF-8 takes ASCII only.
    return data.decode("utf-8", "replace").encode("utf-8"), error.end


_ESCAPES = frozenset(map(chr, range(0xDC80, 0xDD00)))

codecs.register_error(READABLE, _readable)
