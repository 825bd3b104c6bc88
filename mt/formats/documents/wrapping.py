"""Content on several lines: at a width, or on a number of lines of about equal length.

Lines end at spaces, and between characters of scripts that write none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from mt.formats.documents.unit import Code, Content

_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_PIECE = re.compile(
    rf"\s+|[{_WIDE}](?:[^\w\s]|[\u3001-\u301f\uff01-\uff0f\uff1a-\uff1f])*|[^\s{_WIDE}]+"
)

_SENTENCE_END = re.compile(r"[.!?…。！？।؟][\"')\]»”’]*$")
_CLAUSE_END = re.compile(r"[,;:–—、，؛،][\"')\]»”’]*$")
_MOST_WORDS = 200  # beyond which the best ends of lines are not looked for

_Word = tuple[bool, list[str | Code], int]
"""Whether a space stands before it, what it is, and its length in characters."""


def wrapped(content: Content, width: int) -> list[Content]:
    """Content in lines of at most `width` characters, where words allow it."""
    return _lines(_words(content), width)


def balanced(content: Content, num_lines: int, width: int) -> list[Content]:
    """Content in `num_lines` lines of about equal length, if it has so many words.

    They end after punctuation rather than elsewhere, and have at most `width` characters if that is
    possible.
    """
    words = _words(content)
    num_lines = max(1, min(num_lines, len(words)))
    if num_lines == 1:
        return [content]
    narrow, wide = 1, sum(length + has_space for has_space, _, length in words) + 1
    while narrow < wide:
        middle = (narrow + wide) // 2
        if len(_lines(words, middle)) <= num_lines:
            wide = middle
        else:
            narrow = middle + 1
    if len(words) > _MOST_WORDS:
        return _lines(words, wide)
    ends = _best_ends(words, num_lines, max(wide, width))
    return [_line(words[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def _best_ends(words: Sequence[_Word], num_lines: int, width: int) -> list[int]:
    """Where lines end, so that the sum of the squares of their lengths is least.

    Punctuation before an end counts as a part of the square of the mean length.
    """
    mean = sum(length + has_space for has_space, _, length in words) / num_lines
    starts = [0.0] + [math.inf] * len(words)  # the cost of all lines up to a word
    before: list[list[int]] = []
    for _ in range(num_lines):
        costs, came_from = [math.inf] * (len(words) + 1), [0] * (len(words) + 1)
        for end in range(1, len(words) + 1):
            gain = 0.0 if end == len(words) else _gain(words[end - 1]) * mean**2
            taken = 0
            for start in range(end - 1, -1, -1):
                has_space, _, length = words[start]
                if taken and taken + length > width:
                    break
                cost = starts[start] + (taken + length) ** 2 - gain
                if cost < costs[end]:
                    costs[end], came_from[end] = cost, start
                taken += length + has_space
        starts = costs
        before.append(came_from)
    ends = [len(words)]
    for came_from in reversed(before[1:]):
        ends.append(came_from[ends[-1]])
    return ends[::-1]


def _gain(word: _Word) -> float:
    """How good it is to end a line with a word, in squares of the mean length."""
    text = "".join(piece for piece in word[1] if isinstance(piece, str))
    return 0.6 if _SENTENCE_END.search(text) else 0.2 if _CLAUSE_END.search(text) else 0.0


def num_characters(content: Content) -> int:
    """The length of content as it is read."""
    return sum(len(each if isinstance(each, str) else each.text) for each in content)


def _words(content: Content) -> list[_Word]:
    """The words of content; codes belong to the word that they touch."""
    words: list[_Word] = []
    has_space, is_open = False, False  # whether the next piece begins a word
    for piece in content:
        parts = [piece] if isinstance(piece, Code) else _PIECE.findall(piece)
        for part in parts:
            if isinstance(part, str) and part.isspace():
                has_space, is_open = True, False
                continue
            is_code = isinstance(part, Code)
            length = len(part.text if isinstance(part, Code) else part)
            if words and not has_space and (is_code or is_open):
                _, pieces, taken = words[-1]
                words[-1] = (words[-1][0], [*pieces, part], taken + length)
            else:
                words.append((has_space, [part], length))
            has_space = False
            is_open = is_code or not re.match(rf"[{_WIDE}]", str(part))
    return words


def _lines(words: Sequence[_Word], width: int) -> list[Content]:
    lines: list[list[str | Code]] = []
    taken = 0
    for has_space, pieces, length in words:
        needed = length + (has_space and taken > 0)
        if not lines or (taken and taken + needed > width):
            lines.append(list(pieces))
            taken = length
        else:
            lines[-1] += [" ", *pieces] if has_space and lines[-1] else pieces
            taken += needed
    return [_joined(line) for line in lines]


def _line(words: Sequence[_Word]) -> Content:
    """Words on one line."""
    pieces: list[str | Code] = []
    for has_space, word, _ in words:
        pieces += [" ", *word] if has_space and pieces else word
    return _joined(pieces)


def _joined(pieces: Sequence[str | Code]) -> Content:
    content: list[str | Code] = []
    for piece in pieces:
        if isinstance(piece, str) and content and isinstance(content[-1], str):
            content[-1] += piece
        else:
            content.append(piece)
    return tuple(content)
