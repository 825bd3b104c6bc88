"""A digest inside a safetensors file, by which a damaged one is known.

A bit that flipped in a weight is a valid number: such a file loads, and translates wrongly. The
file is written with `UNSEALED` somewhere in its metadata, which `seal` replaces by the SHA-256 of
the file as it was. It lies inside, since a file beside it could not be replaced in one step with
it. Files of mt 0.1 have none and are taken as they are.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from mt.errors import ModelFolderError
from mt.files.digests import blocks_of, sha256

UNSEALED = "0" * 64
"""What stands in the metadata, under a key that ends in `sha256`, until a file is sealed."""

_DIGEST = re.compile(rb'sha256\\*": *\\*"([0-9a-f]{64})\\*"')
_LENGTH = 8  # bytes at the start that hold the length of the header, little-endian


def seal(path: Path) -> None:
    """Put the digest of a file into it; ValueError when its metadata have no room for it."""
    with path.open("r+b") as file:
        found = _find(file)
        if found is None:
            raise ValueError(f"{path} has no {UNSEALED!r} in its metadata")
        offset, _ = found
        digest = _digest(file, offset)
        file.seek(offset)
        file.write(digest)


def check_seal(path: Path) -> None:
    """Raise ModelFolderError when a file is not what was sealed; one without a seal passes.

    Raises OSError when it cannot be read.
    """
    with path.open("rb") as file:
        found = _find(file)
        if found is None:
            return
        offset, recorded = found
        if _digest(file, offset) != recorded:
            raise ModelFolderError(
                f"{path} is damaged: its content is not what was written (SHA-256 differs)",
                hint="Take another copy of it",
            )


def read_seal(path: Path) -> str | None:
    """The digest in a file, which is not checked; None without one.

    Raises OSError when it cannot be read.
    """
    with path.open("rb") as file:
        found = _find(file)
    return None if found is None else found[1].decode("ascii")


def _find(file: BinaryIO) -> tuple[int, bytes] | None:
    """The offset of the digest in a file, and what it is; None without one."""
    size = file.seek(0, 2)
    file.seek(0)
    length = int.from_bytes(file.read(_LENGTH), "little")
    if length > size:
        return None
    found = _DIGEST.search(file.read(length))
    return None if found is None else (_LENGTH + found.start(1), found[1])


def _digest(file: BinaryIO, offset: int) -> bytes:
    """SHA-256 of a file, with `UNSEALED` for the digest at `offset`, in hexadecimal."""
    file.seek(0)
    before = file.read(offset)
    file.seek(offset + len(UNSEALED))
    blocks = chain([before, UNSEALED.encode("ascii")], blocks_of(file))
    return sha256(blocks).encode("ascii")
