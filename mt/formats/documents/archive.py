"""ZIP files of which some parts change: all others keep their very bytes, packed as they are."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import PurePosixPath

from mt.errors import DataError
from mt.formats.sheets import DAMAGED

_LARGEST = 1 << 28  # bytes of a part that is read, unpacked
_LARGEST_ALL = 1 << 29  # bytes of all parts that are read
_MOST_PARTS = 1 << 15
_FREE = 1 << 24  # bytes that may be packed as tightly as they like
_TIGHTEST = 200  # bytes in one packed byte, above that

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_ENCRYPTED, _SIZES_FOLLOW = 1 << 0, 1 << 3


class Archive:
    """The parts of a zip file, by name."""

    def __init__(self, raw: bytes, *, name: str, kind: str) -> None:
        self._raw = raw
        self.name = name
        self._kind = kind
        self._read = 0
        try:
            self._zip = zipfile.ZipFile(BytesIO(raw))
            self._infos = {info.filename: info for info in self._zip.infolist()}
            self._require_sane()
        except (*DAMAGED, struct.error, ValueError, OSError) as error:
            raise self._fault(f"damaged or cut short: {error}") from None

    @property
    def names(self) -> list[str]:
        """The names of all parts in their order."""
        return list(self._infos)

    def _fault(self, message: str) -> DataError:
        return DataError(f"{self.name}: {self._kind} that is {message}")

    def _require_sane(self) -> None:
        infos = self._zip.infolist()
        if not infos or len(infos) > _MOST_PARTS:
            raise self._fault(f"of {len(infos):,} parts, which are none or too many")
        if len(self._infos) < len(infos):
            raise self._fault("damaged: two parts have one name")
        starts = sorted(info.header_offset for info in infos)
        following = dict(zip(starts, [*starts[1:], self._zip.start_dir], strict=True))
        place = self._zip.start_dir
        for info in infos:
            path = PurePosixPath(info.filename)
            if path.is_absolute() or ".." in path.parts or "\\" in info.filename:
                raise self._fault(f"damaged: it has a part named {info.filename!r}")
            if info.flag_bits & _ENCRYPTED:
                raise self._fault("encrypted")
            start = info.header_offset
            end = start + _LOCAL.size + len(info.orig_filename) + info.compress_size
            if self._raw[start : start + 4] != b"PK\x03\x04" or end > following[start]:
                raise self._fault(f"damaged: there is no {info.filename} where it should be")
            place += len(self._record(place))
        if self._raw[place : place + 4] not in (b"PK\x05\x06", b"PK\x06\x06"):
            raise self._fault("damaged: its directory has no end")

    def read(self, part: str) -> bytes:
        """What a part holds; raises DataError for one that is damaged or far too large."""
        info = self._infos[part]
        size, packed = info.file_size, max(info.compress_size, 1)
        self._read += size
        if size > _LARGEST or self._read > _LARGEST_ALL or size > max(_FREE, packed * _TIGHTEST):
            raise self._fault(f"far too large when unpacked: {part} has {size:,} bytes")
        try:
            with self._zip.open(info) as file:
                return file.read(size + 1)  # no more than that is unpacked
        except (*DAMAGED, OSError) as error:
            raise self._fault(f"damaged: {error}") from None

    def edited(self, parts: Mapping[str, bytes]) -> bytes:
        """The file with new contents of some parts, in the same order, named and dated alike."""
        out = bytearray()
        directory = bytearray()
        places = sorted(info.header_offset for info in self._infos.values())
        start = self._zip.start_dir
        following = dict(zip(places, [*places[1:], start], strict=True))
        moved: dict[int, tuple[int, bytes | None]] = {}
        out += self._raw[: places[0]]
        for info in sorted(self._infos.values(), key=lambda each: each.header_offset):
            offset = len(out)
            data = parts.get(info.filename)
            if data is None:
                out += self._raw[info.header_offset : following[info.header_offset]]
                moved[info.header_offset] = (offset, None)
            else:
                packed = _packed(data, info.compress_type)
                out += self._local(info, data, packed) + packed
                moved[info.header_offset] = (offset, packed)
        place = start
        for info in self._zip.infolist():  # in the order of the directory
            record = self._record(place)
            offset, packed_or_none = moved[info.header_offset]
            directory += self._moved(record, offset, parts.get(info.filename), packed_or_none)
            place += len(record)
        end = self._end(place, len(out), len(directory))
        return bytes(out + directory + end)

    def _local(self, info: zipfile.ZipInfo, data: bytes, packed: bytes) -> bytes:
        """The header of a part with new contents."""
        start = info.header_offset
        fields = list(_LOCAL.unpack_from(self._raw, start))
        num_name, num_extra = fields[9], fields[10]
        fields[2] &= ~_SIZES_FOLLOW
        fields[6], fields[7], fields[8] = zlib.crc32(data), len(packed), len(data)
        rest = self._raw[start + _LOCAL.size : start + _LOCAL.size + num_name + num_extra]
        return _LOCAL.pack(*fields) + rest

    def _record(self, place: int) -> bytes:
        """The record of the directory that begins at a byte."""
        if self._raw[place : place + 4] != b"PK\x01\x02":
            raise self._fault("damaged: its directory is cut short")
        fields = _CENTRAL.unpack_from(self._raw, place)
        length: int = _CENTRAL.size + fields[10] + fields[11] + fields[12]
        return self._raw[place : place + length]

    def _moved(self, record: bytes, offset: int, data: bytes | None, packed: bytes | None) -> bytes:
        """A record of the directory for a part at another place, with new contents or its own."""
        fields = list(_CENTRAL.unpack_from(record))
        if data is not None and packed is not None:
            fields[3] &= ~_SIZES_FOLLOW
            fields[7], fields[8], fields[9] = zlib.crc32(data), len(packed), len(data)
        fields[16] = offset
        return _CENTRAL.pack(*fields) + record[_CENTRAL.size :]

    def _end(self, place: int, start: int, length: int) -> bytes:
        found = self._raw.index(b"PK\x05\x06", place)
        fields = list(_END.unpack_from(self._raw, found))
        fields[3] = fields[4] = len(self._infos)
        fields[5], fields[6] = length, start
        return _END.pack(*fields) + self._raw[found + _END.size :]


def _packed(data: bytes, method: int) -> bytes:
    if method == zipfile.ZIP_STORED:
        return data
    packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()
