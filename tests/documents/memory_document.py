"""A document in memory, and translators whose alignment is known."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import BinaryIO

from mt.documents.sentence_translator import Asked, Link, Told
from mt.documents.words import word_spans
from mt.formats.documents.unit import Code, CodeForm, Content, Unit


class MemoryDocument:
    """Units, and what was put into them."""

    def __init__(self, *units: Unit) -> None:
        self.units: Sequence[Unit] = units
        self.filled: dict[int, Content] = {}
        self.marked: set[int] = set()

    @property
    def skipped(self) -> Mapping[str, int]:
        return {}

    def fill(self, index: int, target: Content, *, marked: bool) -> None:
        codes = [Counter(map(repr, codes_of(each))) for each in (self.units[index].source, target)]
        if codes[0] != codes[1]:
            raise ValueError(f"other codes: {codes}")
        self.filled[index] = target
        self.marked |= {index} if marked else set()

    def write(self, file: BinaryIO) -> None:
        raise NotImplementedError


class ByWords:
    """Translates word by word, perhaps in another order; what is protected is one word."""

    def __init__(
        self,
        *,
        shuffled: random.Random | None = None,
        words: Mapping[str, str] | None = None,
        window: int = 16,
    ) -> None:
        self.window = window
        self.asked: list[Asked] = []
        self._shuffled = shuffled
        self._words = words or {}
        self._links: dict[Asked, list[Link]] = {}

    def translate(self, sentences: Sequence[Asked]) -> list[Told]:
        self.asked += sentences
        return [self._told(sentence) for sentence in sentences]

    def align(self, sentences: Sequence[Asked]) -> list[Collection[Link]]:
        return [self._links[sentence] for sentence in sentences]

    def _told(self, sentence: Asked) -> Told:
        tokens = sentence.text.split()
        order = list(range(len(tokens)))
        if self._shuffled is not None:
            self._shuffled.shuffle(order)
        numbers: list[list[int]] = []
        count = 0
        for token in tokens:
            size = len(word_spans(token))
            numbers.append(list(range(count, count + size)))
            count += size
        target, links = [], []
        base = 0
        for index in order:
            written = self._words.get(tokens[index], tokens[index])
            size = len(word_spans(written))
            target.append(written)
            if size == len(numbers[index]):
                links += [(source, base + i) for i, source in enumerate(numbers[index])]
            else:
                links += [(s, base + t) for s in numbers[index] for t in range(size)]
            base += size
        self._links[sentence] = sorted(links)
        return Told(text=" ".join(target))


def codes_of(content: Content) -> list[Code]:
    return [part for part in content if isinstance(part, Code)]


def shown(content: Content) -> str:
    """A content with its codes as tags."""
    return "".join(part if isinstance(part, str) else part.markup for part in content)


def content(text: str) -> Content:
    """A content from text with ⟨b⟩, ⟨/b⟩, ⟨x/⟩ and [words] for codes with text."""
    parts: list[str | Code] = []
    opened: list[str] = []
    for number, part in enumerate(re.split(r"(⟨/?\w+/?⟩|\[[^\]]*\])", text)):
        if not part:
            continue
        if part[0] == "[":
            parts.append(
                Code(form=CodeForm.ISOLATED, name=str(number), markup=part, text=part[1:-1])
            )
        elif part.startswith("⟨/"):
            parts.append(Code(form=CodeForm.CLOSING, name=opened.pop(), markup=part))
        elif part.endswith("/⟩"):
            parts.append(
                Code(
                    form=CodeForm.ISOLATED,
                    name=str(number),
                    markup=part,
                    is_break=part == "⟨br/⟩",
                )
            )
        elif part[0] == "⟨" and part[-1] == "⟩":
            opened.append(str(number))
            parts.append(Code(form=CodeForm.OPENING, name=str(number), markup=part))
        else:
            parts.append(part)
    return tuple(parts)


def unit(text: str, **more: object) -> Unit:
    return Unit(name=text[:20], source=content(text), **more)  # type: ignore[arg-type]
