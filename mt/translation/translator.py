"""Lines in, translations out, by mt's own search: the decoding path of training too."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import torch

from mt.config import Config
from mt.events import Listener, ignore
from mt.model.device import choose_devices
from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import LoadedModel
from mt.text.glossary import Glossary
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.ensemble import Members, load_members
from mt.translation.finder import Finder
from mt.translation.line_translator import LineTranslator, require_text, search_in_effect
from mt.translation.options import DEFAULT_OPTIONS, TranslationOptions
from mt.translation.searching import Searcher
from mt.translation.terminology import Terminology

_WINDOW = 32  # batches that are sorted by length together


class Translator(LineTranslator):
    """Translates lines by a model or an ensemble; a line longer than it is good for, in parts.

    The translation of a line depends only on that line: in float32 on the CPU neither the batch
    size nor the other lines change it.
    """

    def __init__(
        self,
        model: TranslationModel,
        tokenizers: TokenizerPair,
        config: Config,
        *,
        others: Sequence[LoadedModel] = (),
        copies_on: Sequence[torch.device] = (),
        options: TranslationOptions = DEFAULT_OPTIONS,
        listener: Listener = ignore,
    ) -> None:
        """Use `model` where it is.

        With `others`, on the same device, it predicts as an ensemble (`mt.search.ensemble`); their
        tokenizers must be those of `model`, whose settings hold. Each of the devices `copies_on`
        translates a share, with copies of the weights that are made now. The weights are arranged
        for search now: later changes of them are not seen.

        Raises ValueError for other tokenizers, ConfigError for a precision that the device does not
        have and for a glossary where the model takes symbols.
        """
        self.model = model
        self.others = tuple(others)
        first = LoadedModel(config=config, tokenizers=tokenizers, model=model)
        members = Members(first, others)
        self._searcher = searcher = Searcher.of(
            members.models,
            search_in_effect(config, members.bounds, options),
            copies_on=copies_on,
            options=options,
            listener=listener,
            forbidden=tokenizers.target.reserved,
        )
        finder: Finder = searcher
        if options.glossary is not None:
            finder = Terminology(
                options.glossary,
                tokenizers.target,
                searcher,
                all_candidates=options.utility is not None,
                listener=listener,
            )
        super().__init__(
            config,
            tokenizers,
            finder,
            bounds=members.bounds,
            window=_WINDOW * searcher.capacity * len(searcher.replicas),
            options=options,
            listener=listener,
        )

    def with_glossary(self, glossary: Glossary) -> Translator:
        """The same translator, by the same weights, that brings in the terms of a glossary.

        Raises ConfigError where the model takes symbols.
        """
        require_text(self.config)
        other = copy.copy(self)
        other.finder = Terminology(
            glossary,
            self.tokenizers.target,
            self._searcher,
            all_candidates=False,
            listener=self._searcher.listener,
        )
        other._reader = dataclasses.replace(self._reader, glossary=glossary)
        other._glossary = glossary
        return other

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *others: str | Path,
        options: TranslationOptions = DEFAULT_OPTIONS,
        listener: Listener = ignore,
    ) -> Translator:
        """Read a model folder, or several as an ensemble with the settings of the first.

        Raises ModelFolderError for a bad folder and for folders that differ in tokenizers or
        languages, ConfigError for a device that is not there.
        """
        _, *copies_on = choose_devices(options.device, options.devices)
        folders = [Path(folder), *map(Path, others)]
        first, *rest = load_members(folders, device=options.device)
        return cls(
            first.model,
            first.tokenizers,
            first.config,
            others=rest,
            copies_on=copies_on,
            options=options,
            listener=listener,
        )
