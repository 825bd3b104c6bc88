"""Plain or compressed, decided by the first bytes of a file and not by its name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from mt.errors import DataError

_STARTS = {
    ".gz": b"\x1f\x8b",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh",
}
COMPRESSED_SUFFIXES = frozenset(_STARTS)

_BLOCK = 1 << 16
_DAMAGED = (EOFError, lzma.LZMAError, zstandard.ZstdError, zlib.error, OSError)


def _decompressed(file: io.BufferedReader, suffix: str) -> BinaryIO:
    start = file.peek(6)[:6]
    if start.startswith(_STARTS[".gz"]):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if start.startswith(_STARTS[".xz"]):
        return cast(BinaryIO, lzma.LZMAFile(file))
    if start.startswith(_STARTS[".zst"]):
        return cast(BinaryIO, _WholeZstd(file))
    if start.startswith(_STARTS[".bz2"]):
        return cast(BinaryIO, bz2.BZ2File(file))
    if suffix in _STARTS and _STARTS[suffix].startswith(start):
        raise EOFError(f"there are {len(start)} bytes, fewer than a {suffix} file begins with")
    return file


class _WholeZstd:
    """A zstd stream that refuses to end in the middle of a frame, as its library does not."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._in_frame = False

    def read(self, size: int) -> bytes:
        """Read one block, of any length; empty at the end."""
        while True:
            block = self._file.read(size)
            if not block:
                if self._in_frame:
                    raise EOFError("the last frame is not complete")
                return b""
            out = bytearray()
            while block:
                self._in_frame = True
                out += self._frame.decompress(block)
                block = self._frame.unused_data if self._frame.eof else b""
                if self._frame.eof:
                    self._frame = zstandard.ZstdDecompressor().decompressobj()
                    self._in_frame = False
            if out:
                return bytes(out)


def read_blocks(
    path: Path, *, listener: Callable[[int, int], object] = lambda packed, plain: None
) -> Iterator[bytes]:
    """Read a file in blocks, unpacking gzip, xz, zstd and bzip2.

    `listener` is called with the bytes of the file that a block took, and with those it has.
    Raises DataError, naming the file, when it cannot be read or its packing is damaged.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    with file:
        try:
            stream = _decompressed(file, path.suffix.lower())
            before = 0
            while block := stream.read(_BLOCK):
                if file.seekable():
                    listener(file.tell() - before, len(block))
                    before = file.tell()
                yield block
        except _DAMAGED as error:
            raise DataError(f"{path} is damaged or cut short: {error}") from error
