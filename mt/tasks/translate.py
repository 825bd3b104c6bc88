"""Translating lines with a model, or an ensemble, as a request asks for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mt.config import SamplingConfig, SearchConfig
from mt.errors import ConfigError
from mt.events import Listener, Notice
from mt.model_folder.files import read_config
from mt.search.mbr import Utility
from mt.tasks.engine import Demand, load_for, scorer_for
from mt.tasks.line_summary import DoubtCounts, LineSummary, TermCounts
from mt.tasks.requests import Decoding, SearchOverrides, TranslateRequest
from mt.text.glossary import Glossary
from mt.text.placeholders import parse_placeholders
from mt.translation.aim import unseen_combination
from mt.translation.options import TranslationOptions
from mt.translation.translation import Translation

if TYPE_CHECKING:
    from mt.translation.scorer import Scorer


class Translating:
    """A loaded model that translates lines as they come, and sums up what is worth knowing.

    `report` and `require_results` follow when all lines are done.
    """

    def __init__(self, request: TranslateRequest, listener: Listener) -> None:
        """Load the model; raises MtError for a request, a folder or a device at fault."""
        decoding = request.decoding
        search = search_settings(Path(request.model), decoding.search)
        glossary = _glossary(decoding, Path(request.model))
        if glossary is None and request.protects:
            glossary = Glossary()
        self._model = request.model
        self._listener = listener
        self._summary = LineSummary(listener)
        self.translator = load_for(
            [Path(request.model), *map(Path, request.others)],
            Demand(
                engine=decoding.engine,
                threads=decoding.threads or decoding.workers,
                has_prefixes=request.has_prefixes,
                has_alignment=request.has_alignment,
            ),
            TranslationOptions(
                to=decoding.to,
                source_language=decoding.source_language,
                search=search,
                device=decoding.device,
                devices=decoding.devices,
                precision=decoding.precision,
                batch_size=decoding.batch_size,
                workers=decoding.workers,
                forks=True,
                split=decoding.split,
                utility=_utility(request, search, decoding.sampling),
                glossary=glossary,
                sampling=decoding.sampling,
                keep_case=decoding.keep_case,
            ),
            self._summary,
        )
        unseen = unseen_combination(self.translator.config)
        if unseen:
            listener(Notice(text=unseen, is_warning=True))
        sampling = decoding.sampling
        self.num_samples = sampling.samples if sampling is not None and not decoding.mbr else 1
        self._num_at_limit = 0
        self._terms = None if glossary is None or glossary.is_empty else TermCounts()
        of_symbols = self.translator.config.tokenizer.takes_symbols
        self._doubts = DoubtCounts(of_symbols=of_symbols)

    def scorer(self) -> Scorer:
        """What gives tokens their probabilities and words their alignment: mt's own model."""
        return scorer_for(self.translator, Path(self._model))

    @property
    def listener(self) -> Listener:
        """Who hears of the lines, while they are read, too."""
        return self._summary

    @property
    def num_unknown(self) -> int:
        """Symbols so far that the model does not know."""
        return self._summary.num_unknown

    def translate(
        self,
        lines: Sequence[str],
        *,
        first_line: int = 1,
        prefixes: Sequence[str] | None = None,
    ) -> list[Translation]:
        """Translate the next lines."""
        return self._counted(
            self.translator.translate_window(lines, first_line=first_line, prefixes=prefixes)
        )

    def translate_all(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines a window at a time."""
        return self._counted(self.translator.translate(lines))

    def _counted(self, translations: list[Translation]) -> list[Translation]:
        if self._terms is not None:
            self._terms.add(translations)
        self._doubts.add(translations)
        self._num_at_limit += sum(
            hypothesis.hit_limit
            for each in translations
            for hypothesis in each.hypotheses[: self.num_samples]
        )
        return translations

    def report(self) -> None:
        """Report what was conspicuous about all lines."""
        self._summary.report()
        self._doubts.report(self._listener)
        if self._terms is not None:
            self._listener(Notice(text=str(self._terms)))
        if self._num_at_limit:
            text = f"{self._num_at_limit} translations were ended at the length bound"
            self._listener(Notice(text=text, is_warning=True))

    def require_results(self) -> None:
        """Raise DataError for lines without a result, ModelFolderError where all are empty."""
        self._summary.require_all_done()
        self._doubts.require_any_text(self._model)


def search_settings(model: Path, overrides: SearchOverrides) -> SearchConfig:
    """The search settings of the model folder with `overrides` over them."""
    if overrides.alpha is not None and overrides.length_penalty != "gnmt":
        raise ConfigError("--alpha has an effect with --length-penalty gnmt only")
    given = {key: value for key, value in vars(overrides).items() if value is not None}
    return dataclasses.replace(read_config(model).search, **given)


def _glossary(decoding: Decoding, model: Path) -> Glossary | None:
    """The terms and placeholders that are asked for, if any are."""
    if decoding.glossary is None and not decoding.placeholders:
        return None
    patterns = parse_placeholders(decoding.placeholders)
    if decoding.glossary is None:
        return Glossary(placeholders=patterns)
    config = read_config(model)
    known = config.source_language, config.target_language
    return Glossary.read(
        Path(decoding.glossary), placeholders=patterns, languages=known if all(known) else None
    )


def _utility(
    request: TranslateRequest, search: SearchConfig, sampling: SamplingConfig | None
) -> Utility | None:
    """What minimum Bayes risk chooses by; BLEU's tokenizer is that of `mt eval`."""
    mbr = request.decoding.mbr
    if mbr is None:
        return None
    # sacrebleu, which nothing else here needs.
    from mt.evaluation.scores import tokenizer_for
    from mt.evaluation.utility import bleu_utility, chrf_utility

    if search.beam == 1 and sampling is None:
        raise ConfigError("--mbr has an effect with --beam 2 or more only")
    if mbr == "chrf":
        return chrf_utility
    return bleu_utility(
        tokenizer_for(request.decoding.to or read_config(Path(request.model)).target_language).name
    )
