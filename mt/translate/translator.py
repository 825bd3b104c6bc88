"""Lines in, translations out, in order: the one decoding path of training, commands and API."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch

from mt.config import Config, SamplingConfig, SearchConfig, SearchPrecision
from mt.errors import DataError
from mt.events import LineSplit, Listener, Notice, ignore
from mt.model.device import choose_search_precision
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.narrow import narrowed
from mt.search.consensus import Utility
from mt.search.hypothesis import Hypothesis
from mt.search.sentence import NO_DEMANDS, Demands
from mt.text.normalise import is_blank
from mt.text.tokenizer_pair import TokenizerPair
from mt.translate.long_lines import join_hypotheses, join_samples, longest_good, split_lines
from mt.translate.model_folder import load_onto
from mt.translate.searching import Searcher, Source
from mt.translate.translation import (
    BLANK,
    TranslatedText,
    Translation,
    by_consensus,
    samples_of,
    texts_of,
)

_WINDOW = 32  # batches that are sorted by length together


class Translator:
    """Translates lines by a model; a line longer than the model is good for, in parts.

    The translation of a line depends on that line alone: in float32 on the CPU neither the batch
    size nor the other lines change it.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        tokenizers: TokenizerPair,
        config: Config,
        *,
        batch_size: int = 64,
        precision: SearchPrecision = "float32",
        workers: int | None = None,
        split: bool = True,
        utility: Utility | None = None,
        sampling: SamplingConfig | None = None,
        listener: Listener = ignore,
    ) -> None:
        """Use `model` where it is; `batch_size` counts sentences, for each of the `workers`.

        In bfloat16 and int8 on a CPU a copy of the weights is made now, in float32 they are those
        that the model holds when it translates. Without `workers` there are as many as torch has
        threads. Without `split` long lines are translated whole. With `sampling` translations are
        drawn from the model instead of searched for, by random numbers of each line's own. With a
        `utility` the hypotheses of the beam, or the samples, are ordered by minimum Bayes risk.

        Raises ValueError for a batch size below 1, ConfigError for a precision that the device
        does not have.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but is {batch_size}")
        self.config = config
        self.model = model
        self.tokenizers = tokenizers
        self._batch_size = batch_size
        self._listener = listener
        self._utility = utility
        self._sampling = sampling
        self._max_tokens = longest_good(config, model.longest) if split else None
        search = _within_table(config.search, model.longest)
        if utility is not None:
            search = dataclasses.replace(search, n_best=search.beam)
        device = next(model.parameters()).device
        chosen = choose_search_precision(precision, device)
        is_on_gpu = device.type != "cpu" and chosen == "bfloat16"
        searched = model
        if device.type == "cpu" and (chosen == "bfloat16" or chosen == "int8"):
            searched = narrowed(model, chosen)
        self._searcher = Searcher(
            model=searched,
            config=search,
            capacity=batch_size,
            autocast=torch.bfloat16 if is_on_gpu else None,
            is_exact=chosen == "float32",
            workers=workers,
            sampling=sampling,
            listener=listener,
        )

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        search: SearchConfig | None = None,
        device: str = "auto",
        precision: SearchPrecision = "auto",
        batch_size: int = 64,
        workers: int | None = None,
        split: bool = True,
        utility: Utility | None = None,
        sampling: SamplingConfig | None = None,
        listener: Listener = ignore,
    ) -> Translator:
        """Read a model folder; `search` replaces the settings stored in it.

        Raises ModelFolderError for a bad folder, ConfigError for a device that is not there.
        """
        loaded = load_onto(Path(folder), device=device, search=search)
        return cls(
            loaded.model,
            loaded.tokenizers,
            loaded.config,
            batch_size=batch_size,
            precision=precision,
            workers=workers,
            split=split,
            utility=utility,
            sampling=sampling,
            listener=listener,
        )

    @property
    def window(self) -> int:
        """Lines that are worth giving at once."""
        return self._batch_size * _WINDOW

    def translate(self, lines: Iterable[str], *, first_line: int = 1) -> Iterator[Translation]:
        """Translate lines one for one, in order, holding a window of them in memory.

        Warnings, and the random numbers of samples, count them from `first_line`.
        """
        stream = iter(lines)
        while window := list(islice(stream, self.window)):
            yield from self.translate_window(window, first_line=first_line)
            first_line += len(window)

    def translate_window(self, lines: Sequence[str], *, first_line: int = 1) -> list[Translation]:
        """Translate some lines together; warnings and random numbers count from `first_line`.

        Raises DataError for a line beyond a table of learned positions.
        """
        # A blank line, invisible marks included, stays blank and never reaches the model.
        sources = self.tokenizers.source.encode_batch(
            ["" if is_blank(line) else line for line in lines]
        )
        long = [i for i, source in enumerate(sources) if self._is_long(len(source))]
        if not long:
            for number, source in enumerate(sources, start=first_line):
                self._check_length(len(source), number)
            demands = [self._demands(first_line + i, 0) for i in range(len(lines))]
            found = self._translate_sources(sources, demands)
        else:
            found = self._translate_in_parts(lines, sources, first_line)
        return [
            Translation(source=line, hypotheses=of_line)
            for line, of_line in zip(lines, found, strict=True)
        ]

    def _is_long(self, num_tokens: int) -> bool:
        return self._max_tokens is not None and num_tokens > self._max_tokens

    def _translate_in_parts(
        self, lines: Sequence[str], sources: Sequence[Sequence[int]], first_line: int
    ) -> list[tuple[TranslatedText, ...]]:
        """Split the lines that are too long, translate all parts together, and join them."""
        assert self._max_tokens is not None
        encode = self.tokenizers.source.encode
        split = split_lines(
            lines,
            sources,
            count_tokens=lambda text: len(encode(text)),
            max_tokens=self._max_tokens,
            language=self.config.source_language,
        )
        parts = self.tokenizers.source.encode_batch(
            ["" if is_blank(text) else text for text in split.texts]
        )
        for number, (of_line, source) in enumerate(
            zip(split.by_line(parts), sources, strict=True), start=first_line
        ):
            if len(of_line) > 1:
                self._listener(
                    LineSplit(
                        line=number,
                        num_tokens=len(source),
                        max_tokens=self._max_tokens,
                        num_parts=len(of_line),
                    )
                )
            for part in of_line:
                self._check_length(len(part), number)
        demands = [
            self._demands(number, part)
            for number, of_line in enumerate(split.segments, start=first_line)
            for part in range(len(of_line))
        ]
        found = split.by_line(self._translate_sources(parts, demands))
        join = join_samples if self._gives_samples else join_hypotheses
        return [
            join(
                of_line,
                segments,
                search=self.config.search,
                target_language=self.config.target_language,
            )
            for of_line, segments in zip(found, split.segments, strict=True)
        ]

    @property
    def _gives_samples(self) -> bool:
        """Whether hypotheses are samples, all of them, in no order of merit."""
        return self._sampling is not None and self._utility is None

    def _demands(self, line: int, part: int) -> Demands:
        """What a part of a line asks for by itself: of samples, random numbers of its own."""
        return NO_DEMANDS if self._sampling is None else Demands(stream=(line, part))

    def _translate_sources(
        self, sources: Sequence[Sequence[int]], demands: Sequence[Demands]
    ) -> list[tuple[TranslatedText, ...]]:
        """The translations of token ids, in order; of none, the blank one."""
        places = [i for i, source in enumerate(sources) if source]
        self.model.eval()
        results = self._searcher.search(
            [Source(tokens=sources[i], demands=demands[i]) for i in places]
        )
        samples = self._sampling.samples if self._sampling and self._gives_samples else 1
        found: list[tuple[TranslatedText, ...]] = [BLANK * samples] * len(sources)
        for i, result in zip(places, results, strict=True):
            found[i] = self._to_texts(result.hypotheses)
        return found

    def _to_texts(self, hypotheses: Sequence[Hypothesis]) -> tuple[TranslatedText, ...]:
        decode = self.tokenizers.target.decode
        if self._utility is None:
            to_texts = texts_of if self._sampling is None else samples_of
            return to_texts(hypotheses, decode)
        if self._sampling is not None:
            return by_consensus(hypotheses, decode, utility=self._utility, are_samples=True)
        n_best = self.config.search.n_best
        return by_consensus(hypotheses, decode, utility=self._utility, n_best=n_best)

    def _check_length(self, num_tokens: int, line: int) -> None:
        longest = self.model.longest
        if longest is not None and num_tokens + 1 > longest:
            raise DataError(
                f"line {line}: {num_tokens} tokens are more than the {longest - 1} that this "
                "model's learned positions reach",
                hint="Split the line into sentences",
            )
        trained = self.config.longest_source or self.config.corpus.max_length
        if num_tokens > trained:
            text = (
                f"line {line}: {num_tokens} tokens, longer than what training went to "
                f"({trained}); it is translated whole, but perhaps badly"
            )
            self._listener(Notice(text=text, is_warning=True))


def _within_table(search: SearchConfig, longest: int | None) -> SearchConfig:
    """Bound hypotheses by a table of learned positions, which must hold the start symbol too."""
    if longest is None:
        return search
    bound = longest - 1 if search.max_length is None else min(search.max_length, longest - 1)
    return dataclasses.replace(search, max_length=max(bound, 1))
