"""Sentences translated by a model, and the words of both sides that belong together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Protocol

from mt.documents.words import Span, is_content, word_spans
from mt.text.tokenizer import Tokenizer
from mt.translation.line_translator import LineTranslator
from mt.translation.translation import TranslatedText, Translation

if TYPE_CHECKING:
    from mt.translation.scorer import Scorer

Link = tuple[int, int]
"""A word of the source and one of the target (`word_spans`), counted from 0."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A sentence to be translated, and what of it is to stay as it is."""

    text: str
    protected: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Told:
    """A translation of a sentence; empty with an `error` where there is none."""

    text: str
    error: str | None = None
    is_cut: bool = False
    """Search ended it at the length bound."""


class SentenceTranslator(Protocol):
    """What the engine of documents needs of a translator."""

    @property
    def window(self) -> int:
        """Sentences that are worth giving at once."""
        ...

    def translate(self, sentences: Sequence[Asked]) -> list[Told]:
        """The translations of sentences, in order."""
        ...

    def align(self, sentences: Sequence[Asked]) -> list[Collection[Link]]:
        """Words of sentences that were translated and of their translations."""
        ...


class ModelTranslator:
    """Translates by a model, whose translator has a glossary, be it empty; aligns by a scorer."""

    def __init__(self, translator: LineTranslator, scorer: Callable[[], Scorer]) -> None:
        """`scorer` gives mt's own model, when it is first needed."""
        self._translator = translator
        self._make_scorer = scorer
        self._scorer: Scorer | None = None
        self._found: dict[Asked, Translation] = {}

    @property
    def window(self) -> int:
        """Sentences that are worth giving at once."""
        return self._translator.window

    def translate(self, sentences: Sequence[Asked]) -> list[Told]:
        """The translations of sentences; of the last ones, what `align` needs is kept."""
        found = self._translator.translate_window(
            [each.text for each in sentences],
            protected=[each.protected for each in sentences],
        )
        self._found = dict(zip(sentences, found, strict=True))
        return [
            Told(
                text=each.text,
                error=each.error,
                is_cut=any(best.hit_limit for best in each.hypotheses[:1]),
            )
            for each in found
        ]

    def align(self, sentences: Sequence[Asked]) -> list[Collection[Link]]:
        """Words of sentences that were just translated, and of their translations."""
        if self._scorer is None:
            self._scorer = self._make_scorer()
        parts = [
            (number, part)
            for number, sentence in enumerate(sentences)
            for part in _parts(self._found[sentence])
        ]
        pairs = [
            (tokens, part.tokens)
            for tokens, (_, part) in zip(
                self._scorer.encode_sources([part.source for _, part in parts]),
                parts,
                strict=True,
            )
        ]
        is_real = [bool(source and target) for source, target in pairs]
        aligned = iter(
            self._scorer.align_tokens(
                [pair for pair, real in zip(pairs, is_real, strict=True) if real]
            )
        )
        links: list[set[Link]] = [set() for _ in sentences]
        begun = [(0, 0)] * len(sentences)
        for (number, part), (source, target), real in zip(parts, pairs, is_real, strict=True):
            of_source = word_spans(part.source)
            of_target = word_spans(part.text)
            first, base = begun[number]
            begun[number] = first + len(of_source), base + len(of_target)
            if not real:
                continue
            theirs = words_of_tokens(self._translator.tokenizers.source, source, part.source)
            ours = words_of_tokens(self._translator.tokenizers.target, target, part.text)
            links[number] |= {
                (first + here, base + there)
                for source_token, target_token in next(aligned)
                for here in theirs[source_token]
                for there in ours[target_token]
            }
        return list(links)


@dataclass(frozen=True, kw_only=True)
class _Part:
    source: str
    text: str
    tokens: tuple[int, ...]


def _parts(translation: Translation) -> list[_Part]:
    """A translation, or the parts of a long one."""
    best: TranslatedText = translation.hypotheses[0]
    if not best.parts:
        return [_Part(source=translation.as_read, text=best.text, tokens=best.tokens)]
    return [_Part(source=each.source, text=each.text, tokens=each.tokens) for each in best.parts]


def words_of_tokens(tokenizer: Tokenizer, tokens: Sequence[int], text: str) -> list[list[int]]:
    """The words of `text` that each token spells a part of; those that say something, if any."""
    spellings = tokenizer.spell(tokens)
    spelled, owners = "", []
    for token, spelling in enumerate(spellings):
        owners += [token] * len(spelling)
    places: list[int] = []
    at = 0
    for character in b"".join(spellings).decode("utf-8", errors="surrogateescape"):
        spelled += character
        places.append(at)
        at += 1 if "\udc80" <= character <= "\udcff" else len(character.encode("utf-8"))
    spans = word_spans(spelled)
    same = _same_words(spelled, spans, text)
    words: list[list[int]] = [[] for _ in tokens]
    starts = [start for start, _ in spans]
    for place, byte in enumerate(places):
        number = bisect_right(starts, place) - 1
        if number < 0 or place >= spans[number][1] or number not in same:
            continue
        size = (places[place + 1] if place + 1 < len(places) else at) - byte
        for token in set(owners[byte : byte + size]):
            if same[number] not in words[token]:
                words[token].append(same[number])
    of_text = word_spans(text)
    says = [is_content(text[start:end]) for start, end in of_text]
    return [[word for word in each if says[word]] or each for each in words]


def _same_words(spelled: str, spans: Sequence[Span], text: str) -> dict[int, int]:
    """Which word of `text` each word of what tokens spell is: the same one, unless some changed."""
    of_text = word_spans(text)
    if len(of_text) == len(spans):
        return {number: number for number in range(len(spans))}
    matcher = SequenceMatcher(
        None,
        [spelled[start:end].casefold() for start, end in spans],
        [text[start:end].casefold() for start, end in of_text],
        autojunk=False,
    )
    return {
        block.a + i: block.b + i
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    }
