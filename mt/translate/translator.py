"""Lines in, translations out, in order: the one decoding path of training, commands and API."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from mt.config import Config, Precision, SearchConfig
from mt.errors import DataError
from mt.events import LineSplit, Listener, Notice, ignore
from mt.model.device import choose_device, choose_search_dtype, fitting_in_memory
from mt.model.encoder_decoder import EncoderDecoder
from mt.search.beam import Symbols, beam_search
from mt.search.consensus import Candidate, Utility, probabilities, rank_by_consensus
from mt.search.hypothesis import Hypothesis, SearchResult
from mt.text.normalise import is_blank
from mt.text.padding import pad_with_end
from mt.text.tokenizer import END, PAD, START, UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair
from mt.translate.long_lines import join_hypotheses, longest_good, split_lines
from mt.translate.model_folder import load_model

_SYMBOLS = Symbols(start=START, end=END, forbidden=(PAD, START, UNKNOWN))
_WINDOW = 16  # batches that are sorted by length together
_BATCH_TOKENS = 64  # padded source tokens a batch may hold for each sentence it may hold


@dataclass(frozen=True, kw_only=True)
class TranslatedText:
    """One candidate translation."""

    text: str
    score: float
    """Natural-log probability over the length penalty; larger is better."""
    tokens: tuple[int, ...]
    hit_limit: bool
    """It was ended at the length bound."""
    expected_utility: float | None = None
    """Of a choice by minimum Bayes risk, what decided; None elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """The translations of one line, best first, each text once; a blank line has one, ""."""

    source: str
    hypotheses: tuple[TranslatedText, ...]

    @property
    def text(self) -> str:
        """The best translation."""
        return self.hypotheses[0].text


