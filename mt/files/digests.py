"""Digests of bytes, lines and files: the only module that computes any.

There are two kinds, which programs outside know too: SHA-256 (`sha256sum`), and the faster BLAKE2b
of 16 bytes (`b2sum -l 128`), both in hexadecimal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20  # bytes


def sha256(blocks: Iterable[bytes]) -> str:
    """The SHA-256 of the blocks in a row."""
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def blake2b(blocks: Iterable[bytes], *, num_bytes: int = 16) -> str:
    """The BLAKE2b of the blocks in a row."""
    digest = hashlib.blake2b(digest_size=num_bytes)
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def blake2b_of_text(text: str) -> str:
    """The BLAKE2b of a text in UTF-8."""
    return blake2b([text.encode("utf-8")])


def blake2b_of_lines(lines: Iterable[str]) -> str:
    """The BLAKE2b of a file of such lines in UTF-8, each with its LF."""
    return blake2b(f"{line}\n".encode() for line in lines)


def key_of_bytes(data: bytes) -> int:
    """A number of 64 bits, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def blocks_of(file: BinaryIO) -> Iterator[bytes]:
    """The rest of a file in blocks."""
    while block := file.read(_BLOCK):
        yield block


def blocks_of_file(path: Path) -> Iterator[bytes]:
    """A file in blocks; raises OSError when it cannot be read."""
    with path.open("rb") as file:
        yield from blocks_of(file)
