"""Lines in, translations out, in order: the one decoding path of training, commands and API."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from mt.config import Config, SearchConfig, SearchPrecision
from mt.errors import DataError
from mt.events import Listener, Notice, ignore
from mt.model.device import choose_device, choose_search_precision
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.narrow import narrowed
from mt.search.hypothesis import Hypothesis
from mt.text.normalise import is_blank
from mt.text.tokenizer_pair import TokenizerPair
from mt.translate.model_folder import load_model
from mt.translate.searching import Searcher

_WINDOW = 32  # batches that are sorted by length together


@dataclass(frozen=True, kw_only=True)
class TranslatedText:
    """One candidate translation."""

    text: str
    score: float
    """Natural-log probability over the length penalty; larger is better."""
    tokens: tuple[int, ...]
    hit_limit: bool
    """It was ended at the length bound."""


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
    """Translates lines by a model; each line is one segment.

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
        refill: bool = True,
        listener: Listener = ignore,
    ) -> None:
        """Use `model` where it is; `batch_size` counts sentences, for each of the `workers`.

        In bfloat16 and int8 on a CPU a copy of the weights is made now, in float32 they are those
        that the model holds when it translates. Without `workers` there are as many as torch has
        threads. With `refill`, waiting sentences take the rows of those that are done.

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
        device = next(model.parameters()).device
        chosen = choose_search_precision(precision, device)
        is_on_gpu = device.type != "cpu" and chosen == "bfloat16"
        searched = model
        if device.type == "cpu" and (chosen == "bfloat16" or chosen == "int8"):
            searched = narrowed(model, chosen)
        self._searcher = Searcher(
            model=searched,
            config=_within_table(config.search, model.longest),
            capacity=batch_size,
            autocast=torch.bfloat16 if is_on_gpu else None,
            is_exact=chosen == "float32",
            workers=workers,
            refill=refill,
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
            precision=precision,
            workers=workers,
            listener=listener,
        )

    @property
    def window(self) -> int:
        """Lines that are worth giving at once."""
        return self._batch_size * _WINDOW

    def translate(self, lines: Iterable[str]) -> Iterator[Translation]:
        """Translate lines one for one, in order, holding a window of them in memory."""
        stream = iter(lines)
        first_line = 1
        while window := list(islice(stream, self.window)):
            yield from self.translate_window(window, first_line=first_line)
            first_line += len(window)

    def translate_window(self, lines: Sequence[str], *, first_line: int = 1) -> list[Translation]:
        """Translate some lines together; warnings count them from `first_line`.

        Raises DataError for a line beyond a table of learned positions.
        """
        # A blank line, invisible marks included, stays blank and never reaches the model.
        sources = self.tokenizers.source.encode_batch(
            ["" if is_blank(line) else line for line in lines]
        )
        for number, source in enumerate(sources, start=first_line):
            self._check_length(len(source), number)
        places = [i for i, source in enumerate(sources) if source]
        self.model.eval()
        results = self._searcher.search([sources[i] for i in places])
        found: list[tuple[TranslatedText, ...]] = [_BLANK] * len(lines)
        for i, result in zip(places, results, strict=True):
            found[i] = self._to_texts(result.hypotheses)
        return [
            Translation(source=line, hypotheses=of_line)
            for line, of_line in zip(lines, found, strict=True)
        ]

    def _to_texts(self, hypotheses: Sequence[Hypothesis]) -> tuple[TranslatedText, ...]:
        """The texts of hypotheses; of those that read alike, the best alone."""
        texts: dict[str, TranslatedText] = {}
        for hypothesis in hypotheses:
            text = self.tokenizers.target.decode(hypothesis.tokens)
            if text not in texts:
                texts[text] = TranslatedText(
                    text=text,
                    score=hypothesis.score,
                    tokens=hypothesis.tokens,
                    hit_limit=hypothesis.hit_limit,
                )
        return tuple(texts.values())

    def _check_length(self, num_tokens: int, line: int) -> None:
        longest = self.model.longest
        if longest is not None and num_tokens + 1 > longest:
            raise DataError(
                f"line {line}: {num_tokens} tokens are more than the {longest - 1} that this "
                "model's learned positions reach",
                hint="Split the line into sentences",
            )
        trained = self.config.corpus.max_length
        if num_tokens > trained:
            text = (
                f"line {line}: {num_tokens} tokens, longer than any pair in training ({trained}); "
                "it is translated whole, but perhaps badly"
            )
            self._listener(Notice(text=text, is_warning=True))


def _within_table(search: SearchConfig, longest: int | None) -> SearchConfig:
    """Bound hypotheses by a table of learned positions, which must hold the start symbol too."""
    if longest is None:
        return search
    bound = longest - 1 if search.max_length is None else min(search.max_length, longest - 1)
    return dataclasses.replace(search, max_length=max(bound, 1))