_BLANK = (TranslatedText(text="", score=0.0, tokens=(), hit_limit=False),)


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
        dtype: torch.dtype = torch.float32,
        split: bool = True,
        utility: Utility | None = None,
        listener: Listener = ignore,
    ) -> None:
        """Use `model` where it is; `batch_size` counts sentences.

        Without `split` long lines are translated whole. With a `utility` the hypotheses of the
        beam are ordered by minimum Bayes risk.

        Raises ValueError for a batch size below 1.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but is {batch_size}")
        self.config = config
        self.model = model
        self._tokenizers = tokenizers
        self._batch_size = batch_size
        self._batch_tokens = batch_size * _BATCH_TOKENS
        self._dtype = dtype
        self._listener = listener
        self._search = _within_table(config.search, model.longest)
        if utility is not None:
            self._search = dataclasses.replace(self._search, n_best=self._search.beam)
        self._utility = utility
        self._max_tokens = longest_good(config, model.longest) if split else None
        self._num_lines = 0

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        search: SearchConfig | None = None,
        device: str = "auto",
        precision: Precision = "auto",
        batch_size: int = 64,
        split: bool = True,
        utility: Utility | None = None,
        listener: Listener = ignore,
    ) -> Translator:
        """Read a model folder; `search` replaces the settings stored in it.

        Raises ModelFolderError for a bad folder, ConfigError for a device that is not there.
        """
        loaded = load_model(Path(folder))
        place = choose_device(device)
        config = loaded.config
        if search is not None:
            config = dataclasses.replace(config, search=search)
        return cls(
            loaded.model.to(place),
            loaded.tokenizers,
            config,
            batch_size=batch_size,
            dtype=choose_search_dtype(precision, place),
            split=split,
            utility=utility,
            listener=listener,
        )

    @property
    def window(self) -> int:
        """Lines that are worth giving at once."""
        return self._batch_size * _WINDOW

    def translate(self, lines: Iterable[str]) -> Iterator[Translation]:
        """Translate lines one for one, in order, holding a window of them in memory."""
        stream = iter(lines)
        while window := list(islice(stream, self.window)):
            yield from self.translate_window(window)

    def translate_window(self, lines: Sequence[str]) -> list[Translation]:
        """Translate some lines together: sorted by length, cut into batches, put back in order.

        Raises DataError for a line beyond a table of learned positions.
        """
        first_line = self._num_lines + 1
        self._num_lines += len(lines)
        # A blank line, invisible marks included, stays blank and never reaches the model.
        sources = self._tokenizers.source.encode_batch(
            ["" if is_blank(line) else line for line in lines]
        )
        long = [i for i, source in enumerate(sources) if self._is_long(len(source))]
        if not long:
            for number, source in enumerate(sources, start=first_line):
                self._check_length(len(source), number)
            found = self._translate_sources(sources)
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
        encode = self._tokenizers.source.encode
        split = split_lines(
            lines,
            sources,
            count_tokens=lambda text: len(encode(text)),
            max_tokens=self._max_tokens,
            language=self.config.source_language,
        )
        parts = self._tokenizers.source.encode_batch(
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
        found = split.by_line(self._translate_sources(parts))
        return [
            join_hypotheses(
                of_line,
                segments,
                search=self.config.search,
                target_language=self.config.target_language,
            )
            for of_line, segments in zip(found, split.segments, strict=True)
        ]

    def _translate_sources(
        self, sources: Sequence[Sequence[int]]
    ) -> list[tuple[TranslatedText, ...]]:
        """The translations of token ids, in order; of none, the blank one."""
        found: list[tuple[TranslatedText, ...]] = [_BLANK] * len(sources)
        for batch in self._batches(sources):
            hypotheses = self._search_batch([sources[i] for i in batch])
            for i, of_source in zip(batch, hypotheses, strict=True):
                found[i] = self._to_texts(of_source)
        return found

    def _batches(self, sources: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Places of the lines that are not blank, longest first, in batches."""
        order = sorted((i for i, s in enumerate(sources) if s), key=lambda i: -len(sources[i]))
        start = 0
        while start < len(order):
            longest = len(sources[order[start]]) + 1
            end = start + 1
            # Sources shorter than half the longest would be padding for the most part.
            while (
                end < min(len(order), start + self._batch_size)
                and (end + 1 - start) * longest <= self._batch_tokens
                and 2 * len(sources[order[end]]) >= longest - 1
            ):
                end += 1
            yield order[start:end]
            start = end

    def _search_batch(self, sources: Sequence[Sequence[int]]) -> list[tuple[Hypothesis, ...]]:
        """Search a batch; a sentence whose search was a close call is searched again alone.

        The products of a batch round a little differently with its size. Where so little decides,
        the sentence alone does: thus no company changes a translation.
        """
        results = self._search_together(sources)
        if len(sources) > 1 and self._dtype == torch.float32:
            for i, result in enumerate(results):
                if result.is_close_call:
                    (results[i],) = self._search_together([sources[i]])
        return [result.hypotheses for result in results]

    def _search_together(self, sources: Sequence[Sequence[int]]) -> list[SearchResult]:
        """Search sources as one batch, or in halves what does not fit in the device's memory.

        Raises DeviceMemoryError for one sentence that does not.
        """
        if len(sources) == 1:
            with fitting_in_memory(
                f"the search for a sentence of {len(sources[0])} tokens",
                hint="Take a smaller --beam, split the line, or use --device cpu",
            ):
                return self._search_at_once(sources)
        try:
            return self._search_at_once(sources)
        except torch.OutOfMemoryError:
            pass  # the error holds the tensors of its frames until this block ends
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        longest = max(map(len, sources))
        half = len(sources) * (longest + 1) // 2
        if half < self._batch_tokens:
            self._batch_tokens = half
            text = (
                f"the search for {len(sources)} sentences of up to {longest} tokens does not fit "
                "in the memory of the device: from here on half as many are searched together "
                "(--batch-size and --beam make it smaller)"
            )
            self._listener(Notice(text=text))
        middle = len(sources) // 2
        return [
            *self._search_together(sources[:middle]),
            *self._search_together(sources[middle:]),
        ]

    def _search_at_once(self, sources: Sequence[Sequence[int]]) -> list[SearchResult]:
        device = next(self.model.parameters()).device
        self.model.eval()
        source, mask = pad_with_end(sources)
        with torch.autocast(device.type, dtype=self._dtype, enabled=self._dtype != torch.float32):
            return beam_search(
                self.model,
                source.to(device),
                mask.to(device),
                symbols=_SYMBOLS,
                config=self._search,
            )

    def _to_texts(self, hypotheses: Sequence[Hypothesis]) -> tuple[TranslatedText, ...]:
        """The texts of hypotheses; of those that read alike, the best alone."""
        texts: dict[str, TranslatedText] = {}
        for hypothesis in hypotheses:
            text = self._tokenizers.target.decode(hypothesis.tokens)
            if text not in texts:
                texts[text] = TranslatedText(
                    text=text,
                    score=hypothesis.score,
                    tokens=hypothesis.tokens,
                    hit_limit=hypothesis.hit_limit,
                )
        found = tuple(texts.values())
        if self._utility is None:
            return found
        return self._by_consensus(hypotheses, found, self._utility)

    def _by_consensus(
        self,
        hypotheses: Sequence[Hypothesis],
        found: Sequence[TranslatedText],
        utility: Utility,
    ) -> tuple[TranslatedText, ...]:
        """Order by minimum Bayes risk; texts that read alike have the probability of all."""
        decode = self._tokenizers.target.decode
        weights = probabilities([hypothesis.log_probability for hypothesis in hypotheses])
        of_text: dict[str, float] = {}
        for hypothesis, weight in zip(hypotheses, weights, strict=True):
            text = decode(hypothesis.tokens)
            of_text[text] = of_text.get(text, 0.0) + weight
        candidates = [
            Candidate(text=each.text, score=each.score, weight=of_text[each.text]) for each in found
        ]
        ranked = rank_by_consensus(candidates, utility)
        return tuple(
            dataclasses.replace(found[each.place], expected_utility=each.expected_utility)
            for each in ranked[: self.config.search.n_best]
        )

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
