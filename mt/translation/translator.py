"""Lines in, translations out, in order: the one decoding path of training, commands and API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import overload

import torch

from mt.config import Config, SamplingConfig, SearchConfig, SearchPrecision
from mt.errors import ConfigError
from mt.events import Listener, ignore
from mt.model.device import choose_devices, choose_search_precision
from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import LoadedModel
from mt.search.mbr import Utility
from mt.text.glossary import Glossary
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.ensemble import Members, load_members
from mt.translation.prefixes import with_prefixes
from mt.translation.replicas import replicas_of
from mt.translation.searching import Searcher, Source, fast_batch_size
from mt.translation.select_output import Choice
from mt.translation.shortlist import Shortlist
from mt.translation.shortlist_search import ShortlistSearcher
from mt.translation.source_reader import SourceReader
from mt.translation.terminology import Terminology
from mt.translation.translation import TranslatedText, Translation
from mt.translation.worker_processes import CAN_FORK

_WINDOW = 32  # batches that are sorted by length together


class Translator:
    """Translates lines by a model or an ensemble; a line longer than it is good for, in parts.

    The translation of a line depends on that line alone: in float32 on the CPU neither the batch
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
        batch_size: int | None = None,
        precision: SearchPrecision = "float32",
        workers: int | None = None,
        forks: bool = False,
        split: bool = True,
        utility: Utility | None = None,
        glossary: Glossary | None = None,
        sampling: SamplingConfig | None = None,
        shortlist: Shortlist | None = None,
        exact_scores: bool = True,
        listener: Listener = ignore,
    ) -> None:
        """Use `model` where it is; `batch_size` counts sentences, for each of the `workers`.

        Without it there are as many as are fast: 64 on a CPU where the beam is 5.

        With `others`, on the same device, it predicts as an ensemble (`mt.search.ensemble`); their
        tokenizers must be those of `model`, whose settings hold. Each of the devices `copies_on`
        translates a share, with copies of the weights that are made now.

        The weights are arranged for search now: later changes of them are not seen. Without
        `workers` there are as many as torch has threads. They are threads, or with `forks`, on
        Linux, processes, which are faster (`mt.translation.worker_processes`). Without `split`,
        and of symbols, long lines are translated whole. With `sampling` translations are drawn from
        the model, by random numbers of each line's own. With a `utility` the hypotheses of the
        beam, or the samples, are ordered by minimum Bayes risk. With a `glossary` its terms and
        placeholders are brought into translations, and those say which are missing. A `shortlist`
        bounds what is searched; scores stay those of the model, unless without `exact_scores` one
        hypothesis alone is asked for: then its score is relative to the shortlist, which takes less
        time.

        Raises ValueError for a batch size below 1, for other tokenizers, and for samples with a
        `glossary` or a `shortlist`, ConfigError for a precision that the device does not have and
        for a `glossary` where the model takes symbols.
        """
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but is {batch_size}")
        if sampling is not None and (glossary is not None or shortlist is not None):
            raise ValueError("samples are drawn without a glossary and without a shortlist")
        of_symbols = config.tokenizer.takes_symbols
        if of_symbols and glossary is not None:
            raise ConfigError(
                "a glossary and placeholders are for text, but this model takes symbols"
            )
        self.config = config
        self.model = model
        self.tokenizers = tokenizers
        self._choice = Choice(
            search=config.search,
            target_language=config.target_language,
            decode=tokenizers.target.decode,
            utility=utility,
            sampling=sampling,
        )
        self.others = tuple(others)
        first = LoadedModel(config=config, tokenizers=tokenizers, model=model)
        members = Members(first, others)
        self._reader = SourceReader(
            tokenizers=tokenizers,
            members=members,
            max_tokens=members.longest_good if split and not of_symbols else None,
            language=config.source_language,
            glossary=glossary,
            is_sampled=sampling is not None,
            listener=listener,
        )
        device = next(model.parameters()).device
        hypotheses = sampling.samples if sampling is not None else config.search.beam
        self._batch_size = batch_size or fast_batch_size(hypotheses, device)
        chosen = choose_search_precision(precision, device)
        self._searcher = Searcher(
            replicas=replicas_of(members.models, copies_on=copies_on, precision=chosen),
            config=self._choice.needed(members.bounded(config.search)),
            capacity=self._batch_size,
            is_exact=chosen == "float32",
            workers=workers,
            forks=forks and CAN_FORK,
            refill=device.type != "cpu",
            listener=listener,
            sampling=sampling,
        )
        self._finder: Searcher | ShortlistSearcher = self._searcher
        if shortlist is not None:
            self._finder = ShortlistSearcher.of(
                self._searcher, shortlist, exact_scores=exact_scores
            )
        self._terminology: Terminology | None = None
        if glossary is not None:
            self._terminology = Terminology(
                glossary,
                tokenizers.target,
                self._searcher,
                usual=self._finder,
                all_candidates=utility is not None,
                listener=listener,
            )

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *others: str | Path,
        search: SearchConfig | None = None,
        device: str = "auto",
        devices: int | None = 1,
        precision: SearchPrecision = "auto",
        batch_size: int | None = None,
        workers: int | None = None,
        forks: bool = False,
        split: bool = True,
        utility: Utility | None = None,
        glossary: Glossary | None = None,
        sampling: SamplingConfig | None = None,
        shortlist: bool = False,
        exact_scores: bool = True,
        keep_case: bool = False,
        listener: Listener = ignore,
    ) -> Translator:
        """Read a model folder, or several as an ensemble.

        The settings of the first hold, and `search` replaces those of search. Of CUDA `devices` so
        many share the work, None for all. With `shortlist` the table of the first bounds what is
        searched (`mt shortlist`). Lines in capitals or without any are read in usual case, unless
        with `keep_case` (`mt.text.truecase`). Raises ModelFolderError for a bad folder and for
        folders that differ in tokenizers or languages, ConfigError for a device that is not there.
        """
        _, *copies_on = choose_devices(device, devices)
        folders = [Path(folder), *map(Path, others)]
        first, *rest = load_members(folders, device=device, search=search, keep_case=keep_case)
        table = Shortlist.load(folders[0], first.tokenizers) if shortlist else None
        return cls(
            first.model,
            first.tokenizers,
            first.config,
            others=rest,
            copies_on=copies_on,
            batch_size=batch_size,
            precision=precision,
            workers=workers,
            forks=forks,
            split=split,
            utility=utility,
            glossary=glossary,
            sampling=sampling,
            shortlist=table,
            exact_scores=exact_scores,
            listener=listener,
        )

    @property
    def window(self) -> int:
        """Lines that are worth giving at once."""
        return self._batch_size * _WINDOW * len(self._searcher.replicas)

    # A str is a Sequence[str], and that is iterable: the first signature that fits holds.
    @overload
    def translate(  # type: ignore[overload-overlap]
        self, lines: str, *, prefixes: str | None = None, first_line: int = 1
    ) -> Translation: ...

    @overload
    def translate(  # type: ignore[overload-overlap]
        self,
        lines: Sequence[str],
        *,
        prefixes: Iterable[str] | None = None,
        first_line: int = 1,
    ) -> list[Translation]: ...

    @overload
    def translate(
        self,
        lines: Iterable[str],
        *,
        prefixes: Iterable[str] | None = None,
        first_line: int = 1,
    ) -> Iterator[Translation]: ...

    def translate(
        self,
        lines: str | Iterable[str],
        *,
        prefixes: str | Iterable[str] | None = None,
        first_line: int = 1,
    ) -> Translation | list[Translation] | Iterator[Translation]:
        """Translate a text, a sequence of lines, or lines as they come.

        A text is one line, whatever it holds, and gives its translation; a sequence gives a list of
        as many; of any other iterable a window of lines is held in memory, and translations come in
        order as they are done.

        With `prefixes`, one a line, each translation begins with its own; a blank one asks for
        nothing. Raises DataError where they are fewer or more than the lines, when that is found,
        TypeError for bytes, and for one text as the prefixes of several lines. Warnings, and the
        random numbers of samples, count lines from `first_line`.
        """
        if isinstance(lines, bytes | bytearray):
            raise TypeError("lines must be text, but are bytes: decode them first")
        if isinstance(lines, str):
            if prefixes is not None and not isinstance(prefixes, str):
                raise TypeError("the prefix of one text must be one text")
            of_line = None if prefixes is None else [prefixes]
            (translation,) = self._translated([lines], of_line, first_line)
            return translation
        if isinstance(prefixes, str):
            raise TypeError("prefixes of several lines must be as many texts, but are one text")
        translations = self._translated(lines, prefixes, first_line)
        return list(translations) if isinstance(lines, Sequence) else translations

    def _translated(
        self, lines: Iterable[str], prefixes: Iterable[str] | None, first_line: int
    ) -> Iterator[Translation]:
        """Translate lines as they come, a window at a time."""
        stream = iter(lines)
        windows = iter(lambda: list(islice(stream, self.window)), [])
        for window, of_window in with_prefixes(windows, prefixes):
            yield from self.translate_window(window, first_line=first_line, prefixes=of_window)
            first_line += len(window)

    def translate_window(
        self,
        lines: Sequence[str],
        *,
        first_line: int = 1,
        prefixes: Sequence[str] | None = None,
    ) -> list[Translation]:
        """Translate some lines together; warnings and random numbers count from `first_line`.

        With `prefixes`, one a line, each translation begins with its own. A line with a prefix is
        translated whole: nobody says which of its parts a prefix is of.

        Raises DataError for a line or a prefix beyond a table of learned positions and for a prefix
        that the tokenizer cannot spell, ValueError unless there are as many prefixes as lines.
        """
        read = self._reader.read(lines, first_line=first_line, prefixes=prefixes)
        found = read.split.by_line(self._translate_parts(read.parts))
        translations = [
            Translation(
                source=line,
                hypotheses=() if i in read.too_long else self._choice.joined(of_line, segments),
                recased=None if text == line else text,
                error=_error(read.too_long.get(i)),
            )
            for i, (line, text, of_line, segments) in enumerate(
                zip(lines, read.texts, found, read.split.segments, strict=True)
            )
        ]
        if self._terminology is None:
            return translations
        return [self._terminology.checked(each) for each in translations]

    def _translate_parts(self, parts: Sequence[Source]) -> list[tuple[TranslatedText, ...]]:
        """The translations of parts, in order; of one without tokens, the blank one."""
        places = [i for i, part in enumerate(parts) if part]
        results = (self._terminology or self._finder).search([parts[i] for i in places])
        found: list[tuple[TranslatedText, ...]] = [self._choice.blank] * len(parts)
        for i, result in zip(places, results, strict=True):
            found[i] = self._choice.texts(result.hypotheses)
        return found


def _error(num_tokens: int | None) -> str | None:
    """Why a line of so many tokens has no translation; None where it has one."""
    return None if num_tokens is None else f"{num_tokens} tokens, too long to be translated"
