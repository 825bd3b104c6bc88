"""Messages of ICU with plurals and choices: what of them is text, and what is form.

Only a message that is one such argument as a whole is taken apart: its branches are then whole
texts. One with words around it ("You have {n, plural, …} left.") would be translated in fragments,
and is left to people.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mt.formats.documents.unit import Code, Content

_COMPLEX = re.compile(r"\{\s*[\w.-]+\s*,\s*(plural|selectordinal|select)\s*,")
_OFFSET = re.compile(r"\s*offset:\s*\d+")
_KEY = re.compile(r"\s*(=\d+|[\w.-]+)\s*\{")
_END = re.compile(r"\s*\}")
_QUOTE = re.compile(r"'[{}#|]")
_RISKY = re.compile(r"'(?=[{}#|]|$)")
_FIRST_CODE = 0xF0000  # private use: a code in the text of a message


@dataclass(frozen=True, kw_only=True)
class Branch:
    """A text of a message."""

    content: Content
    has_number_sign: bool
    """# stands for the number of a plural."""


Piece = str | Branch
"""Form that stays, or text."""


def is_message(content: Content) -> bool:
    """Whether there is a plural or a choice of ICU in a content."""
    return _COMPLEX.search(_flat(content)) is not None


def message_pieces(content: Content) -> list[Piece] | None:
    """Form and branches of a message, in order; None where it is not safely taken apart."""
    text = _flat(content)
    codes = [part for part in content if isinstance(part, Code)]
    if _QUOTE.search(text) or sum(map(_is_code, text)) != len(codes):
        return None
    parsing = _Parsing(text, codes)
    end = parsing.argument(len(text) - len(text.lstrip()), in_plural=False)
    if end is None or text[end:].strip():
        return None
    return [text[: len(text) - len(text.lstrip())], *parsing.pieces, text[end:]]


def has_plural(content: Content) -> bool:
    """Whether the branches depend on a number, and so on the forms that a language has."""
    return any(match[1] != "select" for match in _COMPLEX.finditer(_flat(content)))


def quoted(text: str) -> str:
    """A text for a branch: no apostrophe of it quotes what follows."""
    return _RISKY.sub("''", text)


def _flat(content: Content) -> str:
    """The text with a character of private use for each code."""
    numbers = iter(range(_FIRST_CODE, _FIRST_CODE + len(content)))
    return "".join(part if isinstance(part, str) else chr(next(numbers)) for part in content)


def _is_code(character: str) -> bool:
    return 0xF0000 <= ord(character) < 0xFFFFE


class _Parsing:
    def __init__(self, text: str, codes: list[Code]) -> None:
        self._text = text
        self._codes = codes
        self.pieces: list[Piece] = []

    def argument(self, start: int, *, in_plural: bool) -> int | None:
        """Read a plural or a choice at `start`; where it ends, or None if it is none."""
        head = _COMPLEX.match(self._text, start)
        if head is None:
            return None
        in_plural = in_plural or head[1] != "select"
        offset = _OFFSET.match(self._text, head.end())
        place = offset.end() if offset else head.end()
        self.pieces.append(self._text[start:place])
        keys = set()
        while key := _KEY.match(self._text, place):
            keys.add(key[1])
            self.pieces.append(key[0])
            end = self._branch(key.end(), in_plural=in_plural)
            if end is None:
                return None
            place = end
        end_match = _END.match(self._text, place)
        if end_match is None or "other" not in keys:
            return None
        self.pieces.append(end_match[0])
        return end_match.end()

    def _branch(self, start: int, *, in_plural: bool) -> int | None:
        """Read a text up to the brace that closes it, that brace included."""
        text, depth, end = self._text, 0, start
        while end < len(text) and (depth or text[end] != "}"):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        if end == len(text):
            return None
        inner = text[start:end]
        if _COMPLEX.search(inner):  # one in another: it must be all of the branch
            first = start + len(inner) - len(inner.lstrip())
            self.pieces.append(text[start:first])
            last = self.argument(first, in_plural=in_plural)
            if last is None or text[last:end].strip():
                return None
            self.pieces.append(text[last : end + 1])
            return end + 1
        self.pieces.append(Branch(content=self._content(inner), has_number_sign=in_plural))
        self.pieces.append("}")
        return end + 1

    def _content(self, text: str) -> Content:
        parts: list[str | Code] = []
        for part in re.split("([\U000f0000-\U000ffffd])", text.replace("''", "'")):
            if len(part) == 1 and _is_code(part):
                parts.append(self._codes[ord(part) - _FIRST_CODE])
            elif part:
                parts.append(part)
        return tuple(parts)
