r"""The syntax of PO, as msgfmt reads it: keywords and strings with any white space between them.

Lines mean nothing but for comments: a string may stand behind its keyword, below it, or in several
parts on one line. Strings have the escapes of C. `#~` makes what follows on its line obsolete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from mt.errors import DataError
from mt.formats.compressed import read_blocks
from mt.formats.kind import encoding_by_mark
from mt.formats.standard_input import shown


@dataclass(kw_only=True)
class Entry:
    """One entry as it is written."""

    line: int
    """That of its first keyword, from 1."""
    is_fuzzy: bool
    is_obsolete: bool
    context: str | None = None
    msgid: str = ""
    msgid_plural: str | None = None
    msgstr: dict[int, str] = field(default_factory=dict)
    """The target, under 0, or its plural forms."""

    @property
    def is_header(self) -> bool:
        """Whether it tells of the catalogue."""
        return not self.msgid and self.context is None and self.msgid_plural is None


_KEYWORDS = ("domain", "msgctxt", "msgid", "msgid_plural", "msgstr")
_TOKEN = re.compile(
    r'[ \t\r\f\v]*(?:(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<word>domain|msgctxt|msgid_plural|msgid'
    r"|msgstr)(?![a-z_])|\[\s*(?P<index>\d+)\s*\]|(?P<comment>#.*))?"
)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_FLAGS = re.compile(r"#[,=](.*)")
_CHARSET = re.compile(rb"charset\s*=\s*([A-Za-z0-9_.:()-]+)", re.IGNORECASE)

_Token = tuple[int, bool, str, str]
"""Line, whether it is obsolete, what it is (a field of _TOKEN), and its text."""


def read_entries(path: Path, *, keep_invalid: bool = False) -> Iterator[Entry]:
    """The entries of a catalogue, the header and obsolete ones included.

    Bytes that fit neither UTF-8 nor the charset of the header raise DataError, or with
    `keep_invalid` become U+DC80 to U+DCFF. Raises DataError, with the line, for broken syntax.
    """
    name = shown(path)
    return _entries(_tokens(_decoded(path, keep_invalid=keep_invalid), name), name)


def _entries(tokens: Iterable[_Token], name: str) -> Iterator[Entry]:
    entry: Entry | None = None
    fuzzy = False  # by the comments above the next entry
    keyword, index = "", 0
    where = ""
    for line, is_obsolete, kind, text in tokens:
        where = f"{name}:{line}"
        if kind == "comment":
            flags = _FLAGS.match(text)
            if flags:
                fuzzy |= "fuzzy" in re.split(r"[,\s]+", flags[1])
        elif kind == "string":
            if not keyword:
                _fail(where, "a string without a keyword")
            _add(entry, keyword, index, _unescaped(text[1:-1]))
        elif kind == "index":
            if keyword != "msgstr" or entry is None or entry.msgid_plural is None:
                _fail(where, "a number where none belongs")
            index = int(text)
            entry.msgstr[index] = ""
        else:
            is_next = entry is not None and (entry.msgstr or text == "domain")
            if text in ("domain", "msgctxt", "msgid") and is_next:
                yield _complete(entry, name)
                entry = None
            if entry is None and text in ("msgctxt", "msgid"):
                entry = Entry(line=line, is_fuzzy=fuzzy, is_obsolete=is_obsolete)
                fuzzy = False
            keyword, index = text, 0
            _begin(entry, text, where)
    if entry is not None:
        yield _complete(entry, name)


def _begin(entry: Entry | None, keyword: str, where: str) -> None:
    """Note that a keyword came; raises DataError where it does not belong."""
    if keyword == "domain":
        return
    if entry is None:
        _fail(where, f"{keyword} without msgid")
    if keyword == "msgctxt":
        if entry.context is not None:
            _fail(where, "msgctxt twice")
        entry.context = ""
    elif keyword == "msgid_plural":
        entry.msgid_plural = ""
    elif keyword == "msgstr" and entry.msgid_plural is None:
        if entry.msgstr:
            _fail(where, "msgstr twice")
        entry.msgstr[0] = ""


def _add(entry: Entry | None, keyword: str, index: int, text: str) -> None:
    if entry is None:  # of a domain
        return
    if keyword == "msgctxt":
        entry.context = (entry.context or "") + text
    elif keyword == "msgid":
        entry.msgid += text
    elif keyword == "msgid_plural":
        entry.msgid_plural = (entry.msgid_plural or "") + text
    else:
        entry.msgstr[index] = entry.msgstr.get(index, "") + text


def _complete(entry: Entry | None, name: str) -> Entry:
    assert entry is not None
    if not entry.msgstr:
        _fail(
            f"{name}:{entry.line}",
            f"no msgstr{'' if entry.msgid_plural is None else '[0]'} follows",
        )
    return entry


def _fail(where: str, reason: str) -> NoReturn:
    raise DataError(f"{where}: broken PO syntax: {reason}", hint="msgfmt --check says more")


def _tokens(text: str, name: str) -> Iterator[_Token]:
    for number, line in enumerate(text.split("\n"), start=1):
        place = 0
        is_obsolete = line.lstrip().startswith("#~")
        if is_obsolete:
            place = line.index("#~") + 2
            if line.startswith("|", place):  # the text before of an obsolete entry
                continue
        while place < len(line):
            token = _TOKEN.match(line, place)
            assert token is not None
            if token.lastgroup is None:
                if line[token.end() :].strip():
                    _fail(f"{name}:{number}", f"what is {line[token.end() :][:40]!r}?")
                break
            yield number, is_obsolete, token.lastgroup, token[token.lastgroup]
            place = token.end()


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def character(escape: re.Match[str]) -> str:
        octal, hexadecimal, other = escape.groups()
        if other is not None:
            return _SIMPLE.get(other, other)
        return chr(int(octal, 8) if octal else int(hexadecimal, 16) & 0xFF)

    return _ESCAPE.sub(character, text)


def _decoded(path: Path, *, keep_invalid: bool) -> str:
    """The text of a catalogue: UTF-8 if it is that, else what its header says.

    Headers lie: catalogues in UTF-8 whose header names another charset are common, the reverse
    would not decode.
    """
    data = b"".join(read_blocks(path))
    charset = encoding_by_mark(data) or "utf-8-sig"
    try:
        return data.decode(charset)
    except UnicodeDecodeError:
        named = _CHARSET.search(data)
        charset = named[1].decode("ascii") if named else "none"
    try:
        return data.decode(charset)
    except (LookupError, UnicodeDecodeError) as error:
        if keep_invalid:
            return data.decode("utf-8-sig", "surrogateescape")
        raise DataError(
            f"{shown(path)}: neither UTF-8 nor the charset its header names ({charset})",
            hint="Convert the file to UTF-8 (msgconv does that)",
        ) from error
