"""XML as text for a parser: in UTF-8, without DOCTYPE, every reference one that XML knows.

A memory with one character that XML forbids, or with an entity that no one declared, is read all
the same: such a place becomes a mark, by which the unit that holds it is known. Names of HTML
(&eacute;) and those that the DOCTYPE declares as plain text become that text. Since the parser sees
neither entities nor DOCTYPE, nothing is expanded, loaded or fetched. Line numbers stay.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from html.entities import html5
from itertools import chain
from xml.sax.saxutils import escape

from mt.errors import DataError
from mt.formats.kind import encoding_by_mark

UNREADABLE = "\ufdd0"
"""Stands where a character or an entity could not be read."""
NOT_UTF8 = "\ufdd1"
"""Stands where bytes are not of the encoding."""

_LONGEST_PROLOG = 1 << 17  # characters
_LONGEST_ENTITY = 1000  # characters of an entity that is expanded
_LONGEST_REFERENCE = 80

_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ESCAPED = re.compile("[\udc80-\udcff]+")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SPECIAL = re.compile(r"<!\[CDATA\[|<!--|<\?|&")
_ENDS = {"<![CDATA[": "]]>", "<!--": "-->", "<?": "?>"}
_REFERENCE = re.compile(r"&(?:#([0-9]+)|#x([0-9a-fA-F]+)|([A-Za-z_:][\w:.-]*));")
_CUT_REFERENCE = re.compile(r"&[\w:.#-]*\Z")
_STRING = r"""(?:"[^"]*"|'[^']*')"""
_BEFORE_ROOT = re.compile(
    rf"(?:\s+|<!--.*?-->|<\?.*?\?>)*"
    rf"(<!DOCTYPE(?:{_STRING}|[^\"'\[>])*"
    rf"(?:\[(?:{_STRING}|<!--.*?-->|[^\"'\]<]|<(?!!--))*\]\s*)?>)?",
    re.DOTALL,
)
_ENTITY = re.compile(rf"<!ENTITY\s+([\w:.-]+)\s+({_STRING})\s*>")
_PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})


def mended_blocks(
    blocks: Iterable[bytes], *, name: str, keep_invalid: bool = False
) -> Iterator[bytes]:
    """XML in UTF-8 that a parser takes; `keep_invalid` marks bytes not of the encoding.

    Raises DataError, naming `name` and the line, for bytes that are not of the encoding.
    """
    text = _decoded(blocks, name, keep_invalid=keep_invalid)
    start = next(text, "")
    prolog = _BEFORE_ROOT.match(start)
    while prolog is None or not _is_whole(start, prolog.end()):
        more = next(text, "")
        if not more or len(start) > _LONGEST_PROLOG:
            break
        start += more
        prolog = _BEFORE_ROOT.match(start)
    entities = _Entities("")
    if prolog is not None and prolog[1]:
        entities = _Entities(prolog[1])
        first, last = prolog.span(1)
        start = start[:first] + "\n" * prolog[1].count("\n") + start[last:]
    for piece in _mended(chain([start], text), entities):
        yield piece.encode("utf-8")


def _is_whole(start: str, end: int) -> bool:
    """Whether what stands before the root ends there, and does not go on with what is to come."""
    is_cut = start.startswith(("<!", "<?"), end)
    return len(start) - end > len("<!DOCTYPE") and not is_cut


def _decoded(blocks: Iterable[bytes], name: str, *, keep_invalid: bool) -> Iterator[str]:
    """The text of XML, by its byte order mark, its declaration, or else as UTF-8."""
    blocks = iter(blocks)
    start = next(blocks, b"")
    while len(start) < 200 and (more := next(blocks, b"")):
        start += more
    encoding = declared_encoding(start)
    try:
        b"".decode(encoding)  # which knows what is no encoding of text
        make = codecs.getincrementaldecoder(encoding)
    except LookupError:
        raise DataError(f"{name}:1: there is no encoding {encoding!r}") from None
    is_utf8 = encoding == "utf-8-sig"
    decoder = make("surrogateescape" if keep_invalid and is_utf8 else "strict")
    line = 1
    for block in chain([start], blocks, [None]):
        try:
            text = decoder.decode(block or b"", final=block is None)
        except UnicodeError as error:
            raise decoding_error(encoding, error, name, line) from None
        line += text.count("\n")
        text = _ESCAPED.sub(NOT_UTF8, text) if keep_invalid and not text.isascii() else text
        if text:
            yield _FORBIDDEN.sub(UNREADABLE, text)


