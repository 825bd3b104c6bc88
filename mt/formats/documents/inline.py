"""The content of a unit from what a format holds: codes are paired, edges set apart.

A reader gives text and marks in order; here they become `Content`, and a target becomes text and
marks again, with what stood at the edges. How text and marks are written is the reader's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from mt.formats.documents.splices import Part
from mt.formats.documents.unit import Code, CodeForm, Content

OPENING, CLOSING, ISOLATED = CodeForm.OPENING, CodeForm.CLOSING, CodeForm.ISOLATED


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A piece of markup as a reader finds it."""

    form: CodeForm
    markup: str
    parts: tuple[Part, ...]
    """What is written for it."""
    key: str = ""
    """What an opening shares with its closing."""
    text: str = ""
    is_break: bool = False
    is_style: bool = False
    is_element: bool = False
    """It is half of an element, so that its other half is there, and well nested."""


Stream = Sequence[str | Mark]


@dataclass(frozen=True, kw_only=True)
class Coded:
    """The content of a unit, and what is written for its codes and around it."""

    content: Content
    marks: dict[tuple[CodeForm, str], Mark]
    lead: str = ""
    trail: str = ""

    @property
    def has_text(self) -> bool:
        """Whether there is text outside of codes."""
        return bool(text_of(self.content).strip())

    def stream(self, target: Content) -> Stream:
        """Text and marks of a target, with what stands at the edges."""
        within = [
            item if isinstance(item, str) else self.marks[item.form, item.name] for item in target
        ]
        return joined([self.lead, *within, self.trail])


def text_of(content: Content | None) -> str:
    """The text of a content without its codes."""
    return "".join(item for item in content or () if isinstance(item, str))


def has_letters(text: str) -> bool:
    """Whether a text holds a letter."""
    return any(map(str.isalpha, text))


def coded(stream: Stream) -> Coded:
    """Pair the marks of a stream and set white space at its edges apart.

    Halves without a partner, or that would cross another pair, become isolated codes.
    """
    within = _paired(joined(stream))
    lead_text, trail_text = "", ""
    if within and isinstance(within[0][0], str):
        text = within[0][0]
        lead_text = text[: len(text) - len(text.lstrip())]
        within[0] = (text.lstrip(), None)
    if within and isinstance(within[-1][0], str):
        text = within[-1][0]
        trail_text = text[len(text.rstrip()) :]
        within[-1] = (text.rstrip(), None)
    marks = {
        (code.form, code.name): mark
        for mark, code in within
        if code is not None and isinstance(mark, Mark)
    }
    content: list[str | Code] = []
    for item, code in within:
        if code is not None:
            content.append(code)
        elif isinstance(item, str) and item:
            content.append(item)
    return Coded(
        content=tuple(content),
        marks=marks,
        lead=lead_text,
        trail=trail_text,
    )


_Paired = tuple[str | Mark, Code | None]


def joined(stream: Stream) -> list[str | Mark]:
    """Neighbouring texts as one, and no empty ones."""
    out: list[str | Mark] = []
    for item in stream:
        if isinstance(item, str) and out and isinstance(out[-1], str):
            out[-1] += item
        elif item != "":
            out.append(item)
    return out


def _paired(stream: Stream) -> list[_Paired]:
    """A code for each mark."""
    partners = _partners(stream)
    out: list[_Paired] = []
    names: dict[int, str] = {}
    numbers = count(1)
    for index, item in enumerate(stream):
        if isinstance(item, str):
            out.append((item, None))
            continue
        form = item.form if index in partners else ISOLATED
        name = names.pop(partners.get(index, -1), None) or str(next(numbers))
        if form is OPENING:
            names[index] = name
        code = Code(
            form=form,
            name=name,
            markup=item.markup,
            text=item.text,
            is_break=item.is_break,
            is_style=item.is_style,
        )
        out.append((item, code))
    return out


def _partners(stream: Stream) -> dict[int, int]:
    """The index of the other half, for the halves that are paired."""
    partners: dict[int, int] = {}
    opened: list[tuple[str, int, bool]] = []  # key, index, whether of an element
    num_open: Counter[str] = Counter()
    for index, item in enumerate(stream):
        if isinstance(item, str) or item.form is ISOLATED:
            continue
        if item.form is OPENING:
            opened.append((item.key, index, item.is_element))
            num_open[item.key] += 1
            continue
        if not num_open[item.key]:
            continue
        if not item.is_element and not _is_inside(opened, item.key):
            continue  # its opening is outside of an element that is still open
        while opened:
            key, other, _ = opened.pop()
            num_open[key] -= 1
            if key == item.key:
                partners[index], partners[other] = other, index
                break
    return partners


def _is_inside(opened: list[tuple[str, int, bool]], key: str) -> bool:
    for other, _, is_element in reversed(opened):
        if other == key or is_element:
            return other == key
    return False


def written(stream: Stream, text_parts: Callable[[str], Iterable[Part]]) -> tuple[Part, ...]:
    """What is written for text and marks, text by a function of the format."""
    parts: list[Part] = []
    for item in stream:
        parts += text_parts(item) if isinstance(item, str) else item.parts
    return tuple(parts)
