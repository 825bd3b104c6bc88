"""A file of sealed blocks that goes on, after a kill, where its last whole block ends.

    mt-journal 1 REQUEST
    NUMBER_OF_BYTES BLAKE2B
    (the bytes of the first block)
    …

A block is on the disk when `append` returns. What follows the last whole block, be it what a kill
left of another one or damaged, is cut off when the file is opened again. REQUEST is what the work
depends on, as a digest: with another one the file is not gone on with.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mt.errors import ConfigError, DataError
from mt.files.digests import blake2b
from mt.files.writing import OpenFile, write_bytes

_HEAD = "mt-journal 1 "
_LONGEST_LINE = 200  # bytes; those that are written have fewer than 100
_SEAL = re.compile(rb"([0-9]{1,15}) ([0-9a-f]{32})\n")


class Journal:
    """The blocks of a piece of work so far; one process at a time may have it open."""

    def __init__(self, path: Path, *, request: str) -> None:
        """Open or begin the journal of a request.

        Raises ConfigError where it is of another request, DataError where it is no journal.
        """
        self.path = path
        self._head = f"{_HEAD}{request}\n".encode("ascii")
        self._offsets: list[tuple[int, int]] = []  # of the bytes of each block, and how many
        self.num_bytes_cut = 0
        """That were no whole block."""
        if not path.exists():
            write_bytes(path, self._head)
        with path.open("rb") as file:
            end = self._scan(file)
        self.num_bytes_cut = path.stat().st_size - end
        if self.num_bytes_cut:
            with path.open("r+b") as file:
                file.truncate(end)
                os.fsync(file.fileno())

    def __len__(self) -> int:
        """Blocks that are whole."""
        return len(self._offsets)

    def __iter__(self) -> Iterator[bytes]:
        """The blocks, in order."""
        with self.path.open("rb") as file:
            for offset, size in self._offsets:
                file.seek(offset)
                yield file.read(size)

    def append(self, block: bytes) -> None:
        """Add a block; raises OSError, naming the file, where it cannot be written."""
        seal = f"{len(block)} {blake2b([block])}\n".encode("ascii")
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        with OpenFile(os.open(self.path, flags), self.path) as file:
            file.write(seal)
            file.write(block)
            file.flush()
            os.fsync(file.fileno())
            self._offsets.append((os.fstat(file.fileno()).st_size - len(block), len(block)))

    def _scan(self, file: BinaryIO) -> int:
        """Find the whole blocks; gives where the last one ends."""
        head = file.readline(_LONGEST_LINE)
        if head != self._head:
            if head.startswith(_HEAD.encode("ascii")) and head.endswith(b"\n"):
                raise ConfigError(
                    f"{self.path} is of another request: other text, models, versions or settings",
                    hint="Give the command that began it again, choose another -o, or remove "
                    f"{self.path.parent}",
                )
            raise DataError(
                f"{self.path} is damaged: it does not begin as a journal does",
                hint=f"Remove {self.path.parent} to begin anew",
            )
        size = file.seek(0, os.SEEK_END)
        end = len(head)
        while end < size:
            file.seek(end)
            line = file.readline(_LONGEST_LINE)
            seal = _SEAL.fullmatch(line)
            if seal is None or int(seal[1]) > size - end - len(line):
                break
            start, length = end + len(line), int(seal[1])
            if blake2b([file.read(length)]) != seal[2].decode("ascii"):
                break
            self._offsets.append((start, length))
            end = start + length
        return end
