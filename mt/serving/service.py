"""Texts in, translations out, for all APIs alike: routes, cache, workers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from mt.corpus.checks.language import ranked_languages
from mt.languages import is_same_language
from mt.serving.cache import LineCache
from mt.serving.lines import CutText
from mt.serving.metrics import Metrics
from mt.serving.models import Models, ServedModel, TranslatorLane
from mt.serving.refusal import RefusalError
from mt.serving.waiting import Ticket
from mt.serving.workers import QueueFullError, Workers
from mt.text.glossary import Glossary
from mt.translation.translation import Translation

_FIRST = 2000  # characters of a text by which its language is told
Candidates = tuple[str, ...]
"""The translations of a line, best first; at least one."""


@dataclass(frozen=True, kw_only=True)
class Detected:
    """A language that a text may be in."""

    code: str
    confidence: float
    """Its probability among all languages that can be told apart, in percent."""


@dataclass(kw_only=True, eq=False)
class Terms:
    """A glossary, and the lanes that translate by it."""

    name: str
    """What the cache calls it."""
    glossary: Glossary
    lanes: dict[str, TranslatorLane] = field(default_factory=dict)
    """By the name of the model."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Texts of one pair of languages, and what is asked for."""

    texts: Sequence[CutText]
    source: str
    target: str
    num_alternatives: int = 0
    terms: Terms | None = None


class Service:
    """What is asked of the models, from the event loop."""

    def __init__(
        self, models: Models, workers: Workers, *, cache: LineCache, metrics: Metrics
    ) -> None:
        self.models = models
        self._workers = workers
        self._cache = cache
        self._metrics = metrics

    @property
    def has_room(self) -> bool:
        """Whether it takes more."""
        return self._workers.has_room

    def detect(self, text: str, among: Sequence[str]) -> list[Detected]:
        """The languages `among` which a text may be in, most probable first; none without letters.

        A language that cannot be told is not among them.
        """
        if not any(character.isalpha() for character in text):
            return []
        return [
            Detected(code=code, confidence=round(100 * probability, 1))
            for label, probability in ranked_languages(text[:_FIRST])
            for code in among
            if is_same_language(code, label)
        ]

    async def translate(self, wanted: Wanted) -> list[Candidates]:
        """The translations of each text, best first; with alternatives, each once.

        Raises RefusalError for a pair that no model translates, for a text that cannot be
        translated, and where too much waits.
        """
        route = self.models.route(wanted.source, wanted.target)
        if route is None:
            raise RefusalError(400, f"{wanted.source} is not translated into {wanted.target}")
        if wanted.terms is not None and len(route) > 1:
            raise RefusalError(400, "A glossary needs a model of the pair itself, without a pivot")
        num_characters = sum(len(line) for text in wanted.texts for line in text.lines)
        self._metrics.wanted(wanted.source, wanted.target, num_characters)
        lines = list(dict.fromkeys(line for text in wanted.texts for line in text.lines))
        found: dict[str, Candidates] = {line: (line,) for line in lines}
        for hop, model in enumerate(route, start=1):
            is_last = hop == len(route)
            sources = list(dict.fromkeys(candidates[0] for candidates in found.values()))
            lane, name = await self._lane(model, wanted, is_last=is_last)
            translated = await self._translated(lane, name, sources)
            found = {line: translated[candidates[0]] for line, candidates in found.items()}
        return [_of_text(text, found, 1 + wanted.num_alternatives) for text in wanted.texts]

    async def _lane(
        self, model: ServedModel, wanted: Wanted, *, is_last: bool
    ) -> tuple[TranslatorLane, str]:
        """What translates the lines of a hop, and what the cache calls it."""
        terms = wanted.terms
        if terms is not None:
            if model.name not in terms.lanes:
                made = await asyncio.to_thread(model.with_glossary, terms.glossary)
                terms.lanes.setdefault(model.name, made)
            return terms.lanes[model.name], f"{model.name} {terms.name}"
        if is_last and wanted.num_alternatives:
            return model.several, f"{model.name} several"
        return model.best, model.name

    async def _translated(
        self, lane: TranslatorLane, name: str, lines: Sequence[str]
    ) -> dict[str, Candidates]:
        """The translations of lines, from the cache as far as they are there."""
        found = {line: known for line in lines if (known := self._cache.get((name, line)))}
        missing = [line for line in lines if line not in found]
        self._metrics.looked_up(len(found), len(missing))
        if missing:
            results = await self._by_workers(lane, missing)
            for line, result in zip(missing, results, strict=True):
                found[line] = _candidates(result)
                self._cache.put((name, line), found[line])
        return found

    async def _by_workers(
        self, lane: TranslatorLane, lines: Sequence[str]
    ) -> Sequence[Translation | None]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Sequence[Translation | None]] = loop.create_future()

        def put(results: Sequence[Translation | None]) -> None:
            if not done.done():
                done.set_result(results)

        def post(results: Sequence[Translation | None]) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(put, results)

        try:
            ticket = self._workers.submit(lane, lines, post)
        except QueueFullError as error:
            raise RefusalError(
                429, "Slowdown: too much waits to be translated", retry_after=error.retry_after
            ) from None
        return await self._or_cancel(done, ticket)

    async def _or_cancel(
        self, done: asyncio.Future[Sequence[Translation | None]], ticket: Ticket
    ) -> Sequence[Translation | None]:
        try:
            return await done
        except asyncio.CancelledError:
            self._workers.cancel(ticket)
            raise


def _candidates(result: Translation | None) -> Candidates:
    """The texts of a line; raises RefusalError where there is none."""
    if result is None:
        raise RefusalError(500, "A text could not be translated")
    if result.error is not None:
        raise RefusalError(400, "A text is too long to be translated: split it into lines")
    return tuple(each.text for each in result.hypotheses)


def _of_text(text: CutText, found: dict[str, Candidates], most: int) -> Candidates:
    """The translations of a text from those of its lines: the best of all, then the second."""
    of_lines = [found[line] for line in text.lines]
    num = min(max(map(len, of_lines)), most)
    texts = [
        text.joined([each[min(rank, len(each) - 1)] for each in of_lines]) for rank in range(num)
    ]
    return tuple(dict.fromkeys(texts))
