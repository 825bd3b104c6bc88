"""Long lines into segments that a model is good for, and their translations into a line again.

A line within the limit is one segment. A longer one is cut at sentence ends, and each sentence is
a segment by itself: models learn from sentences, and of several at once they tend to leave some
out. A sentence that is still too long is cut at clause marks, then at white space, then between
grapheme clusters; there, neighbours are put together again into as few segments as the limit
allows, of about the same length.

Nothing is lost: the segments with the white space between them are the line, character for
character. This is the only module that imports sentencex (sentence ends) and regex (grapheme
clusters). It knows no tokenizer: whoever splits says how tokens are counted.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
import sentencex

from mt.languages import base_code, writes_no_spaces, writes_spaces_between_phrases
from mt.scripts import WITHOUT_SPACES
from mt.text.normalise import SEPARATORS

Cut = Literal["sentence", "clause", "word", "character"]
"""Where a segment ends; "character" is the inside of a word."""

_SPACE = SEPARATORS.pattern  # one or more
_CLOSING = "[\"'”’»›」』）)\\]]*"
# Ends of sentences that sentencex does not know: Khmer khan and bariyoosan, Tibetan double shad.
_MORE_STOPS = re.compile(f"[។៕༎]{_CLOSING}(?:{_SPACE})?")
# Marks of ASCII and dashes stand in numbers, times and addresses too: white space must follow.
_CLAUSE = re.compile(
    f"[;:,–—]{_CLOSING}{_SPACE}|[；：，、､﹐﹑﹔﹕؛،۔՝·།፣፤፥፦၊៖᠂᠄߸—]{_CLOSING}(?:{_SPACE})?"
)
_WORD = re.compile(f"(?:{_SPACE}|\u200b)+")
_CLUSTER = regex.compile(r"\X")
_SCRIPT_WITHOUT_SPACES = re.compile(f"[{WITHOUT_SPACES}。、，！？；：「」『』（）]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_CHARACTERS = 32  # a token; a part of more characters is not tried


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A part of a line that is translated by itself."""

    text: str
    """Without white space at its ends."""
    before: str = ""
    """White space at the beginning of the line; only of the first segment."""
    after: str = ""
    """White space up to the next segment, or to the end of the line."""
    cut: Cut = "sentence"
    """What ends here; of the last segment always "sentence"."""


@dataclass(frozen=True, kw_only=True)
class _Piece:
    text: str
    num_tokens: int
    cut: Cut = "sentence"


