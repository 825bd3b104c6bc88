"""Which engine translates: mt's own search, or CTranslate2 where a checked conversion is there.

torch, which takes longer to load than a line to translate, is imported only where mt's own search
is used or a conversion is made.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mt.config import Config, SearchConfig
from mt.errors import ConfigError, ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.exchange.ctranslate2 import (
    is_installed,
    library_version,
    num_cuda_devices,
    open_translator,
)
from mt.exchange.engine import Engine, num_positions
from mt.exchange.kept import EnginePrecision, KeptConversion, has_any, read_kept
from mt.model_folder.belonging import require_own_form
from mt.model_folder.files import load_tokenizers, read_config, read_dev_pairs, weights_of
from mt.search.hypothesis import SearchResult
from mt.search.sentence import NO_DEMANDS
from mt.tasks.requests import EngineName, StrPath
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.bounds import Bounds
from mt.translation.finder import Finder
from mt.translation.line_translator import LineTranslator, search_in_effect
from mt.translation.options import DEFAULT_OPTIONS, TranslationOptions, fast_batch_size
from mt.translation.source import Source

if TYPE_CHECKING:
    from mt.translation.scorer import Scorer

CTRANSLATE2 = "ctranslate2"
_WINDOW = 32  # batches that are sorted by length together


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What an engine is asked for beside the options of translating."""

    engine: EngineName = "auto"
    threads: int | None = None
    """CPU threads; None takes all cores."""
    has_prefixes: bool = False
    """Translations are to begin with given text."""
    has_alignment: bool = False
    """Probabilities of tokens, and alignments, are asked for: mt's own model gives them."""


def load_translator(
    folder: StrPath,
    *others: StrPath,
    engine: EngineName = "auto",
    options: TranslationOptions = DEFAULT_OPTIONS,
    listener: Listener = ignore,
) -> LineTranslator:
    """Read a model folder, or several as an ensemble, for the engine that is asked for.

    "auto" takes CTranslate2 where the folder keeps a checked conversion (`mt export --into-model`)
    and nothing is asked for that needs mt's own search; "ctranslate2" makes the conversion where it
    is not there, and refuses the rest.

    Raises ConfigError for what the engine lacks, ModelFolderError for a bad folder and for a
    conversion that failed its check.
    """
    folders = [Path(each) for each in (folder, *others)]
    return load_for(folders, Demand(engine=engine), options, listener)


def load_for(
    folders: Sequence[Path], demand: Demand, options: TranslationOptions, listener: Listener
) -> LineTranslator:
    """`load_translator` for what a command asks for; a notice says which engine it is, and why."""
    kept = _chosen(folders, demand, options, listener)
    if kept is None:
        from mt.model.device import set_threads
        from mt.translation.translator import Translator

        set_threads(demand.threads)
        return Translator.load(*folders, options=options, listener=listener)
    text = f"engine ctranslate2 {kept.library}, {kept.precision}; its check: {kept.check}"
    listener(Notice(text=text))
    (folder,) = folders
    config = read_config(folder)
    require_own_form(weights_of(folder), config.model)

    @cache  # once, and not for each window that has a long line
    def own() -> Finder:
        from mt.translation.translator import Translator

        return Translator.load(folder, options=options, listener=listener).finder

    return engine_translator(
        kept.folder,
        config,
        load_tokenizers(folder, config),
        own,
        threads=demand.threads or num_cores(),
        options=options,
        listener=listener,
    )


def engine_translator(
    converted: Path,
    config: Config,
    tokenizers: TokenizerPair,
    own: Callable[[], Finder],
    *,
    threads: int,
    options: TranslationOptions,
    listener: Listener,
) -> LineTranslator:
    """Translate by the conversion in a folder, and by `own` what it has no form for."""
    bounds = Bounds.of([config])
    search = search_in_effect(config, bounds, options)
    precision = "int8" if options.precision == "int8" else "float32"
    engine = Engine(
        translator=open_translator(converted, precision=precision, threads=threads),
        tokenizers=tokenizers,
        config=search,
        threads=threads,
        batch_size=options.batch_size or fast_batch_size(search.beam),
        longest=num_positions(config.model),
    )
    return LineTranslator(
        config,
        tokenizers,
        _EngineFinder(engine, own),
        bounds=bounds,
        window=_WINDOW * engine.batch_size,
        options=options,
        listener=listener,
        engine=CTRANSLATE2,
    )


def scorer_for(translator: LineTranslator, folder: Path) -> Scorer:
    """What scores and aligns the tokens that a translator of `folder` found, by mt's own model."""
    from mt.model_folder.folder import load_model
    from mt.translation.scorer import Scorer
    from mt.translation.translator import Translator

    return Scorer(
        translator.model if isinstance(translator, Translator) else load_model(folder).model,
        translator.tokenizers,
        translator.config,
        others=translator.others if isinstance(translator, Translator) else (),
        examples=read_dev_pairs(folder, target=translator.config.target_language),
    )


