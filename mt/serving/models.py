"""The models of a server: which pairs they translate, and by which of them a request goes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from mt.errors import ConfigError
from mt.events import Event, Listener, ignore
from mt.languages import base_code, normal_code
from mt.model_folder.files import read_config, weights_of
from mt.processes import num_cores
from mt.serving.refusal import RefusalError
from mt.serving.request import ServeRequest
from mt.tasks.engine import Demand, load_for
from mt.tasks.requests import SearchOverrides
from mt.tasks.translate import search_settings
from mt.text.glossary import Glossary
from mt.translation.line_translator import LineTranslator
from mt.translation.options import TranslationOptions, fast_batch_size
from mt.translation.translation import Translation

if TYPE_CHECKING:
    from mt.translation.translator import Translator

_CHARACTERS_A_LINE = 256  # of a full batch: 64 tokens, as search has them


@dataclass(frozen=True, kw_only=True, eq=False)
class TranslatorLane:
    """A translator whose batches are bounded."""

    translator: LineTranslator
    most_lines: int

    @property
    def most_characters(self) -> int:
        """Characters of a batch, each line as long as the longest."""
        return self.most_lines * _CHARACTERS_A_LINE

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines, one for one."""
        return self.translator.translate_window(lines)


class WhileLoading:
    """Passes events on until it is told that all is loaded: later ones have text of clients."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener

    def __call__(self, event: Event) -> None:
        """Hear of an event."""
        self.listener(event)


@dataclass(kw_only=True, eq=False)
class ServedModel:
    """One model folder, loaded: its pair of languages, and lanes that share its weights."""

    folder: Path
    source: str
    target: str
    translator: LineTranslator
    options: TranslationOptions
    stamp: tuple[int, int, int]
    """Of the weights that were loaded."""
    _lock: Lock = field(default_factory=Lock)
    _beside: Translator | None = None

    @property
    def name(self) -> str:
        """The pair, for people."""
        return f"{self.source}-{self.target}"

    @property
    def is_on_cpu(self) -> bool:
        """Whether it is translated on the processor."""
        if self.translator.engine != "mt":
            return True
        return next(self.own().model.parameters()).device.type == "cpu"

    @cached_property
    def best(self) -> TranslatorLane:
        """Gives the best translation of each line."""
        return self._lane(self.translator)

    @cached_property
    def several(self) -> TranslatorLane:
        """Gives as many translations of each line as the beam holds."""
        return self._lane(self.translator.giving(self.translator.config.search.beam))

    def with_glossary(self, glossary: Glossary) -> TranslatorLane:
        """Gives the best translation with the terms of a glossary, by mt's own search."""
        return self._lane(self.own().with_glossary(glossary))

    def own(self) -> Translator:
        """Translates by mt itself; loaded when first asked for where another engine searches.

        Raises RefusalError where the folder holds other weights by now.
        """
        from mt.translation.translator import Translator

        if isinstance(self.translator, Translator):
            return self.translator
        with self._lock:
            if self._beside is None:
                if stamp_of(self.folder) != self.stamp:
                    raise RefusalError(503, "The model was replaced: the server must be restarted")
                self._beside = Translator.load(self.folder, options=self.options)
            return self._beside

    def _lane(self, translator: LineTranslator) -> TranslatorLane:
        size = fast_batch_size(translator.config.search.beam)
        return TranslatorLane(translator=translator, most_lines=self.options.batch_size or size)


