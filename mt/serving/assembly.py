"""The parts of a server put together: models, threads, APIs, page."""

from __future__ import annotations

from dataclasses import dataclass

from mt.corpus.checks.language import ranked_languages
from mt.serving.access import Keys, Rate
from mt.serving.cache import LineCache
from mt.serving.call import Route
from mt.serving.deepl import DeepL
from mt.serving.documents import Documents
from mt.serving.glossaries import Glossaries
from mt.serving.http import Application, Gate, application
from mt.serving.libretranslate import LibreTranslate
from mt.serving.log import Log
from mt.serving.metrics import Metrics
from mt.serving.models import Models, threads_of
from mt.serving.operation import Operation
from mt.serving.page import Page
from mt.serving.request import ServeRequest
from mt.serving.service import Service
from mt.serving.workers import Workers


@dataclass
class Ending:
    """Whether the server was told to end."""

    is_asked: bool = False


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """What answers, and the threads behind it."""

    app: Application
    workers: Workers
    ending: Ending


def assemble(
    models: Models, request: ServeRequest, *, keys: Keys, log: Log, is_loopback: bool
) -> Assembly:
    """Put a server together for models that are loaded; its threads begin."""
    limits = request.limits
    metrics = Metrics()
    ending = Ending()
    num_workers, prepare = threads_of(models, request.workers)
    workers = Workers(
        num_workers,
        most_waiting=limits.waiting_characters,
        metrics=metrics,
        report=log.error,
        prepare=prepare,
    )
    service = Service(models, workers, cache=LineCache(limits.cache_characters), metrics=metrics)
    documents = Documents()
    parts = (
        Page(service=service, limits=limits),
        LibreTranslate(
            service=service, limits=limits, documents=documents, needs_key=bool(keys.keys)
        ),
        DeepL(
            service=service,
            limits=limits,
            documents=documents,
            glossaries=Glossaries(limits.glossaries),
        ),
        documents,
        Operation(service=service, metrics=metrics, is_ending=lambda: ending.is_asked),
    )
    routes: list[Route] = [route for part in parts for route in part.routes()]
    gate = Gate(
        keys=keys,
        rate=Rate(limits.requests_a_minute),
        limits=limits,
        access=request.access,
        log=log,
        metrics=metrics,
        is_loopback=is_loopback,
    )
    return Assembly(app=application(routes, gate), workers=workers, ending=ending)


def warm(models: Models) -> None:
    """Do once what is slow the first time."""
    ranked_languages("")
    for each in models.models:
        each.best.translate(["."])