def split_long(
    text: str, *, count_tokens: Callable[[str], int], max_tokens: int, language: str = ""
) -> list[Segment]:
    """Cut `text` into segments of at most `max_tokens` tokens; one segment if it fits whole.

    `language` is the code of the source; without one that is known, the rules that most
    languages share hold. The joined `before + text + after` of the segments are `text`. A
    segment is beyond the limit only if it is a single character.

    Raises ValueError for a limit below 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, but is {max_tokens}")
    pieces = _Splitter(count_tokens, max_tokens, base_code(language)).split(text)
    return _as_segments(pieces)


def sentences(text: str, language: str = "") -> list[str]:
    """The sentences of a text with the white space behind them; joined they are the text."""
    return _sentences(text, base_code(language))


def join_translations(
    texts: Sequence[str], segments: Sequence[Segment], *, target_language: str = ""
) -> str:
    """The translation of a line from those of its segments; an empty one leaves no space behind.

    A single space stands between them, except inside a word; Chinese and Japanese have none, and
    Thai, Lao, Khmer, Burmese and Tibetan none within a phrase. Yet a separator other than a plain
    space (a tab, say) is a space in every language, as it is in a line that was not split.

    Raises ValueError unless there are as many texts as segments.
    """
    line = ""
    last: Segment | None = None
    for text, segment in zip(texts, segments, strict=True):
        if text:
            between = "" if last is None else space_after(last, target_language)
            line += between + text
            last = segment
    return line


def space_after(segment: Segment, target_language: str) -> str:
    """What stands after the translation of `segment`, before that of the next one."""
    if segment.cut == "character":
        return ""
    if segment.after.strip(" "):
        return " "
    if writes_no_spaces(target_language):
        return ""
    if segment.cut == "word" and writes_spaces_between_phrases(target_language):
        return ""
    return " "


class _Splitter:
    """Cuts by one way after another, from sentences to characters, what does not fit."""

    def __init__(self, count_tokens: Callable[[str], int], max_tokens: int, language: str) -> None:
        self._count = count_tokens
        self._max = max_tokens
        self._ways: tuple[tuple[Cut, Callable[[str], list[str]]], ...] = (
            ("sentence", lambda text: _sentences(text, language)),
            ("clause", lambda text: _cut_after(_CLAUSE, text)),
            ("word", lambda text: _cut_after(_WORD, text)),
        )

    def split(self, text: str, way: int = 0) -> list[_Piece]:
        """Pieces that fit; the caller knows better what ends after the last."""
        num_tokens = self._count(text)
        if num_tokens <= self._max:
            return [_Piece(text=text, num_tokens=num_tokens)]
        if way == len(self._ways):
            return self._split_characters(text, num_tokens)
        cut, take_apart = self._ways[way]
        parts = take_apart(text)
        if len(parts) == 1:
            return self.split(text, way + 1)
        pieces: list[_Piece] = []
        for part in parts:
            *inner, last = self.split(part, way + 1)
            pieces += [*inner, dataclasses.replace(last, cut=cut)]
        return pieces if cut == "sentence" else self._packed(pieces)

    def _packed(self, pieces: list[_Piece]) -> list[_Piece]:
        """Put neighbours together, as few parts as fit, of about the same length."""
        target = self._fair_share(sum(piece.num_tokens for piece in pieces))
        packed: list[_Piece] = []
        group: list[_Piece] = []
        size = 0
        for piece in pieces:
            is_nearer_without = size + piece.num_tokens / 2 > target
            if group and (is_nearer_without or size + piece.num_tokens > self._max):
                packed += self._merged(group)
                group, size = [], 0
            group.append(piece)
            size += piece.num_tokens
        return packed + self._merged(group)

    def _merged(self, group: list[_Piece]) -> list[_Piece]:
        """One piece of several; as they were, should they count more together than apart."""
        text = "".join(piece.text for piece in group)
        num_tokens = self._count(text)
        if num_tokens > self._max:
            return group
        return [_Piece(text=text, num_tokens=num_tokens, cut=group[-1].cut)]

    def _split_characters(self, text: str, num_tokens: int) -> list[_Piece]:
        """Cut between grapheme clusters; inside one only where it is too long by itself."""
        units: list[str] = []
        for cluster in _CLUSTER.findall(text):
            fits = len(cluster) == 1 or self._count(cluster) <= self._max
            units += [cluster] if fits else cluster
        target = self._fair_share(num_tokens)
        pieces: list[_Piece] = []
        start = 0
        while start < len(units):
            end = start + self._num_fitting(units, start, target)
            part = "".join(units[start:end])
            around = "".join(units[end - 1 : end + 1])
            cut: Cut = "word" if _SCRIPT_WITHOUT_SPACES.search(around) else "character"
            pieces.append(_Piece(text=part, num_tokens=self._count(part), cut=cut))
            start = end
        return pieces

    def _num_fitting(self, units: list[str], start: int, max_tokens: int) -> int:
        """How many units from `start` on make at most `max_tokens` tokens, by bisection."""
        fitting = 1
        beyond = min(len(units) - start, _MOST_CHARACTERS * max_tokens) + 1
        while beyond - fitting > 1:
            middle = (fitting + beyond) // 2
            if self._count("".join(units[start : start + middle])) <= max_tokens:
                fitting = middle
            else:
                beyond = middle
        return fitting

    def _fair_share(self, num_tokens: int) -> int:
        """Tokens of a part when so many are shared out over as few parts as fit."""
        return math.ceil(num_tokens / max(1, math.ceil(num_tokens / self._max)))


def _sentences(text: str, language: str) -> list[str]:
    whole = _SURROGATE.sub("\ufffd", text)  # sentencex takes no lone surrogates
    parts = []
    start = 0
    for sentence in sentencex.segment(language, whole):
        end = start + len(sentence)
        parts += _cut_after(_MORE_STOPS, text[start:end])
        start = end
    if start != len(text):
        raise RuntimeError(f"sentencex returned {start} of {len(text)} characters")
    return parts


def _cut_after(marks: re.Pattern[str], text: str) -> list[str]:
    """Cut behind each match; nothing is left out, and no part is empty."""
    ends = [match.end() for match in marks.finditer(text)]
    if not ends or ends[-1] != len(text):
        ends.append(len(text))
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _as_segments(pieces: Sequence[_Piece]) -> list[Segment]:
    """Part text from the white space around it; a piece of only white space is none."""
    segments: list[Segment] = []
    before = ""
    for piece in pieces:
        text = piece.text.strip()
        start = piece.text.find(text)
        lead, trail = piece.text[:start], piece.text[start + len(text) :]
        if not text:
            lead, trail = piece.text, ""
        if not segments:
            before += lead
        else:
            last = segments[-1]
            segments[-1] = dataclasses.replace(last, after=last.after + lead)
        if text:
            segments.append(Segment(text=text, before=before, after=trail, cut=piece.cut))
            before = ""
    if not segments:
        return [Segment(text="", before=before)]
    segments[-1] = dataclasses.replace(segments[-1], cut="sentence")
    return segments
