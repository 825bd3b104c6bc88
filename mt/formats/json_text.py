"""Whether a text is JSON, by its beginning: a few tokens are not enough, text may begin with {."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(
    r'\s+|"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[\[\]{},:]'
)
_OBJECT = re.compile(r'\s*(?:\[\s*)*\{\s*"(?:[^"\\]|\\.)*"\s*:')


def looks_like_json(text: str) -> bool:
    """Whether a text that may be cut off is an object or a list of objects, or such lines.

    One line that is an object, with other text behind it, is no JSON.
    """
    if not _OBJECT.match(text):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    if _is_object(lines[0]):
        # The last line may be cut off.
        return len(lines) > 1 and all(map(_is_object, lines[1:-1] or lines[1:]))
    return _is_tokens(text)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_tokens(text: str) -> bool:
    """Whether all of it is tokens of JSON, but for one that is cut off at the end."""
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            # A string, a number or a word that is cut off.
            rest = text[place:]
            is_cut = rest[0] == '"' and "\n" not in rest
            return is_cut or any(word.startswith(rest) for word in ("true", "false", "null", "-"))
        place = token.end()
    return True
