"""Plain or compressed, decided by the first bytes of what is read and not by its name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import zstandard

from mt.errors import DataError
from mt.formats.kind import PACKED
from mt.formats.standard_input import held_blocks, is_standard_input, shown

_STARTS = {
    ".gz": b"\x1f\x8b",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh",
}
COMPRESSED_SUFFIXES = PACKED

_BLOCK = 1 << 16
_DAMAGED = (EOFError, lzma.LZMAError, zstandard.ZstdError, zlib.error, OSError)


class _Blocks(io.RawIOBase):
    """Blocks as a raw file, which gives what there is without waiting for more."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._rest:
            self._rest = next(self._blocks, b"")
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


class _Stream(Protocol):
    def read1(self, size: int, /) -> bytes: ...


def unpacked(blocks: Iterable[bytes], *, name: str, suffix: str = "") -> Iterator[bytes]:
    """What blocks hold, unpacked where they are gzip, xz, zstd or bzip2.

    It waits for no more than it takes to know. Raises DataError, naming `name`, where the packing
    is damaged, or where `suffix` is that of a packing and there is less than one begins with.
    """
    blocks = iter(blocks)
    start = b""
    while any(s.startswith(start) and s != start for s in _STARTS.values()):
        block = next(blocks, b"")
        if not block:
            break
        start += block
    whole = chain([start] if start else [], blocks)
    expected = _STARTS.get(suffix)
    if expected is not None and start != expected and expected.startswith(start):
        raise _damaged(
            name, f"there are {len(start)} bytes, fewer than a {suffix} file begins with"
        )
    packing = next((p for p, s in _STARTS.items() if start.startswith(s)), None)
    if packing is None or not _is_packed(packing, start):
        yield from whole
        return
    stream = _stream(packing, io.BufferedReader(_Blocks(whole)))
    try:
        while block := stream.read1(_BLOCK):
            yield block
    except _DAMAGED as error:
        raise _damaged(name, str(error)) from error


def _is_packed(packing: str, start: bytes) -> bool:
    """Whether bytes that begin like it are bzip2, whose first ones are letters."""
    return packing != ".bz2" or _BZ2_LEVEL.match(start) is not None


_BZ2_LEVEL = re.compile(rb"BZh(?:[1-9]|$)(?:1AY&SY|\x17rE8P\x90|.{0,5}$)", re.DOTALL)


def _damaged(name: str, reason: str) -> DataError:
    return DataError(f"{name} is damaged or cut short: {reason}")


def _stream(packing: str, file: io.BufferedReader) -> _Stream:
    if packing == ".gz":
        return cast(_Stream, gzip.GzipFile(fileobj=file))
    if packing == ".xz":
        return lzma.LZMAFile(cast(BinaryIO, file))
    if packing == ".bz2":
        return bz2.BZ2File(cast(BinaryIO, file))
    return _WholeZstd(file)


class _WholeZstd:
    """A zstd stream that refuses to end in the middle of a frame, as its library does not."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._in_frame = False

    def read1(self, size: int) -> bytes:
        """Read one block, of any length; empty at the end."""
        while True:
            block = self._file.read1(size)
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
    path: Path, *, listener: Callable[[int], object] = lambda num_bytes: None
) -> Iterator[bytes]:
    """Read a file in blocks, unpacking gzip, xz, zstd and bzip2; `-` is standard input.

    `listener` is called with the bytes of the file as they are read. Raises DataError, naming the
    file, when it cannot be read or its packing is damaged.
    """
    blocks = held_blocks() if is_standard_input(path) else _file_blocks(path, listener)
    return unpacked(blocks, name=shown(path), suffix=path.suffix.lower())


def _file_blocks(path: Path, listener: Callable[[int], object]) -> Iterator[bytes]:
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(io.DEFAULT_BUFFER_SIZE):
                listener(len(block))
                yield block
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def read_start(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked: `size` of them, or all that can be read.

    Of what is no file there are none: a pipe can be read only once.
    """
    start = b""
    if path.is_file() or is_standard_input(path):
        with suppress(DataError):  # who reads the file will hear of it
            for block in read_blocks(path):
                start += block
                if len(start) >= size:
                    break
    return start[:size]


def packer(path: Path) -> Callable[[bytes], bytes] | None:
    """What packs a part of a file so that the parts in a row are one, by its suffix; None if plain.

    Each part is whole by itself, so that a file that ends behind one can be read.
    """
    packers: dict[str, Callable[[bytes], bytes]] = {
        ".gz": lambda data: gzip.compress(data, mtime=0),
        ".xz": lzma.compress,
        ".bz2": bz2.compress,
        ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
    }
    return packers.get(path.suffix.lower())


class Output(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take some bytes."""
        ...

    def flush(self) -> None:
        """Hand on all bytes."""
        ...


class PackedFile:
    """A file that is packed in parts; what is flushed is whole."""

    def __init__(self, file: Output, pack: Callable[[bytes], bytes]) -> None:
        self._file = file
        self._pack = pack
        self._held = bytearray()
        self._is_empty = True

    def write(self, data: bytes, /) -> None:
        """Take some bytes, for the next part."""
        self._held += data

    def flush(self) -> None:
        """Write the part that is in hand."""
        self._file.write(self._pack(bytes(self._held)))
        self._held.clear()
        self._is_empty = False
        self._file.flush()

    def end(self) -> None:
        """Write what is left; of nothing a packed nothing."""
        if self._held or self._is_empty:
            self.flush()
