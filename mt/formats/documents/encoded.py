"""A text file at hand in UTF-8, which goes back in the encoding that it had."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

from mt.errors import DataError
from mt.formats.documents.splices import Edit, spliced
from mt.formats.xml_text import decoding_error

_MARKS = (
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)


@dataclass(frozen=True, kw_only=True)
class EncodedText:
    """The text of a file as UTF-8, beside its byte order mark and its encoding."""

    mark: bytes
    encoding: str
    data: bytes

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file with edits; characters that its encoding lacks become references."""
        data = spliced(self.data, edits)
        if self.encoding != "utf-8":
            data = data.decode("utf-8").encode(self.encoding, "xmlcharrefreplace")
        return self.mark + data

    @property
    def newline(self) -> bytes:
        """How lines end."""
        return b"\r\n" if b"\r\n" in self.data else b"\n"


def encoded_text(raw: bytes, declared: Callable[[bytes], str], *, name: str) -> EncodedText:
    """The text of a file; `declared` finds the encoding of one without a mark.

    Raises DataError for bytes that are not of the encoding, or would not come back as they are.
    """
    mark, encoding = next((each for each in _MARKS if raw.startswith(each[0])), (b"", ""))
    body = raw[len(mark) :]
    encoding = encoding or declared(body)
    try:
        text = body.decode(encoding)
        if encoding == "utf-8" or text.encode(encoding) == body:
            return EncodedText(mark=mark, encoding=encoding, data=text.encode("utf-8"))
    except LookupError:
        raise DataError(f"{name}:1: there is no encoding {encoding!r}") from None
    except UnicodeError as error:
        raise decoding_error(encoding, error, name, 1) from None
    raise DataError(
        f"{name}: what is in {encoding} cannot be written as it is", hint="Convert it to UTF-8"
    )


class ByteOffsets:
    """Where the characters of a text begin in its bytes."""

    _STEP = 256

    def __init__(self, text: str) -> None:
        self._text = text
        lengths = (
            len(text[place : place + self._STEP].encode("utf-8"))
            for place in range(0, len(text), self._STEP)
        )
        self._steps = list(accumulate(lengths, initial=0))

    def __call__(self, index: int) -> int:
        """The first byte of a character."""
        step = index // self._STEP
        return self._steps[step] + len(self._text[step * self._STEP : index].encode("utf-8"))
