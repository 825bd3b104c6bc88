"""Subtitles in one language (SubRip, WebVTT, SubStation): the text of each cue is replaced.

Numbers, times, settings, notes and styles stay. The cues are one flow of text, which a speaker's
dash, music and sounds interrupt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.codes import is_text
from mt.formats.documents.cue_text import CueText
from mt.formats.documents.spliced import Span, SplicedDocument
from mt.formats.documents.text_file import TextFile, read_text_file
from mt.formats.documents.unit import Document, DocumentOptions, Unit
from mt.formats.subtitles import TIMES
from mt.languages import writes_no_spaces

WITHOUT_TEXT = "cue without words"
DRAWING = "drawing"

_SRT_MARKUP = re.compile(r"</?(?:[bius]|font)(?:\s[^<>]*)?/?>|\{\\[^{}]*\}", re.IGNORECASE)
_VTT_MARKUP = re.compile(r"<[^<>]*>")
_ASS_MARKUP = re.compile(r"\{[^{}]*\}")
_ENTITY = re.compile(r"&(?:amp|lt|gt|nbsp|lrm|rlm|#\d+|#x[0-9a-f]+);", re.IGNORECASE)
_BROKEN_TIMES = re.compile(r"\s*[\d:.,]+\s*-->")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]*)>")
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")
_SECTION = re.compile(r"\[(.*)\]\s*")


@dataclass(frozen=True, kw_only=True)
class _Cue:
    """Where the text of a cue stands."""

    line: int
    start: int
    end: int


def read_srt(path: Path, options: DocumentOptions) -> Document:
    """Read SubRip; raises DataError, with the line, for times that are none."""
    file = read_text_file(path)
    return _document(file, _timed_cues(file, is_vtt=False), options, _SRT_MARKUP)


def read_vtt(path: Path, options: DocumentOptions) -> Document:
    """Read WebVTT; raises DataError, with the line, for times that are none."""
    file = read_text_file(path)
    return _document(file, _timed_cues(file, is_vtt=True), options, _VTT_MARKUP)


def read_ass(path: Path, options: DocumentOptions) -> Document:
    """Read SubStation; raises DataError, with the line, for a dialogue with too few fields."""
    file = read_text_file(path)
    return _document(file, _dialogues(file), options, _ASS_MARKUP)


def _document(
    file: TextFile, cues: Iterator[_Cue], options: DocumentOptions, markup: re.Pattern[str]
) -> Document:
    cells: list[Span] = []
    skipped: dict[str, int] = {}
    flow, voice, was_apart = 0, "", False
    line_end = "\\N" if markup is _ASS_MARKUP else file.newline
    between = "" if writes_no_spaces(options.source_language) else " "
    for cue in cues:
        raw = file.text[cue.start : cue.end]
        text = CueText(
            raw.replace("\\n", "\\N") if markup is _ASS_MARKUP else raw,
            markup=markup,
            line_end=line_end,
            between=between,
            escape=_escaped if markup is _VTT_MARKUP or _ENTITY.search(raw) else None,
        )
        is_drawing = markup is _ASS_MARKUP and _DRAWING.search(raw)
        reason = DRAWING if is_drawing else "" if is_text(text.content) else WITHOUT_TEXT
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        is_apart = text.is_sound or text.is_music
        speaker = _VOICE.search(raw)
        changes = speaker is not None and speaker[1] != voice
        voice = speaker[1] if speaker else voice
        flow += is_apart or was_apart or text.is_speaker or changes
        was_apart = is_apart
        unit = Unit(
            name=f"line {cue.line}",
            source=text.content,
            flow="" if is_apart else f"{flow}",
        )
        cells.append(Span(unit, cue.start, cue.end, text.written))
    return SplicedDocument(file, cells, skipped)


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\u00a0", "&nbsp;")


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines of a text with where they begin; without their ends."""
    lines, place = [], 0
    for line in text.split("\n"):
        lines.append((place, line.removesuffix("\r")))
        place += len(line) + 1
    return lines


def _timed_cues(file: TextFile, *, is_vtt: bool) -> Iterator[_Cue]:
    """The cues of SubRip, which may hold blank lines, or of WebVTT, which end there."""
    lines = _lines(file.text)
    starts = []
    for number, (_, line) in enumerate(lines):
        if TIMES.match(line):
            starts.append(number)
        elif _BROKEN_TIMES.match(line):
            raise DataError(
                f"{file.name}:{number + 1}: no times of a cue: {line.strip()[:60]!r}",
                hint="They are 00:00:01,000 --> 00:00:02,500",
            )
    if not starts and file.text.removeprefix("WEBVTT").strip() and not is_vtt:
        raise DataError(f"{file.name}: there are no cues with times")
    for number, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        texts = lines[number + 1 : following]
        if is_vtt:
            blank = next((i for i, (_, line) in enumerate(texts) if not line.strip()), None)
            if blank is None and following < len(lines) and texts:
                blank = len(texts) - 1  # the name of the next cue
            texts = texts[:blank]
        else:
            texts = _without_number(texts, is_last=following == len(lines))
        while texts and not texts[0][1].strip():
            texts = texts[1:]
        end = texts[-1][0] + len(texts[-1][1]) if texts else 0
        yield _Cue(line=number + 1, start=texts[0][0] if texts else 0, end=end)


def _without_number(texts: list[tuple[int, str]], *, is_last: bool) -> list[tuple[int, str]]:
    """The lines of a cue of SubRip without the number of the next one, and blank lines."""
    num = len(texts)
    while num and not texts[num - 1][1].strip():
        num -= 1
    if not is_last and num and texts[num - 1][1].strip().isdecimal():
        num -= 1
    while num and not texts[num - 1][1].strip():
        num -= 1
    return texts[:num]


def _dialogues(file: TextFile) -> Iterator[_Cue]:
    """The dialogues of SubStation, by the fields that its section of events names."""
    section, num_fields = "", 10
    for number, (place, line) in enumerate(_lines(file.text), start=1):
        found = _SECTION.fullmatch(line)
        if found:
            section = found[1].strip().lower()
        kind, _, fields = line.partition(":")
        if section != "events":
            continue
        if kind.strip().lower() == "format":
            num_fields = fields.count(",") + 1
        elif kind.strip().lower() == "dialogue":
            parts = fields.split(",", num_fields - 1)
            if len(parts) < num_fields:
                raise DataError(
                    f"{file.name}:{number}: {len(parts)} fields, but there must be {num_fields}"
                )
            end = place + len(line)
            yield _Cue(line=number, start=end - len(parts[-1]), end=end)
