r"""The syntax of PO, as msgfmt reads it: keywords and strings with any white space between them.

Lines mean nothing but for comments: a string may stand behind its keyword, below it, or in several
parts on one line. Strings have the escapes of C. `#~` makes what follows on its line obsolete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

from mt.errors import DataError
from mt.formats.compressed import read_blocks
from mt.formats.kind import encoding_by_mark
from mt.formats.standard_input import shown

Span = tuple[int, int]
"""Start and end in the text of the file, in characters."""


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
    keywords: dict[int, int] = field(default_factory=dict)
    """For each of msgstr, where its keyword begins in the text."""
    strings: dict[int, list[Span]] = field(default_factory=dict)
    """For each of msgstr, its strings with their quotes."""
    id_strings: list[Span] = field(default_factory=list)
    """The strings of msgid."""
    flags: list[Span] = field(default_factory=list)
    """The comments with flags above it."""
    flag_place: int = 0
    """Where such a comment belongs."""

    @property
    def is_header(self) -> bool:
        """Whether it tells of the catalogue."""
        return not self.msgid and self.context is None and self.msgid_plural is None


_KEYWORDS = ("domain", "msgctxt", "msgid", "msgid_plural", "msgstr")
_TOKEN = re.compile(
    r'[ \t\r\f\v]*(?:(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<word>domain|msgctxt|msgid_plural|msgid'
    r"|msgstr)(?![a-z_])|\[\s*(?P<index>\d{1,2})\s*\]|(?P<comment>#.*))?"
)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_FLAGS = re.compile(r"#[,=](.*)")
_CHARSET = re.compile(rb"charset\s*=\s*([A-Za-z0-9_.:()-]+)", re.IGNORECASE)


class _Token(NamedTuple):
    line: int
    is_obsolete: bool
    kind: str
    """A group of _TOKEN."""
    text: str
    span: Span


def read_entries(path: Path, *, keep_invalid: bool = False) -> Iterator[Entry]:
    """The entries of a catalogue, the header and obsolete ones included.

    Bytes that fit neither UTF-8 nor the charset of the header raise DataError, or with
    `keep_invalid` become U+DC80 to U+DCFF. Raises DataError, with the line, for broken syntax.
    """
    name = shown(path)
    return entries_of(_decoded(path, keep_invalid=keep_invalid), name)


def entries_of(text: str, name: str) -> Iterator[Entry]:
    """The entries of the text of a catalogue; raises DataError as `read_entries` does."""
    return _entries(_tokens(text, name), name)


def flags_of(comment: str) -> list[str] | None:
    """The flags of a comment of flags (`#, fuzzy, c-format`); None for any other."""
    found = _FLAGS.match(comment)
    return [flag for flag in re.split(r"[,\s]+", found[1]) if flag] if found else None


def _entries(tokens: Iterable[_Token], name: str) -> Iterator[Entry]:
    entry: Entry | None = None
    comments: list[_Token] = []  # above the next entry
    keyword, index, keyword_start = "", 0, 0
    where = ""
    for token in tokens:
        kind, text = token.kind, token.text
        where = f"{name}:{token.line}"
        if kind == "comment":
            comments.append(token)
        elif kind == "string":
            if not keyword:
                _fail(where, "a string without a keyword")
            _add(entry, keyword, index, token)
        elif kind == "index":
            if keyword != "msgstr" or entry is None or entry.msgid_plural is None:
                _fail(where, "a number where none belongs")
            index = int(text)
            entry.msgstr[index] = ""
            entry.keywords[index] = keyword_start
        else:
            is_next = entry is not None and (entry.msgstr or text == "domain")
            if text in ("domain", "msgctxt", "msgid") and is_next:
                yield _complete(entry, name)
                entry = None
            if entry is None and text in ("msgctxt", "msgid"):
                entry = _entry(token, comments)
                comments = []
            keyword, index, keyword_start = text, 0, token.span[0]
            _begin(entry, text, where)
            if entry is not None and text == "msgstr" and entry.msgid_plural is None:
                entry.keywords[0] = keyword_start
    if entry is not None:
        yield _complete(entry, name)


def _entry(first: _Token, comments: Sequence[_Token]) -> Entry:
    """An entry that begins with a keyword, below some comments."""
    flagged = [(each.span, flags_of(each.text)) for each in comments]
    previous = [each.span[0] for each in comments if each.text.startswith("#|")]
    return Entry(
        line=first.line,
        is_fuzzy=any("fuzzy" in flags for _, flags in flagged if flags),
        is_obsolete=first.is_obsolete,
        flags=[span for span, flags in flagged if flags is not None],
        flag_place=min([*previous, first.span[0]]),
    )


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


def _add(entry: Entry | None, keyword: str, index: int, token: _Token) -> None:
    if entry is None:  # of a domain
        return
    text = _unescaped(token.text[1:-1])
    if keyword == "msgctxt":
        entry.context = (entry.context or "") + text
    elif keyword == "msgid":
        entry.msgid += text
        entry.id_strings.append(token.span)
    elif keyword == "msgid_plural":
        entry.msgid_plural = (entry.msgid_plural or "") + text
    else:
        entry.msgstr[index] = entry.msgstr.get(index, "") + text
        entry.strings.setdefault(index, []).append(token.span)


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
    following = 0
    for number, line in enumerate(text.split("\n"), start=1):
        start, following = following, following + len(line) + 1
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
            begin, end = token.span(token.lastgroup)
            span = start + begin, start + end
            yield _Token(number, is_obsolete, token.lastgroup, token[token.lastgroup], span)
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
        charset = charset_of(data)
    try:
        return data.decode(charset)
    except (LookupError, UnicodeDecodeError) as error:
        if keep_invalid:
            return data.decode("utf-8-sig", "surrogateescape")
        raise DataError(
            f"{shown(path)}: neither UTF-8 nor the charset its header names ({charset})",
            hint="Convert the file to UTF-8 (msgconv does that)",
        ) from error


def charset_of(data: bytes) -> str:
    """The charset that a header names; `none` if there is none."""
    named = _CHARSET.search(data)
    return named[1].decode("ascii") if named else "none"
