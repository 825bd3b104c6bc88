"""Subtitles (SubRip, WebVTT) in two languages: cues that are shown at the same time are a pair."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.formats.pair import INVALID, NO_SOURCE, NO_TARGET, Pair
from mt.formats.standard_input import shown
from mt.formats.text import read_lines
from mt.formats.two_files import TwoFiles

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.](\d{1,3})"
TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
"""The line of a cue with its times."""
_TAG = re.compile(r"</?(?:[bius]|c|v|lang|ruby|rt|font)(?:[\s.][^<>]*)?>|<[\d:.]+>", re.IGNORECASE)
_OVERRIDE = re.compile(r"\{\\[^{}]*\}")
_SHARE = 0.5  # of the shorter of two cues, from which on they are shown together


@dataclass(frozen=True, kw_only=True)
class Cue:
    """What is shown from `start` to `end`, in milliseconds."""

    start: int
    end: int
    text: str
    """On one line, without tags."""
    line: int
    is_invalid: bool = False
    """Whether it is not UTF-8."""


class Subtitles(TwoFiles):
    """A file of subtitles for each language.

    Cues belong together where they share half of the time of the shorter one. Where one cue of a
    side is several of the other, all of them are one pair.
    """

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; a cue without one of its time on the other side has a fault."""
        origin = shown(self._source)
        sides = [
            read_cues(path, keep_invalid=self._options.keep_invalid, hint=self._options.hint)
            for path in (self._source, self._target)
        ]
        for sources, targets in groups_by_time(*sides):
            first = (sources or targets)[0]
            left, right = (
                " ".join(filter(None, (c.text for c in cues))) for cues in (sources, targets)
            )
            fault = "" if left and right else NO_TARGET if left else NO_SOURCE
            if any(cue.is_invalid for cue in (*sources, *targets)):
                left, right, fault = "", "", INVALID
            yield Pair(left, right, origin if sources else shown(self._target), first.line, fault)


def groups_by_time(
    sources: Sequence[Cue], targets: Sequence[Cue]
) -> Iterator[tuple[list[Cue], list[Cue]]]:
    """Cues of both sides that belong together by their times, in order; one side may be empty."""
    left, right = (
        sorted(side, key=lambda cue: (cue.start, cue.line)) for side in (sources, targets)
    )
    i = j = 0
    while i < len(left) or j < len(right):
        if j == len(right) or (i < len(left) and left[i].start <= right[j].start):
            group: tuple[list[Cue], list[Cue]] = ([left[i]], [])
            i += 1
        else:
            group = ([], [right[j]])
            j += 1
        grows = True
        while grows:
            grows = False
            while j < len(right) and any(_together(cue, right[j]) for cue in group[0]):
                group[1].append(right[j])
                j, grows = j + 1, True
            while i < len(left) and any(_together(left[i], cue) for cue in group[1]):
                group[0].append(left[i])
                i, grows = i + 1, True
        yield group


def _together(one: Cue, other: Cue) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return shared > 0 and shared >= _SHARE * shorter


def read_cues(path: Path, *, keep_invalid: bool = False, hint: str) -> list[Cue]:
    """The cues of a file of SubRip or WebVTT.

    A SubRip cue may hold blank lines; one of WebVTT ends there, and what stands between its cues
    (notes, styles, names of cues) is no text.
    """
    lines = list(read_lines(path, keep_invalid=keep_invalid, hint=hint, is_plain=False))
    is_vtt = bool(lines) and (lines[0] or "").startswith("WEBVTT")
    starts = [(i, found) for i, line in enumerate(lines) if line and (found := TIMES.match(line))]
    cues = []
    for (i, times), following in zip(starts, [*(i for i, _ in starts[1:]), None], strict=True):
        text = lines[i + 1 : following]
        if is_vtt:
            blank = next(
                (k for k, line in enumerate(text) if line is not None and not line.strip()), None
            )
            text = text[:blank]
            if blank is None and following is not None and text:
                text = text[:-1]  # the name of the next cue
        elif following is not None:
            text = _without_number(text)
        start, end = _milliseconds(times.groups()[:4]), _milliseconds(times.groups()[4:])
        cues.append(
            Cue(
                start=start,
                end=max(end, start),
                text=_plain(" ".join(line or "" for line in text)),
                line=i + 1,
                is_invalid=None in text,
            )
        )
    return cues


def _without_number(text: list[str | None]) -> list[str | None]:
    """The lines between two times without the number of the second cue."""
    rest = list(text)
    while rest and rest[-1] is not None and not rest[-1].strip():
        rest.pop()
    if rest and rest[-1] is not None and rest[-1].strip().isdecimal():
        rest.pop()
    return rest


def _plain(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", _OVERRIDE.sub("", text))).split())


def _milliseconds(parts: Sequence[str | None]) -> int:
    hours, minutes, seconds, fraction = parts
    whole = (int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    return 1000 * whole + int((fraction or "0").ljust(3, "0"))
