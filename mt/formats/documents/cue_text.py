"""The text of a cue of subtitles: one paragraph for each speaker, its lines joined."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

from mt.formats.documents.codes import Tag, paired, readable
from mt.formats.documents.unit import Code, Content
from mt.formats.documents.wrapping import balanced, num_characters

_WIDTH = 42  # characters that a line of subtitles usually holds
_SPEAKER = re.compile(r"\s*(?:[-‐–—]\s*(?=[^\W\d]|[\"'«“‘¿¡(\[.…<{])|>>+\s*)")
_MUSIC = re.compile(r"(?<!\s)\s*[♪♫]+\s*|^\s*#\s+|(?<!\s)\s+#\s*$")
_SOUND = re.compile(r"\s*(?:\[[^\[\]]*\]|\([^()]*\)|\*[^*]*\*)\s*")
_NAME = re.compile(r"</?([A-Za-z]+|)")


class CueText:
    """What a cue shows, as content, and a target on as many lines as there were."""

    def __init__(
        self,
        raw: str,
        *,
        markup: re.Pattern[str],
        line_end: str,
        between: str,
        escape: Callable[[str], str] | None,
    ) -> None:
        """`markup`: what is a code; `line_end`: what the lines of `raw` end with.

        `between`: what joins two lines of a sentence; `escape`: how text is written where entities
        stand for characters, None where they do not.
        """
        self._markup = markup
        self._line_end = line_end
        self._between = between
        self._escape = escape
        self._num_lines = [1]
        """Of each paragraph."""
        lines = [line for line in raw.split(line_end) if line.strip()]
        self._longest = 0
        self.content: Content = paired(self._tagged(lines))
        shown = readable(self.content)
        self.is_sound = bool(_SOUND.fullmatch(shown))
        """Whether it describes a sound: [music]."""
        self.is_music = any(_MUSIC.search(line) for line in lines)
        self.is_speaker = bool(lines and _SPEAKER.match(markup.sub("", lines[0])))
        """Whether somebody begins to speak, by a dash."""

    def written(self, target: Content) -> str:
        """A target on lines, one at least for each paragraph."""
        text = ""
        paragraph: list[str | Code] = []
        number = 0
        for piece in [*target, None]:
            if isinstance(piece, str) or (piece is not None and not piece.is_break):
                paragraph.append(piece)
                continue
            num_lines = self._lines_for(tuple(paragraph), number)
            lines = balanced(tuple(paragraph), num_lines, _WIDTH)
            text += self._line_end.join(map(self._with_markup, lines))
            text += piece.markup if piece is not None else ""
            paragraph = []
            number += 1
        return text

    def _lines_for(self, paragraph: Content, number: int) -> int:
        """As many as the source has; a second one for what outgrows the only one."""
        known = self._num_lines[number] if number < len(self._num_lines) else 1
        is_only = self._num_lines == [1] and self._longest <= _WIDTH
        return 2 if is_only and num_characters(paragraph) > _WIDTH else known

    def _with_markup(self, line: Content) -> str:
        escape = self._escape or str
        return "".join(each.markup if isinstance(each, Code) else escape(each) for each in line)

    def _tagged(self, lines: list[str]) -> Iterator[str | Tag]:
        was_sound = False
        for number, line in enumerate(lines):
            shown = self._markup.sub("", line)
            self._longest = max(self._longest, len(shown))
            speaker, is_sound = _SPEAKER.match(line), bool(_SOUND.fullmatch(shown))
            if speaker:
                yield self._break((self._line_end if number else "") + speaker[0])
                line = line[speaker.end() :]
            elif number and (is_sound or was_sound or _SPEAKER.match(shown)):
                yield self._break(self._line_end)
            elif number:
                self._num_lines[-1] += 1
                yield self._between
            was_sound = is_sound
            place = 0
            for found in self._markup.finditer(line):
                yield from self._text(line[place : found.start()])
                yield _tag(found[0])
                place = found.end()
            yield from self._text(line[place:])

    def _text(self, text: str) -> Iterator[str | Tag]:
        place = 0
        for found in _MUSIC.finditer(text):
            yield self._unescaped(text[place : found.start()])
            yield self._break(found[0])
            place = found.end()
        yield self._unescaped(text[place:])

    def _break(self, markup: str) -> Tag:
        self._num_lines.append(1)
        return Tag(markup=markup, is_break=True)

    def _unescaped(self, text: str) -> str:
        return html.unescape(text) if self._escape else text


def _tag(markup: str) -> Tag:
    """A tag of subtitles; those of timing, of voices without an end and the like stand alone."""
    found = _NAME.match(markup)
    if found is None or not found[1]:
        return Tag(markup=markup)
    is_closing = markup.startswith("</")
    return Tag(
        markup=markup,
        opens="" if is_closing else found[1].lower(),
        closes=found[1].lower() if is_closing else "",
    )