def needs_own_search(
    options: TranslationOptions, search: SearchConfig, demand: Demand, *, num_models: int = 1
) -> str | None:
    """The first thing asked for that CTranslate2 has no form for, or none as mt promises it."""
    asked = {
        "an ensemble": num_models > 1,
        "--glossary or --placeholders": options.glossary is not None
        and not options.glossary.is_empty,
        "--sample": options.sampling is not None,
        "--mbr": options.utility is not None,
        "--prefix": demand.has_prefixes,
        "--alignment": demand.has_alignment and demand.engine == "auto",
        "--max-repeats": bool(search.max_repeats),
        "--precision bfloat16": options.precision == "bfloat16",
        "--devices": options.devices != 1,
        f"--device {options.device}": options.device not in ("auto", "cpu"),
    }
    return next((name for name, is_asked in asked.items() if is_asked), None)


def num_cores() -> int:
    """Cores that this process may use, or the threads that OMP_NUM_THREADS allows."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _chosen(
    folders: Sequence[Path], demand: Demand, options: TranslationOptions, listener: Listener
) -> KeptConversion | None:
    """The conversion that is to translate; None for mt's own search."""
    if demand.engine == "mt":
        return None
    folder = folders[0]
    precision: EnginePrecision = "int8" if options.precision == "int8" else "float32"
    search = options.search or read_config(folder).search
    needed = needs_own_search(options, search, demand, num_models=len(folders))
    if demand.engine == "auto":
        if not has_any(folder):
            return None
        kept, reason = _usable(folder, precision)
        if needed is not None:
            reason = f"{needed} needs its search"
        elif reason is None and options.device == "auto" and num_cuda_devices():
            reason = "there is a CUDA device (--device cpu leaves it)"
        if reason is None:
            return kept
        listener(Notice(text=f"engine mt: {reason}"))
        return None
    if needed is not None:
        raise ConfigError(
            f"--engine ctranslate2 has no form for {needed}", hint="Use --engine mt, or auto"
        )
    return _made_if_needed(folder, precision, listener)


def _usable(folder: Path, precision: EnginePrecision) -> tuple[KeptConversion | None, str | None]:
    """The conversion that a folder keeps, and why it cannot be used, as a clause."""
    if not is_installed():
        return None, "the package ctranslate2 is not installed"
    again = "mt export --into-model makes it anew"
    try:
        kept = read_kept(folder, precision)
    except ModelFolderError as error:
        return None, f"{error.message}; {again}"
    if kept is None:
        return None, f"the folder keeps no conversion in {precision}"
    if not kept.is_good:
        return None, f"the conversion failed its check: {kept.check}"
    fault = kept.fault(folder)
    return kept, None if fault is None else f"the conversion {fault}; {again}"


def _made_if_needed(folder: Path, precision: EnginePrecision, listener: Listener) -> KeptConversion:
    """The conversion of a folder, made where there is none that can be used.

    Raises ModelFolderError where it failed its check.
    """
    library_version()
    fault: str | None = None
    try:
        kept = read_kept(folder, precision)
        if kept is not None:
            fault = kept.fault(folder)
    except ModelFolderError as error:
        kept, fault = None, error.message
    if kept is None or fault is not None:
        from mt.tasks.convert import make_conversion

        if fault is not None:
            text = f"the conversion of {folder} {fault}: it is made anew"
            listener(Notice(text=text, is_warning=True))
        kept = make_conversion(folder, precision, listener)
    require_good(kept, folder)
    return kept


def require_good(kept: KeptConversion, folder: Path) -> None:
    """Raise ModelFolderError for a conversion that failed its check."""
    if not kept.is_good:
        raise ModelFolderError(
            f"{folder}: CTranslate2 in {kept.precision} is refused: {kept.check}",
            hint="Use --engine mt",
        )


@dataclass(frozen=True)
class _EngineFinder:
    """Finds translations by an engine; by mt's own search what it has no form for."""

    engine: Engine
    own: Callable[[], Finder]

    def giving(self, n_best: int) -> _EngineFinder:
        """The same search, by the same weights, with so many hypotheses of its beam."""
        config = dataclasses.replace(self.engine.config, n_best=n_best)
        return _EngineFinder(
            dataclasses.replace(self.engine, config=config), lambda: self.own().giving(n_best)
        )

    def search(self, sources: Sequence[Source]) -> list[SearchResult]:
        """The results of sources, none of them empty, in their order."""
        fits = [
            each.demands == NO_DEMANDS and not each.protected and self.engine.has_room(len(each))
            for each in sources
        ]
        found = iter(
            self.engine.search(
                [each.tokens for each, fit in zip(sources, fits, strict=True) if fit]
            )
        )
        if all(fits):
            return list(found)
        others = [each for each, fit in zip(sources, fits, strict=True) if not fit]
        rest = iter(self.own().search(others))
        return [next(found if fit else rest) for fit in fits]