def decoding_error(encoding: str, error: UnicodeError, name: str, line: int) -> DataError:
    """The error for bytes from a line on that are not of an encoding."""
    shown = "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding
    if isinstance(error, UnicodeDecodeError):
        line += bytes(error.object[: error.start]).count(b"\n")
        found = f"byte 0x{error.object[error.start]:02x} is not {shown}"
        return DataError(f"{name}:{line}: {found}", hint="Convert the file to UTF-8")
    return DataError(f"{name}:{line}: not {shown}: {error}")


def declared_encoding(start: bytes) -> str:
    """The encoding of XML, by its mark, its bytes or its declaration; "utf-8-sig" for UTF-8."""
    by_mark = encoding_by_mark(start)
    if by_mark is not None:
        return by_mark
    if start[:2] in (b"<\0", b"\0<"):
        return "utf-16-le" if start[0] else "utf-16-be"
    declared = _ENCODING.match(start.removeprefix(codecs.BOM_UTF8))
    if declared is None or start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    encoding = declared[1].decode("ascii").lower()
    # What can be read as bytes of one each is no UTF-16, whatever it says.
    is_utf8 = encoding.replace("-", "").replace("_", "") in ("utf8", "utf16", "utf32", "ucs2")
    return "utf-8-sig" if is_utf8 or encoding in ("unicode", "ascii", "us-ascii") else encoding


class _Entities:
    """What references stand for, by a DOCTYPE and by HTML."""

    def __init__(self, doctype: str) -> None:
        self._declared: dict[str, str] = {}
        for name, value in _ENTITY.findall(doctype):
            self._declared.setdefault(name, value[1:-1])

    def replaced(self, reference: re.Match[str]) -> str:
        """What stands for a reference in XML without a DOCTYPE."""
        decimal, hexadecimal, name = reference.groups()
        if name is None:
            character = _character(decimal, hexadecimal)
            return reference[0] if character is not None else UNREADABLE
        if name in _PREDEFINED:
            return reference[0]
        text = self._text(name)
        return UNREADABLE if text is None else escape(text, {'"': "&quot;", "'": "&apos;"})

    def _text(self, name: str) -> str | None:
        value = self._declared.get(name)
        if value is None:
            return html5.get(f"{name};")
        if "<" in value or len(value) > _LONGEST_ENTITY:
            return None
        # An entity within an entity may be one of XML or HTML, but none that is declared here.
        parts: list[str] = []
        place = 0
        for found in _REFERENCE.finditer(value):
            decimal, hexadecimal, inner = found.groups()
            if inner is None:
                part = _character(decimal, hexadecimal)
            else:
                part = None if inner in self._declared else html5.get(f"{inner};")
            if part is None:
                return None
            parts += [value[place : found.start()], part]
            place = found.end()
        return "".join([*parts, value[place:]])


def _character(decimal: str | None, hexadecimal: str | None) -> str | None:
    """The character of a reference by number; None where XML forbids it."""
    digits = decimal or hexadecimal or ""
    code = int(digits, 10 if decimal else 16) if len(digits) < 12 else 0x110000
    if code > 0x10FFFF or _FORBIDDEN.match(chr(code)):
        return None
    return chr(code)


def _mended(text: Iterable[str], entities: _Entities) -> Iterator[str]:
    """Text with its references replaced, but for those in comments and CDATA sections."""
    rest, end = "", ""
    for piece in chain(text, [None]):
        chunk = rest + (piece or "")
        out: list[str] = []
        place = 0
        while True:
            if end:
                found = chunk.find(end, place)
                if found < 0:
                    keep = max(len(chunk) - len(end) + 1, place)
                    break
                out.append(chunk[place : found + len(end)])
                place, end = found + len(end), ""
            special = _SPECIAL.search(chunk, place)
            if special is None:
                # What may be the beginning of one stays for the next piece.
                last = chunk.rfind("<", max(len(chunk) - 8, place))
                keep = last if last >= 0 else len(chunk)
                break
            out.append(chunk[place : special.start()])
            place = special.start()
            if special[0] != "&":
                end = _ENDS[special[0]]
                out.append(special[0])
                place = special.end()
                continue
            reference = _REFERENCE.match(chunk, place)
            if reference is not None:
                out.append(entities.replaced(reference))
                place = reference.end()
            elif len(chunk) - place < _LONGEST_REFERENCE and _CUT_REFERENCE.match(chunk, place):
                keep = place
                break
            else:
                out.append("&")
                place += 1
        if piece is None:
            keep = len(chunk)
        out.append(chunk[place:keep])
        rest = chunk[keep:]
        yield "".join(out)
