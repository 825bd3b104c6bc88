"""Lines in, translations out, in order, by whatever finds translations of token sequences.

Nothing here needs torch: an engine that does without it starts at once.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Self, overload

from mt.config import Config, SearchConfig
from mt.errors import ConfigError
from mt.events import Listener, ignore
from mt.text.glossary import Glossary
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.aim import aimed
from mt.translation.bounds import Bounds
from mt.translation.finder import Finder
from mt.translation.options import DEFAULT_OPTIONS, TranslationOptions
from mt.translation.prefixes import with_prefixes
from mt.translation.select_output import Choice, needed
from mt.translation.source import Source
from mt.translation.source_reader import SourceReader
from mt.translation.translation import TranslatedText, Translation


def search_in_effect(config: Config, bounds: Bounds, options: TranslationOptions) -> SearchConfig:
    """What a finder is to search by: the settings of `options` or `config`, within `bounds`."""
    return needed(bounds.bounded(options.search or config.search), options.utility)


def require_text(config: Config) -> None:
    """Raise ConfigError for a glossary where the model takes symbols."""
    if config.tokenizer.takes_symbols:
        raise ConfigError("a glossary and placeholders are for text, but this model takes symbols")


class LineTranslator:
    """Translates lines; a line longer than the model is good for, in parts."""

    def __init__(
        self,
        config: Config,
        tokenizers: TokenizerPair,
        finder: Finder,
        *,
        bounds: Bounds,
        window: int,
        options: TranslationOptions = DEFAULT_OPTIONS,
        listener: Listener = ignore,
        engine: str = "mt",
    ) -> None:
        """Let `finder`, which follows `search_in_effect`, translate `window` lines at a time.

        `engine` is what people know it by.

        Raises ConfigError for a glossary where the model takes symbols, and for a language that
        the model does not translate into.
        """
        if options.glossary is not None:
            require_text(config)
        if options.search is not None:
            config = dataclasses.replace(config, search=options.search)
        if options.keep_case:
            tokenizers = dataclasses.replace(tokenizers, truecaser=None)
        self.finder = finder
        self.engine = engine
        self._bounds = bounds
        self._options = options
        self._listener = listener
        self._window = window
        self._glossary = options.glossary
        self._aim(config, tokenizers, options.to, options.source_language)

    def _aim(self, config: Config, tokenizers: TokenizerPair, to: str, source: str) -> None:
        """Read lines, and join their parts, for a translation into one language."""
        config, tokenizers = aimed(config, tokenizers, to, source=source)
        options, bounds = self._options, self._bounds
        takes_symbols = config.tokenizer.takes_symbols
        self.config = config
        self.tokenizers = tokenizers
        self._choice = Choice(
            search=config.search,
            target_language=config.target_language,
            decode=tokenizers.target.decode,
            utility=options.utility,
            sampling=options.sampling,
        )
        self._reader = SourceReader(
            tokenizers=tokenizers,
            bounds=bounds,
            max_tokens=bounds.longest_good if options.split and not takes_symbols else None,
            language=config.source_language,
            glossary=options.glossary,
            is_sampled=options.sampling is not None,
            listener=self._listener,
        )

    def towards(self, language: str, *, source: str = "") -> Self:
        """The same translator into another language of its model; both share the search.

        Raises ConfigError for a language that the model does not translate into.
        """
        other = copy.copy(self)
        other._aim(self.config, self.tokenizers, language, source)
        return other

    def giving(self, n_best: int) -> LineTranslator:
        """The same translator, by the same weights, with so many hypotheses of its beam.

        Raises ConfigError for more than the beam has.
        """
        search = dataclasses.replace(self.config.search, n_best=n_best)
        other = copy.copy(self)
        other.config = dataclasses.replace(self.config, search=search)
        other.finder = self.finder.giving(n_best)
        other._choice = dataclasses.replace(self._choice, search=search)
        return other

    @property
    def window(self) -> int:
        """Lines that are worth giving at once."""
        return self._window

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
        remaining = iter(lines)
        windows = iter(lambda: list(islice(remaining, self.window)), [])
        for window, of_window in with_prefixes(windows, prefixes):
            yield from self.translate_window(window, first_line=first_line, prefixes=of_window)
            first_line += len(window)

    def translate_window(
        self,
        lines: Sequence[str],
        *,
        first_line: int = 1,
        prefixes: Sequence[str] | None = None,
        protected: Sequence[tuple[str, ...]] | None = None,
    ) -> list[Translation]:
        """Translate some lines together; warnings and random numbers count from `first_line`.

        `protected` are texts of each line that are to stand in its translation as they are; it
        needs a glossary, which may be empty.

        With `prefixes`, one a line, each translation begins with its own. A line with a prefix is
        translated whole: nobody says which of its parts a prefix is of.

        Raises DataError for a line or a prefix beyond a table of learned positions and for a prefix
        that the tokenizer cannot spell, ValueError unless there are as many prefixes as lines, and
        for protected texts without a glossary.
        """
        if protected is not None and self._glossary is None:
            raise ValueError("protected texts need a glossary, which may be empty")
        read = self._reader.read(
            lines, first_line=first_line, prefixes=prefixes, protected=protected
        )
        found = read.split.by_line(self._translate_parts(read.parts))
        translations = [
            Translation(
                source=line,
                hypotheses=() if i in read.too_long else self._choice.joined(of_line, segments),
                recased=None if text == line else text,
                error=f"{read.too_long[i]} tokens, too long to be translated"
                if i in read.too_long
                else None,
            )
            for i, (line, text, of_line, segments) in enumerate(
                zip(lines, read.texts, found, read.split.segments, strict=True)
            )
        ]
        if self._glossary is None:
            return translations
        return [
            _with_terms(each, self._glossary, of_line)
            for each, of_line in zip(translations, protected or [()] * len(lines), strict=True)
        ]

    def _translate_parts(self, parts: Sequence[Source]) -> list[tuple[TranslatedText, ...]]:
        """The translations of parts, in order; of one without tokens, the blank one."""
        searched = [i for i, part in enumerate(parts) if part]
        results = self.finder.search([parts[i] for i in searched])
        found: list[tuple[TranslatedText, ...]] = [self._choice.blank] * len(parts)
        for i, result in zip(searched, results, strict=True):
            found[i] = self._choice.texts(result.hypotheses)
        return found


def _with_terms(
    translation: Translation, glossary: Glossary, protected: tuple[str, ...]
) -> Translation:
    """With what the line asks for, and what of it each hypothesis lacks."""
    terms = glossary.asked(translation.as_read, protected)
    hypotheses = tuple(
        dataclasses.replace(each, terms_missed=glossary.missed(terms, each.text))
        for each in translation.hypotheses
    )
    return dataclasses.replace(translation, terms=terms, hypotheses=hypotheses)
