"""Pairs in, scores out, in order: what a model says of translations that are given to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from mt.config import Config, Precision, SearchConfig
from mt.events import LineTooLong, Listener, Notice, UnknownSymbols, ignore
from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import LoadedModel, read_dev_pairs
from mt.search.penalty import length_penalty
from mt.text.tokenizer import UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.aim import aimed
from mt.translation.alignment import AttentionView, Link, best_view, word_alignment
from mt.translation.bounds import MOST_TOKENS
from mt.translation.ensemble import Members, load_members
from mt.translation.forced import TokenPair, force, force_together

_WINDOW = 16  # batches that are sorted by length together
_EXAMPLES = 300  # validation pairs by which the view of attention is chosen
TextPair = tuple[str, str]
"""A source and a target."""


@dataclass(frozen=True, kw_only=True)
class ScoredTokens:
    """What a model says of a target, token by token."""

    score: float
    """Natural log of the probability of the target and its end, over the length penalty."""
    log_probabilities: tuple[float, ...]
    """(T + 1) natural logs of the probabilities of the tokens, that of the end symbol last."""
    token_links: tuple[int | None, ...] | None
    """(T) the index of the source token that each token is aligned to, or None for none."""
    alignment: tuple[Link, ...] | None
    """Words of the source and of the target that are aligned. None, as above, unless asked for."""


@dataclass(frozen=True, kw_only=True)
class ScoredPair:
    """What a model says of a line of text and its translation.

    A blank source has one translation, the empty text: that has a score of 0, any other -inf, and
    neither has tokens. Nor has a pair that is too long to be computed, whose score is NaN.
    """

    source: str
    target: str
    source_tokens: tuple[int, ...]
    """(S) without end symbol."""
    tokens: tuple[int, ...]
    """(T) without end symbol."""
    scored: ScoredTokens
    recased: str | None = None
    """What was read instead of the source, where that was not written in usual case."""


class Scorer:
    """Scores translations as search would: by the same models, tokens and length penalty."""

    def __init__(
        self,
        model: TranslationModel,
        tokenizers: TokenizerPair,
        config: Config,
        *,
        others: Sequence[LoadedModel] = (),
        examples: Sequence[TextPair] = (),
        batch_size: int = 64,
        dtype: torch.dtype = torch.float32,
        listener: Listener = ignore,
    ) -> None:
        """Use `model` where it is; `batch_size` counts pairs.

        With `others`, of the same tokenizers, it is an ensemble; alignments are those of
        `model`. `examples` are pairs by which the view of attention is chosen that aligns best.

        Raises ValueError for a batch size below 1 and for other tokenizers.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but is {batch_size}")
        self.config = config
        self.model = model
        self.tokenizers = tokenizers
        self.examples = examples
        first = LoadedModel(config=config, tokenizers=tokenizers, model=model)
        self._members = Members(first, others)
        self._batch_size = batch_size
        self._dtype = dtype
        self._listener = listener
        self._view: AttentionView | None = None
        self._num_pairs = 0

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *others: str | Path,
        to: str = "",
        search: SearchConfig | None = None,
        device: str = "auto",
        precision: Precision = "auto",
        batch_size: int = 64,
        keep_case: bool = False,
        listener: Listener = ignore,
    ) -> Scorer:
        """Read a model folder, or several as an ensemble.

        Of a model of several languages `to` is the target. The length penalty is that of `search`,
        or the one stored in the first folder. Sources in capitals or without any are read in usual
        case, unless with `keep_case`. Raises ModelFolderError for a bad folder and for folders that
        differ in tokenizers or languages, ConfigError for a device that is not there and for a
        language that is not known.
        """
        folders = [Path(folder), *map(Path, others)]
        first, *rest = load_members(folders, device=device, search=search, keep_case=keep_case)
        config, tokenizers = aimed(first.config, first.tokenizers, to)
        return cls(
            first.model,
            tokenizers,
            config,
            others=rest,
            examples=read_dev_pairs(Path(folder), target=config.target_language),
            batch_size=batch_size,
            dtype=torch.bfloat16 if precision == "bfloat16" else torch.float32,
            listener=listener,
        )

    def score(
        self, pairs: Iterable[TextPair], *, with_alignment: bool = False
    ) -> Iterator[ScoredPair]:
        """Score pairs one for one, in order, holding a window of them in memory.

        Raises DataError for a side beyond a table of learned positions.
        """
        remaining = iter(pairs)
        while window := list(islice(remaining, self._batch_size * _WINDOW)):
            yield from self._score_window(window, with_alignment=with_alignment)

    def score_tokens(
        self, pairs: Sequence[TokenPair], *, with_alignment: bool = False
    ) -> list[ScoredTokens]:
        """Score targets as they were cut into tokens, those of a search for example.

        Several targets of one source are as many pairs.
        """
        view = self.view if with_alignment else None
        forced = force_together(
            self._members.models,
            pairs,
            batch_size=self._batch_size,
            dtype=self._dtype,
            attention_of=() if view is None else (view.layer,),
        )
        return [
            self._scored(
                pair,
                each.log_probabilities,
                None if view is None else view.links(each.attention[view.layer]),
            )
            for pair, each in zip(pairs, forced, strict=True)
        ]

    def align_tokens(self, pairs: Sequence[TokenPair]) -> list[list[Link]]:
        """Tokens of pairs without a blank side that belong together, source first.

        Each target token has the source token that it is aligned to, if any, and each source token
        one target token at least (`AttentionView.links_both_ways`).
        """
        forced = force(
            self.model,
            pairs,
            batch_size=self._batch_size,
            dtype=self._dtype,
            attention_of=(self.view.layer,),
        )
        return [self.view.links_both_ways(each.attention[self.view.layer]) for each in forced]

    @property
    def view(self) -> AttentionView:
        """The view of attention that aligns best by the examples, chosen when first needed.

        Of an ensemble it is a view of the first model. Without examples it is the last layer as it
        predicts a token, and a Notice says so.
        """
        if self._view is None:
            self._view = self._choose_view()
        return self._view

    def _choose_view(self) -> AttentionView:
        num_layers = len(self.model.decoder)
        pairs = [
            pair
            for pair in self._encode(self.examples[:_EXAMPLES])
            if all(pair) and self._fits(pair) and max(map(len, pair)) <= MOST_TOKENS
        ]
        if not pairs:
            text = (
                "alignments are those of the last layer: no validation pairs tell of a better one"
            )
            self._listener(Notice(text=text, is_warning=True))
            return AttentionView(layer=num_layers - 1, is_fed=False)
        forced = force(
            self.model,
            pairs,
            batch_size=self._batch_size,
            dtype=self._dtype,
            attention_of=range(num_layers),
        )
        return best_view(pairs, forced)

    def _score_window(
        self, window: Sequence[TextPair], *, with_alignment: bool
    ) -> Iterator[ScoredPair]:
        read = [self.tokenizers.in_usual_case(source) for source, _ in window]
        encoded = self._encode([(text, pair[1]) for text, pair in zip(read, window, strict=True)])
        for number, (text, (_, target), pair) in enumerate(
            zip(read, window, encoded, strict=True), start=self._num_pairs + 1
        ):
            self._members.bounds.check_reach(max(map(len, pair)), number)
            if UNKNOWN in pair[0] or UNKNOWN in pair[1]:
                sides = self.tokenizers.source, self.tokenizers.target
                unknown = (*sides[0].unknown(text), *sides[1].unknown(target))
                self._listener(UnknownSymbols(line=number, symbols=unknown))
        self._num_pairs += len(window)
        longest = [max(map(len, pair)) for pair in encoded]
        for number, size in enumerate(longest, start=self._num_pairs + 1 - len(window)):
            if size > MOST_TOKENS:
                self._listener(LineTooLong(line=number, num_tokens=size, max_tokens=MOST_TOKENS))
        too_long = {i for i, size in enumerate(longest) if size > MOST_TOKENS}
        real = [i for i, (source, _) in enumerate(encoded) if source and i not in too_long]
        scored = self.score_tokens([encoded[i] for i in real], with_alignment=with_alignment)
        found = dict(zip(real, scored, strict=True))
        for i, (source, target) in enumerate(window):
            tokens = encoded[i] if i in found else ((), ())
            yield ScoredPair(
                source=source,
                target=target,
                source_tokens=tuple(tokens[0]),
                tokens=tuple(tokens[1]),
                scored=found.get(i)
                or self._of_no_tokens(
                    score=math.nan if i in too_long else self._of_blank_source(target),
                    with_alignment=with_alignment,
                ),
                recased=None if read[i] == source else read[i],
            )

    def encode_sources(self, lines: Sequence[str]) -> list[list[int]]:
        """Tokens of source lines; a blank line, invisible marks included, has none."""
        tokenizer = self.tokenizers.source
        return tokenizer.encode_batch(["" if tokenizer.is_blank(line) else line for line in lines])

    def _encode(self, pairs: Sequence[TextPair]) -> list[TokenPair]:
        sources = self.encode_sources([source for source, _ in pairs])
        targets = self.tokenizers.target.encode_batch([target for _, target in pairs])
        return list(zip(sources, targets, strict=True))

    def _scored(
        self,
        pair: TokenPair,
        log_probabilities: tuple[float, ...],
        links: list[int | None] | None,
    ) -> ScoredTokens:
        search = self.config.search
        divisor = length_penalty(search.length_penalty, search.alpha, len(log_probabilities))
        alignment = None
        if links is not None:
            source_words = self.tokenizers.source.word_of_each(pair[0])
            target_words = self.tokenizers.target.word_of_each(pair[1])
            alignment = tuple(word_alignment(links, source_words, target_words))
        return ScoredTokens(
            score=sum(log_probabilities) / divisor,
            log_probabilities=log_probabilities,
            token_links=None if links is None else tuple(links),
            alignment=alignment,
        )

    def _fits(self, pair: TokenPair) -> bool:
        longest = self._members.bounds.longest
        return longest is None or max(map(len, pair)) + 1 <= longest

    def _of_blank_source(self, target: str) -> float:
        return 0.0 if self.tokenizers.target.is_blank(target) else -math.inf

    def _of_no_tokens(self, *, score: float, with_alignment: bool) -> ScoredTokens:
        return ScoredTokens(
            score=score,
            log_probabilities=(),
            token_links=() if with_alignment else None,
            alignment=() if with_alignment else None,
        )