def stamp_of(folder: Path) -> tuple[int, int, int]:
    """What changes when other weights are written."""
    found = weights_of(folder).stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class Models:
    """All models, and the languages between which they translate."""

    models: Sequence[ServedModel]
    pivot: str | None = None

    def __post_init__(self) -> None:
        pairs: dict[tuple[str, str], ServedModel] = {}
        for each in self.models:
            if (each.source, each.target) in pairs:
                raise ConfigError(f"two models translate {each.name}: give one of them")
            pairs[each.source, each.target] = each
        if self.pivot is not None:
            sides = {each.source for each in self.models}, {each.target for each in self.models}
            if not all(self.pivot in side for side in sides):
                raise ConfigError(
                    f"--pivot {self.pivot}: no model translates from it, or none into it"
                )

    @cached_property
    def languages(self) -> dict[str, tuple[str, ...]]:
        """The codes of all languages, each with those it is translated into, itself among them."""
        codes = sorted({code for each in self.models for code in (each.source, each.target)})
        return {
            source: tuple(
                target for target in codes if source == target or self._path(source, target)
            )
            for source in codes
        }

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The codes of the languages that are translated."""
        return tuple(sorted({each.source for each in self.models}))

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The codes of the languages that are translated into."""
        return tuple(sorted({each.target for each in self.models}))

    def code(self, wanted: str) -> str | None:
        """The code here of a language that a client names by another, or None.

        `EN-GB` is the `en` of a model that knows no regions, and `en` may be `en-gb`; but
        `zh-hant` is never `zh-hans`.
        """
        normal = normal_code(wanted)
        if normal in self.languages:
            return normal
        base = base_code(wanted)
        if base in self.languages:
            return base
        kin = [code for code in self.languages if base_code(code) == base]
        return kin[0] if kin and normal == base else None

    def route(self, source: str, target: str) -> tuple[ServedModel, ...] | None:
        """The models by which a pair is translated; none for equal codes, None where none can."""
        return () if source == target else self._path(source, target) or None

    def _path(self, source: str, target: str) -> tuple[ServedModel, ...]:
        pairs = {(each.source, each.target): each for each in self.models}
        if (source, target) in pairs:
            return (pairs[source, target],)
        if self.pivot is not None and self.pivot not in (source, target):
            hops = pairs.get((source, self.pivot)), pairs.get((self.pivot, target))
            if hops[0] is not None and hops[1] is not None:
                return hops[0], hops[1]
        return ()


def load_models(request: ServeRequest, listener: Listener) -> Models:
    """Load all models of a request; raises MtError for a request or a folder at fault."""
    demand = Demand(engine=request.engine, threads=request.workers or num_cores())
    pairs = [_pair_of(folder) for folder in map(Path, request.models)]
    heard = WhileLoading(listener)
    served = []
    for folder, (source, target) in zip(map(Path, request.models), pairs, strict=True):
        search = search_settings(folder, SearchOverrides(beam=request.beam))
        options = TranslationOptions(
            search=dataclasses.replace(search, n_best=1),
            device=request.device,
            precision=request.precision,
            batch_size=request.batch_size,
            workers=1,
            keep_case=request.keep_case,
        )
        stamp = stamp_of(folder)
        translator = load_for([folder], demand, options, heard)
        served.append(
            ServedModel(
                folder=folder,
                source=source,
                target=target,
                translator=translator,
                options=options,
                stamp=stamp,
            )
        )
    heard.listener = ignore
    pivot = None if request.pivot is None else normal_code(request.pivot)
    return Models(models=served, pivot=pivot)


def _pair_of(folder: Path) -> tuple[str, str]:
    """The languages of a model; raises ConfigError where it cannot be served."""
    config = read_config(folder)
    if config.tokenizer.takes_symbols:
        raise ConfigError(f"{folder}: the model takes symbols, but mt serve is for text")
    if not config.source_language or not config.target_language:
        raise ConfigError(
            f"{folder}: the model does not say its languages",
            hint="Name source_language and target_language in its config.toml",
        )
    return normal_code(config.source_language), normal_code(config.target_language)


def threads_of(models: Models, wanted: int | None) -> tuple[int, Callable[[], None]]:
    """How many threads are to translate, and what each of them does first."""
    of_torch = [each for each in models.models if each.translator.engine == "mt"]
    if not of_torch:
        return wanted or num_cores(), lambda: None
    from mt.model.device import set_threads

    on_cpu = all(each.is_on_cpu for each in of_torch)
    return wanted or (num_cores() if on_cpu else 1), lambda: set_threads(1 if on_cpu else None)
