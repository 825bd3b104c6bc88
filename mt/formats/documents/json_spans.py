"""The strings of a JSON text that are values, with their spans and where they belong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mt.errors import DataError
from mt.formats.documents.text_file import TextFile

Path = tuple[str | int, ...]
"""Keys and, from 0, indices from the outermost value to one inside."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
_MOST_DEPTH = 200


@dataclass(frozen=True, kw_only=True)
class Value:
    """A string that is a value, or the beginning of an object."""

    path: Path
    start: int
    end: int
    """Of the string with its quotes; of an object, behind its brace."""
    text: str | None
    """None for an object."""

    @property
    def name(self) -> str:
        """For messages: a.b[0]."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path)[1:]


def values_of(file: TextFile) -> Iterator[Value]:
    """The strings and objects that are values; raises DataError, with the line, for no JSON."""
    try:
        json.loads(file.text)
    except json.JSONDecodeError as error:
        raise DataError(f"{file.name}:{error.lineno}: not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # a number of too many digits
        raise DataError(f"{file.name}: not JSON that can be read: {error}") from error
    path: list[str | int] = []
    key: str | int = 0
    kinds: list[str] = []
    for token in _TOKEN.finditer(file.text):
        text = token[0]
        if text in "{[":
            if text == "{":
                yield Value(path=(*path, key)[1:], start=token.start(), end=token.end(), text=None)
            path.append(key)
            kinds.append(text)
            key = 0 if text == "[" else ""
            if len(path) > _MOST_DEPTH:
                raise DataError(f"{file.where(token.start())}: nested too deeply")
        elif text in "}]":
            key = path.pop()
            kinds.pop()
        elif text == ",":
            key = key + 1 if isinstance(key, int) else ""
        elif text.startswith('"'):
            string = json.loads(text)
            if kinds and kinds[-1] == "{" and not key and _is_key(file.text, token.end()):
                key = string
                continue
            yield Value(path=(*path, key)[1:], start=token.start(), end=token.end(), text=string)


_COLON = re.compile(r"\s*:")


def _is_key(text: str, end: int) -> bool:
    return _COLON.match(text, end) is not None


class Strings:
    """How a file writes strings: which characters it escapes."""

    def __init__(self, text: str) -> None:
        escapes = re.findall(r"(?<!\\)(?:\\\\)*\\u([0-9a-fA-F]{4})", text)
        far = [each for each in escapes if int(each, 16) > 0x7F]
        self._is_ascii = bool(far) and text.isascii()
        self._is_upper = any(each != each.lower() for each in far)
        self._escapes_slash = r"\/" in text

    def written(self, text: str) -> str:
        """A string with its quotes."""
        string = json.dumps(text, ensure_ascii=self._is_ascii)
        if self._is_upper:
            string = re.sub(
                r"(?<!\\)((?:\\\\)*\\u)([0-9a-f]{4})", lambda m: m[1] + m[2].upper(), string
            )
        return string.replace("/", r"\/") if self._escapes_slash else string
