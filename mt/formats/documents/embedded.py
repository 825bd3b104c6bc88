"""Markup within text: tags of HTML, its entities and line breaks, which a string holds as text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from mt.formats.documents.inline import CLOSING, ISOLATED, OPENING, Mark, Stream


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set of names."""
    return frozenset(text.split())


_VOID = words("area base br col embed hr img input link meta source track wbr")
_PAIRED = words(
    "a abbr acronym address annotation article aside b bdi bdo big blockquote body button caption "
    "center cite code dd del details dfn div dl dt em figure font footer form h1 h2 h3 h4 h5 h6 "
    "head header html i iframe ins kbd label li main mark nav nobr object ol option p pre q s samp "
    "section select small span strike strong sub summary sup table tbody td tfoot th thead tr tt u "
    "ul var video"
)
BREAKS = words(
    "address article aside blockquote body br caption center dd details div dl dt figure footer "
    "form h1 h2 h3 h4 h5 h6 header hr html li main nav ol option p pre section summary table tbody "
    "td tfoot th thead tr ul"
)
"""Tags that end a line, and so a sentence."""

_VALUE = r"""(?:\\?"[^"<>]*"|'[^'<>]*'|[^\s"'<>=`]+)"""
_FLAGS = r"(?:checked|disabled|download|hidden|multiple|open|readonly|required|selected)(?![\w-])"
_SPECIAL = re.compile(
    rf"<(?P<end>/?)(?P<name>[A-Za-z][\w:-]*)(?:\s+(?:[\w:@.-]+\s*=\s*{_VALUE}|{_FLAGS}))*\s*/?>"
    r"|<!--(?:(?!-->).)*-->|(?P<entity>&(?:\w{2,31}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)"
    r"|(?P<line>\r?\n)",
    re.DOTALL,
)
_INDENT = re.compile(r"[ \t]*\r?\n[ \t\r\n]*(?:\t|  )")


def embedded(
    text: str,
    encode: Callable[[str], bytes],
    *,
    keeps_spaces: bool = True,
    newline: bytes | None = b"\n",
) -> Stream:
    """Text and marks of a text; `encode` gives the bytes of markup in it.

    Unless `keeps_spaces`, a line break that an indented line follows is a space. A line break is
    written as `newline`; where that is None, it is text.
    """
    if not keeps_spaces:
        text = _INDENT.sub(" ", text)
    stream: list[str | Mark] = []
    place = 0
    for found in _SPECIAL.finditer(text):
        if found["line"] is not None and newline is None:
            continue
        stream.append(text[place : found.start()])
        place = found.end()
        if found["line"] is not None:
            mark = Mark(form=ISOLATED, markup="\\n", parts=(newline or b"",), is_break=True)
        elif found["entity"] is not None:
            character = html.unescape(found["entity"])
            if character[0].isalpha() and character != found["entity"]:
                stream.append(character)
                continue
            shown = character if character == "&" else ""
            mark = _isolated(found[0], encode, shown)
        else:
            mark = _of_tag(found, encode)
        stream.append(mark)
    stream.append(text[place:])
    return stream


def _of_tag(found: re.Match[str], encode: Callable[[str], bytes]) -> Mark:
    name = (found["name"] or "").lower()
    is_break = name in BREAKS
    if not name or name in _VOID or (name in _PAIRED and found[0].endswith("/>")):
        return _isolated(found[0], encode, is_break=is_break)
    if name not in _PAIRED:
        # A name in angle brackets stands for a word, as a placeholder does.
        is_name = not found["end"] and " " not in found[0] and not found[0].endswith("/>")
        return _isolated(found[0], encode, found[0] if is_name else "")
    form = CLOSING if found["end"] else OPENING
    return Mark(form=form, markup=found[0], parts=(encode(found[0]),), key=name, is_break=is_break)


def _isolated(
    markup: str, encode: Callable[[str], bytes], text: str = "", *, is_break: bool = False
) -> Mark:
    return Mark(form=ISOLATED, markup=markup, parts=(encode(markup),), text=text, is_break=is_break)
