"""CTranslate2 as an engine: its search, held to the promises of mt's own.

Its search goes on with the next best candidate where a hypothesis ends, while in mt the slot stays
taken; greedily both are the same. It bounds a batch and not a sentence, ends a hypothesis at the
bound without its end symbol, and forbids a symbol before the softmax, which moves the score. So a
result that went beyond its bound or holds a reserved symbol is searched again with care: bounded by
itself, and priced by force.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from mt.config import ModelConfig, SearchConfig
from mt.errors import DeviceMemoryError
from mt.search.hypothesis import Hypothesis, SearchResult
from mt.search.penalty import length_limit, length_penalty
from mt.text.tokenizer import END
from mt.text.tokenizer_pair import TokenizerPair

NUM_POSITIONS = 2048
"""Positions for which sinusoids are written: CTranslate2's own have another order, so it is given a
table, and refuses a sequence beyond it."""

_Named = Sequence[Sequence[str]]  # sources as the names of their tokens, as CTranslate2 has them
_FEWEST = 8  # sentences that are worth a thread
_BATCH_TOKENS = 64  # padded source tokens for each sentence of a batch


def num_positions(config: ModelConfig) -> int | None:
    """Positions that the conversion of a model has a table for; None where it needs none.

    Learned positions have a table, too, but no sentence beyond it comes this far.
    """
    return NUM_POSITIONS if config.positions == "sinusoidal" else None


@dataclass(kw_only=True)
class Engine:
    """Finds translations of token sequences by CTranslate2."""

    translator: Any
    """Of CTranslate2."""
    tokenizers: TokenizerPair
    config: SearchConfig
    threads: int
    """Batches that are translated at a time."""
    batch_size: int
    longest: int | None
    """Positions that the conversion has a table for; None where it needs none."""
    _pieces: list[str] = field(init=False, repr=False)
    _numbers: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        source, target = self.tokenizers.source, self.tokenizers.target
        self._pieces = source.pieces(range(source.vocab_size))
        names = target.pieces(range(target.vocab_size))
        self._numbers = {piece: number for number, piece in enumerate(names)}
        self._end = names[END]
        self._forbidden = frozenset((*target.reserved, END))
        self._reserved = [[names[number]] for number in target.reserved]

    def has_room(self, source_length: int) -> bool:
        """Whether a source of so many tokens, and its longest hypothesis, have positions."""
        longest = max(source_length, length_limit(self.config, source_length))
        return self.longest is None or longest + 1 <= self.longest

    def search(self, sources: Sequence[Sequence[int]]) -> list[SearchResult]:
        """The results of token ids without end symbols, none empty and all with room, in order."""
        named = [[self._pieces[number] for number in source] for source in sources]
        order = sorted(range(len(named)), key=lambda key: -len(named[key]))
        found: dict[int, SearchResult] = {}
        careful = order
        if not (self.config.min_length_ratio or self.config.no_repeat_ngram):
            careful = self._fast(named, order, found)
        for limits, keys in groupby(careful, lambda key: self._limits(len(named[key]))):
            self._with_care(named, list(keys), limits, found)
        return [found[key] for key in range(len(sources))]

    def _limits(self, source_length: int) -> tuple[int, int]:
        """The fewest and the most tokens of a hypothesis, its end symbol not counted."""
        most = length_limit(self.config, source_length)
        return min(math.floor(self.config.min_length_ratio * source_length), most), most

    def _fast(
        self, sources: _Named, order: Sequence[int], found: dict[int, SearchResult]
    ) -> list[int]:
        """Search batches side by side; gives those sources whose results need care."""
        all_of_beam = self.config.length_penalty != "mean"  # which is CTranslate2's
        num = self.config.beam if all_of_beam else self.config.n_best
        batches = []
        for keys in self._batches(sources, order):
            _, most = self._limits(len(sources[keys[0]]))
            batches.append(self._submitted(sources, keys, num, max_decoding_length=most + 1))
        careful = []
        for keys, results in batches:
            for key, result in zip(keys, _results(results), strict=True):
                _, most = self._limits(len(sources[key]))
                hypotheses = self._read(result, most)
                if hypotheses is None:
                    careful.append(key)
                else:
                    found[key] = self._result(hypotheses)
        return careful

    def _batches(self, sources: _Named, order: Sequence[int]) -> list[list[int]]:
        """Sources of like lengths, longest first, with enough batches for all threads."""
        size = min(self.batch_size, max(-(-len(order) // self.threads), _FEWEST))
        batches: list[list[int]] = []
        for key in order:
            longest = len(sources[batches[-1][0]]) + 1 if batches else 0
            if (
                not batches
                or len(batches[-1]) == size
                or (len(batches[-1]) + 1) * longest > size * _BATCH_TOKENS
            ):
                batches.append([])
            batches[-1].append(key)
        return batches

    def _submitted(
        self,
        sources: _Named,
        keys: list[int],
        num: int,
        **settings: object,
    ) -> tuple[list[int], list[Any]]:
        """Hand a batch to CTranslate2, whose threads find `num` hypotheses for each."""
        results = self.translator.translate_batch(
            [sources[key] for key in keys],
            asynchronous=True,
            beam_size=self.config.beam,
            num_hypotheses=num,
            # One hypothesis more before it stops: as good as mt's own search (docs/engine.md).
            patience=(self.config.beam + 1) / self.config.beam,
            max_input_length=0,
            return_scores=True,
            return_end_token=True,
            **{"min_decoding_length": 0, **settings},
        )
        return keys, results

    def _read(self, result: Any, most: int) -> list[Hypothesis] | None:
        """The hypotheses of a result; None where one is beyond its bound, or has what none may."""
        hypotheses = []
        for pieces, mean in zip(result.hypotheses, result.scores, strict=True):
            tokens = tuple([self._numbers[piece] for piece in pieces])
            if (
                not tokens
                or tokens[-1] != END
                or len(tokens) > most + 1
                or not self._forbidden.isdisjoint(tokens[:-1])
            ):
                return None
            hypotheses.append(self._hypothesis(tokens[:-1], mean * len(tokens), most))
        return hypotheses

    def _hypothesis(self, tokens: tuple[int, ...], log_probability: float, most: int) -> Hypothesis:
        config = self.config
        divisor = length_penalty(config.length_penalty, config.alpha, len(tokens) + 1)
        return Hypothesis(
            tokens=tokens,
            log_probability=log_probability,
            score=log_probability / divisor,
            hit_limit=len(tokens) >= most,
        )

    def _result(self, hypotheses: list[Hypothesis]) -> SearchResult:
        ranked = sorted(hypotheses, key=lambda each: -each.score)[: self.config.n_best]
        return SearchResult(hypotheses=tuple(ranked), is_close_call=False)

    def _with_care(
        self,
        sources: _Named,
        keys: list[int],
        limits: tuple[int, int],
        found: dict[int, SearchResult],
    ) -> None:
        """Search sources that have the same bounds, without reserved symbols, and price by force.

        What was cut at the bound gets the end symbol there, as in mt.
        """
        fewest, most = limits
        size = self.batch_size
        for batch in (keys[i : i + size] for i in range(0, len(keys), size)):
            _, results = self._submitted(
                sources,
                batch,
                self.config.beam,
                max_decoding_length=most + 1,
                min_decoding_length=fewest,
                suppress_sequences=self._reserved,
                no_repeat_ngram_size=self.config.no_repeat_ngram,
            )
            hypotheses = [
                list(dict.fromkeys(tuple(self._ended(each, most)) for each in result.hypotheses))
                for result in _results(results)
            ]
            priced = iter(self._prices(sources, batch, hypotheses))
            for key, of_key in zip(batch, hypotheses, strict=True):
                found[key] = self._result(
                    [self._hypothesis(tokens, next(priced), most) for tokens in of_key]
                )

    def _ended(self, pieces: Sequence[str], most: int) -> list[int]:
        """The tokens of a hypothesis, its end symbol not counted, `most` of them."""
        tokens = [self._numbers[piece] for piece in pieces]
        return (tokens[:-1] if tokens and tokens[-1] == END else tokens)[:most]

    def _prices(
        self,
        sources: _Named,
        keys: Sequence[int],
        hypotheses: Sequence[Sequence[Sequence[int]]],
    ) -> list[float]:
        """The log-probability of each hypothesis with its end symbol, by force."""
        names = list(self._numbers)
        pairs = [
            (sources[key], [names[number] for number in tokens])
            for key, of_key in zip(keys, hypotheses, strict=True)
            for tokens in of_key
        ]
        scored = self.translator.score_batch(
            [source for source, _ in pairs],
            [target for _, target in pairs],
            max_batch_size=self.batch_size,
            max_input_length=0,
        )
        return [sum(each.log_probs) for each in scored]


def _results(pending: Iterable[Any]) -> list[Any]:
    """Wait for results; raises DeviceMemoryError where they do not fit in memory."""
    try:
        return [each.result() for each in pending]
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "alloc" in str(error):
            raise DeviceMemoryError(
                f"the search does not fit in the memory of the machine ({error})",
                hint="Take a smaller --batch-size or --beam, or split the line",
            ) from error
        raise
