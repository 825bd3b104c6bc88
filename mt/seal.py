"""A digest inside a safetensors file, by which a damaged one is known.

A bit that flipped in a weight is a valid number: such a file loads, and translates wrongly. The
file is written with `UNSEALED` somewhere in its metadata, and `seal` puts the SHA-256 of the whole
file there, which is computed with `UNSEALED` in its place. It lies inside, since a file beside it
could not be replaced in one step with it. Files of mt 0.1 have none and are taken as they are.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import BinaryIO

from mt.errors import ModelFolderError

UNSEALED = "0" * 64
"""What stands in the metadata, under a key that ends in `sha256`, until a file is sealed."""

_DIGEST = re.compile(rb'sha256\\*": *\\*"([0-9a-f]{64})\\*"')
_BLOCK = 1 << 20  # bytes
_LENGTH = 8  # bytes at the start that tell how long the header is, little end first


def seal(path: Path) -> None:
    """Put the digest of a file into it; ValueError when its metadata have no room for it."""
    with path.open("r+b") as file:
        found = _place(file)
        if found is None:
            raise ValueError(f"{path} has no {UNSEALED!r} in its metadata")
        place, _ = found
        digest = _digest(file, place)
        file.seek(place)
        file.write(digest)


def check_seal(path: Path) -> None:
    """Raise ModelFolderError when a file is not what was sealed; one without a seal passes.

    Raises OSError when it cannot be read.
    """
    with path.open("rb") as file:
        found = _place(file)
        if found is None:
            return
        place, recorded = found
        if _digest(file, place) != recorded:
            raise ModelFolderError(
                f"{path} is damaged: its content is not what was written (SHA-256 differs)",
                hint="Take another copy of it",
            )


def _place(file: BinaryIO) -> tuple[int, bytes] | None:
    """Where the digest stands in the header of a file, and what it is; None without one."""
    size = file.seek(0, 2)
    file.seek(0)
    length = int.from_bytes(file.read(_LENGTH), "little")
    if length > size:
        return None
    found = _DIGEST.search(file.read(length))
    return None if found is None else (_LENGTH + found.start(1), found[1])


def _digest(file: BinaryIO, place: int) -> bytes:
    """SHA-256 of a file, with `UNSEALED` for the digest at `place`, in hexadecimal."""
    digest = hashlib.sha256()
    file.seek(0)
    digest.update(file.read(place))
    digest.update(UNSEALED.encode("ascii"))
    file.seek(place + len(UNSEALED))
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest().encode("ascii")
